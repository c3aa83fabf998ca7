#include "ranks/kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "jit/key/elf_note.h"
#include "jit/plugin.h"
#include "jit/target.h"

enum { HASH_BYTES = 32 };

static int broadcast(void *ranks, void *data, size_t bytes, struct error *err) {
  const struct kind *s = ranks;
  s->comm->where = "the code of a loop";
  return s->comm->table->broadcast(s->comm, data, bytes, s->leader, err);
}

static int all_say_so(void *ranks, bool *yes, struct error *err) {
  const struct kind *s = ranks;
  long long least = *yes;
  s->comm->where = "the code of a loop";
  const int code = s->comm->table->reduce_all(s->comm, &least, 1, COMM_LLONG, COMM_MIN, err);
  *yes = least != 0;
  return code;
}

/* The lowest rank of this kind is the kind's number. */
static int find_kind(struct comm *all, const char *kind, int *number, struct error *err) {
  struct sha256 sum;
  unsigned char mine[HASH_BYTES];
  sha256_begin(&sum);
  sha256_add(&sum, kind, strlen(kind));
  sha256_end(&sum, mine);
  *number = all->size;
  for (;;) {
    /* The lowest rank whose kind has no number yet says what it is. */
    long long first = *number < all->size ? all->size : all->rank;
    unsigned char its[HASH_BYTES];
    int code = all->table->reduce_all(all, &first, 1, COMM_LLONG, COMM_MIN, err);
    if (code || first == all->size)
      return code;
    memcpy(its, mine, sizeof its);
    code = all->table->broadcast(all, its, sizeof its, (int)first, err);
    if (code)
      return code;
    if (*number == all->size && memcmp(its, mine, sizeof mine) == 0)
      *number = (int)first;
  }
}

/* The first that can compile leads, and its compiler's identity goes to all; `first` behind the last rank: none can. */
static int lead(struct kind *s, long long first, const char *compiler, struct error *err) {
  const long long nobody = s->comm->size;
  s->leader = first < nobody ? (int)first : 0;
  s->jit = (struct jit_share){
      .ranks = s, .leads = s->comm->rank == s->leader, .broadcast = broadcast, .all = all_say_so};
  if (s->jit.leads && compiler)
    text_add(&s->compiler, compiler);
  struct jit_outcome words = {.messages = s->compiler};
  int code = jit_share_outcome(&s->jit, &words, OP_OK, err);
  s->compiler = words.messages;
  text_free(&words.binary);
  if (!code && !text_ok(&s->compiler))
    code = error_memory(err, "the compiler's identity", s->compiler.length);
  s->jit.compiler = first < nobody ? text_str(&s->compiler) : NULL;
  return code;
}

/* The question that finds the leader of a kind. */
struct question {
  const char *compiler; /* its identity, known already; NULL: it has none, or is asked */
  kind_asked *asked;    /* or NULL */
  void *self;
};

static int find_leader(struct kind *s, const struct question *q, struct error *err) {
  struct comm *c = s->comm;
  long long first = q->compiler ? c->rank : c->size;
  struct text identity = {0};
  int code = OP_OK;
  if (!q->asked)
    code = c->table->reduce_all(c, &first, 1, COMM_LLONG, COMM_MIN, err);
  for (int r = 0; !code && q->asked && r < first; r++) {
    unsigned char able = c->rank == r && q->asked(q->self, &identity);
    code = c->table->broadcast(c, &able, sizeof able, r, err);
    if (able)
      first = r;
  }
  if (!code)
    code = lead(s, first, q->asked ? text_str(&identity) : q->compiler, err);
  text_free(&identity);
  return code;
}

/* Among the leaders of all kinds. */
static int find_first(struct kind *s, struct comm *all, struct error *err) {
  long long first = s->jit.leads ? all->rank : all->size;
  int code = all->table->reduce_all(all, &first, 1, COMM_LLONG, COMM_MIN, err);
  s->first_leader = (int)first;
  s->leads_all = first == all->rank;
  return code;
}

/* Collective over `all`. Ranks of one `kind` share; the lowest one that has a compiler leads, else the lowest. */
static int open_kind(struct kind **out, struct comm *all, const char *kind, const struct question *q,
                     struct error *err) {
  int number = 0;
  struct kind *s = calloc(1, sizeof *s);
  int code = s ? OP_OK : error_memory(err, "what ranks share", sizeof *s);
  if (!code)
    code = find_kind(all, kind, &number, err);
  if (!code)
    code = all->table->split(all, number, &s->comm, err);
  if (!code)
    code = find_leader(s, q, err);
  if (!code)
    code = find_first(s, all, err);
  if (code) {
    kind_close(s);
    s = NULL;
  }
  *out = s;
  return code;
}

int kind_open_asking(struct kind **out, struct comm *all, const char *kind, kind_asked *asked, void *self,
                     struct error *err) {
  return open_kind(out, all, kind, &(struct question){.asked = asked, .self = self}, err);
}

void kind_close(struct kind *s) {
  if (!s)
    return;
  comm_close(s->comm);
  text_free(&s->compiler);
  free(s);
}

static int find_narrowest(struct kind *s, struct comm *all, const char *features, struct error *err) {
  long long bytes = target_vector_bytes(features);
  int code = all->table->reduce_all(all, &bytes, 1, COMM_LLONG, COMM_MIN, err);
  s->vector_bytes = (int)bytes;
  return code;
}

int kind_open_host(struct kind **out, struct comm *all, const char *plugins, struct error *err) {
  struct text kind = {0}, features = {0};
  struct plugin plugin = {0};
  struct error none = {0};
  target_host(&kind, &features);
  text_addf(&kind, "\n%s\n", text_str(&features));
  target_mathematics(&kind);
  text_add_char(&kind, '\n');
  library_identity(&kind);
  const bool able = plugin_find(&plugin, plugins, &none) == OP_OK;
  const struct question q = {.compiler = able ? text_str(&plugin.identity) : NULL};
  int code = open_kind(out, all, text_str(&kind), &q, err);
  if (!code && (code = find_narrowest(*out, all, text_str(&features), err))) {
    kind_close(*out);
    *out = NULL;
  }
  plugin_free(&plugin);
  text_free(&kind);
  text_free(&features);
  error_free(&none);
  return code;
}
