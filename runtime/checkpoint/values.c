/* Values that leave the library, for a run that comes this way again. */
#include <string.h>

#include "base/size.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/together.h"

/* `bytes` of all ranks. */
static int count(struct checkpoint *k, const char *what, size_t bytes, struct error *err) {
  if (bytes > k->most || k->bytes > k->most - bytes)
    return error_set(
        err, OP_ERR_SIZE,
        "%s: with it %zu bytes of values have left the library, and checkpoints hold at most %zu of them; "
        "give more by OP2_CHECKPOINT=FILE,values=SIZE, or fetch less",
        what, k->bytes + bytes, k->most);
  k->bytes += bytes;
  return OP_OK;
}

int values_add(struct checkpoint *k, struct text *to, const char *what, const void *bytes, size_t length,
               struct error *err) {
  const int code = count(k, what, length, err);
  if (!code)
    text_add_bytes(to, bytes, length);
  return code || text_ok(to) ? code : error_memory(err, "values that left", to->length + length);
}

int values_take(const struct checkpoint *k, const struct text *from, size_t *at, const char *what, void *out,
                size_t length, struct error *err) {
  if (length > from->length - *at)
    return error_set(err, OP_ERR_FILE,
                     "%s: the checkpoint %s does not hold what came of it; remove the file to begin anew",
                     what, k->path);
  memcpy(out, text_str(from) + *at, length);
  *at += length;
  return OP_OK;
}

int values_add_rows(struct checkpoint *k, const char *what, const struct dat *dat, const void *rows,
                    struct error *err) {
  const struct set *set = dat->set;
  const long long width = (long long)dat->row_bytes;
  const int code = count(k, what, (size_t)(set->global_size * width), err);
  if (code)
    return code;
  struct piece *pieces = array_more(k->pieces, k->npieces, sizeof *pieces);
  if (pieces) {
    k->pieces = pieces;
    pieces[k->npieces++] = (struct piece){k->left_bytes + set->global_first * width, set->size * width};
    k->left_bytes += set->global_size * width;
  }
  if (set->size)
    text_add_bytes(&k->left, rows, (size_t)(set->size * width));
  return pieces && text_ok(&k->left)
             ? OP_OK
             : error_memory_of(err, "values that left of dat", dat->name, k->left.length);
}

int values_take_rows(struct op_context *ctx, struct checkpoint *k, const char *what, const struct dat *dat,
                     void *rows, struct error *err) {
  const struct past *past = k->past;
  const long long width = (long long)dat->row_bytes;
  if (dat->set->global_size * width > past->facts[FACT_LEFT] - k->left_bytes)
    return error_set(
        err, OP_ERR_FILE,
        "%s of dat \"%s\": the checkpoint %s does not hold what came of it; remove the file to begin anew",
        what, dat->name, k->path);
  const int code =
      past_left(ctx, past, k->left_bytes + dat->set->global_first * width, dat->set->size * width, rows, err);
  return code ? code : values_add_rows(k, what, dat, rows, err);
}
