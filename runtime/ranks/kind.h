/* Ranks that can run the same code: one kind of processor, library and compiler. One of each kind leads: it opens
 * the database and the compiler, and the others get their code from it. */
#ifndef OP2JIT_RUNTIME_KIND_H
#define OP2JIT_RUNTIME_KIND_H

#include "jit/plugin.h"
#include "ranks/comm.h"

struct kind {
  struct comm *comm; /* the ranks of this kind */
  int leader;        /* among them */
  struct text compiler;
  bool leads_all;   /* of the leaders the lowest rank: what is remembered is read by this one */
  int first_leader; /* which rank that is */
  int vector_bytes; /* of processors: the narrowest one's, since all ranks choose among the same variants */
  struct jit_share jit;
};

/* The same where to have a compiler means to open it: the ranks of a kind are asked in turn, until one has opened
 * its own and appended its identity. The others are never asked. */
typedef bool kind_asked(void *self, struct text *compiler);
int kind_open_asking(struct kind **out, struct comm *all, const char *kind, kind_asked *asked, void *self,
                     struct error *err);
/* NULL is allowed. */
void kind_close(struct kind *s);

/* The kind of this rank's processor, and its compiler. */
int kind_open_host(struct kind **out, struct comm *all, const char *plugins, struct error *err);

#endif
