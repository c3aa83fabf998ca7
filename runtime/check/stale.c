#include "check/stale.h"

#include "check/rows.h"
#include "check/watch/watch_say.h"

static bool is_looked_at(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->present && arg->dat->set->spread && type_info(arg->type)->is_float &&
         access_reads(arg->access);
}

/* No computation gives a NaN of ones only. */
static bool is_spoilt(const struct loop_arg *arg, long target) {
  for (int c = 0; c < arg->dim; c++) {
    const unsigned char *value = dat_value(arg->dat, target, c);
    for (size_t b = 0; b < arg->dat->value_size; b++)
      if (value[b] != 0xff)
        return false;
  }
  return true;
}

static int find_stale(const struct loop *loop, int i, struct notes *notes) {
  const struct loop_arg *arg = &loop->args[i];
  const long owned = arg->dat->set->extents[EXTENT_OWNED], end = loop_end(loop);
  for (long e = arg->map ? 0 : owned; e < end; e++)
    for (long place = arg_begin(arg, e); place < arg_end(arg, e); place++) {
      const long target = arg_target(arg, place);
      if (target < owned || !is_spoilt(arg, target))
        continue;
      return watch_violation(
          loop, RULE_STALE, i, e, notes,
          "it reads element %ld of set \"%s\", which another rank owns, and whose copy here was "
          "not brought up to date; this is a mistake of the library, please report it",
          set_said(arg->dat->set, target), arg->dat->set->name);
    }
  return OP_OK;
}

int stale_find(const struct loop *loop, struct error *err) {
  struct notes first = {.err = err};
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++)
    if (is_looked_at(&loop->args[i]))
      code = find_stale(loop, i, &first);
  return code;
}
