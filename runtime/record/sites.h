/* The account of a loop at the end of a program. Records come and go with temporaries, maps and sets; calls of one
 * kernel with arguments of the same kind, on sets and through maps of the same names, are one row of a report all the
 * same. */
#ifndef OP2JIT_SITES_H
#define OP2JIT_SITES_H

#include "base/log.h"
#include "record/record.h"

struct loop_site {
  char *name, *text, *variant;
  char *mesh;    /* the names of set and maps */
  char *no_text; /* as loop->no_source, of the last record that is gone */
  const struct op2jit_compiled *compiled;
  int nargs;
  op_arg *keys;
  struct loop *record;     /* that has the statistics; NULL: it is gone */
  struct loop_stats stats; /* of records that are gone */
};

/* The site of a call whose record is to be made: one that has none, or a new one, in ctx->sites. OP_ERR_MEMORY. */
struct loop_site *site_get(struct op_context *ctx, const struct loop_call *call, struct error *err);
/* The weight of a warning about the loop: a warning once for each call in the program's sources, information when it
 * comes again, from other dats or a new record. `what` tells kinds of warnings apart. */
enum log_level site_weight(const struct op_context *ctx, const struct loop *loop, const char *what);
/* The record goes on with the site's statistics; it is about to go, and leaves them. */
void site_enter(struct loop_site *site, struct loop *record);
void site_leave(struct loop_site *site);
static inline const struct loop_stats *site_stats(const struct loop_site *site) {
  return site->record ? &site->record->stats : &site->stats;
}
/* Why it runs by the program's own function; NULL: it runs by a text. */
static inline const char *site_no_text(const struct loop_site *site) {
  return site->record ? site->record->no_source : site->no_text;
}
/* True if both are of loops over subsets of one name, which are one row. site_add: what the row says then, `more` added. */
bool sites_are_one(const struct loop_site *a, const struct loop_site *b);
void site_add(struct loop_stats *to, const struct loop_stats *more);
/* A check of that call failed: a warning says how to keep it (OP2_CAPTURE), from the call on that came `before` calls of its
 * loop ago, and so many calls. Once for each loop. */
void site_tell_capture(const struct op_context *ctx, const struct loop *loop, long long before, int many);
void sites_free(struct op_context *ctx);

#endif
