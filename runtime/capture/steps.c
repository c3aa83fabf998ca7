/* Exchanges of ranks and sums of matrices as calls with kernels of their own, so that a replay needs nothing but calls. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "capture/taking.h"

static struct capture_arg arg_of(const struct taking *t, long long data, op_access access) {
  return (struct capture_arg){.form = DESC_DAT,
                              .access = access,
                              .present = 1,
                              .data = data,
                              .map = -1,
                              .idx = -1,
                              .dim = t->all.data[data].dim,
                              .ref = -1,
                              .type = t->all.data[data].type};
}

/* Over all of `set`; NULL: no memory. `text` is taken. */
static struct capture_call *add_step(struct taking *t, const char *name, struct text *text, long long set,
                                     const struct capture_arg args[2], struct error *err) {
  struct capture_call *made = taking_call(t, err);
  if (made) {
    *made = (struct capture_call){.name = strdup(name),
                                  .text = text_take(text),
                                  .file = strdup(""),
                                  .variant = strdup(""),
                                  .set = set,
                                  .count = t->all.sets[set].size,
                                  .nargs = 2,
                                  .args = {args[0], args[1]}};
    if (!made->name || !made->text || !made->file || !made->variant) {
      error_memory(err, "a capture", 0);
      made = NULL;
    }
  }
  text_free(text);
  return made;
}

int taking_receive(struct taking *t, const struct loop *loop, long long number, struct error *err) {
  struct taken_data *taken = &t->data[number];
  const struct capture_data to = t->all.data[number];
  const size_t row = capture_row(&to), owned = (size_t)t->all.sets[to.set].owned;
  if (taken->known[0] == taken->dat->version && taken->known[1] == taken->dat->copies)
    return OP_OK;
  taken->known[0] = taken->dat->version;
  taken->known[1] = taken->dat->copies;
  if (owned == capture_rows(&t->all, &to))
    return OP_OK;
  const long long map = taking_others(t, to.set, err), set = map < 0 ? -1 : t->all.maps[map].from;
  const long long from = map < 0 ? -1 : taking_zeros(t, set, (int)to.dim, to.type, to.name, err);
  if (from < 0)
    return err->code;
  unsigned char *rows = taking_rows(t, number, t->data[number].dat);
  if (!rows)
    return error_memory(err, "a capture", 0);
  memcpy(t->all.data[from].before, rows + owned * row, capture_bytes(&t->all, &t->all.data[from]));
  free(rows);
  struct text text = {0};
  const char *type = type_info(to.type)->name;
  text_addf(
      &text,
      "%s\nvoid receive_copies(const %s *from, %s *to) {\n  for (int i = 0; i < %lld; i++)\n    to[i] = "
      "from[i];\n}\n",
      type_is_struct(to.type) ? loop->desc.text : "", type, type, to.dim);
  struct capture_arg args[] = {arg_of(t, from, OP_READ), arg_of(t, number, OP_WRITE)};
  args[1].map = map;
  args[1].idx = 0;
  return add_step(t, "receive_copies", &text, set, args, err) ? OP_OK : err->code;
}

int taking_give(struct taking *t, int call, long long from, long long to, int access, struct error *err) {
  struct text text = {0};
  text_addf(
      &text,
      "void give_to_matrix(double *from, double *to) {\n  for (int i = 0; i < %lld; i++) {\n    to[i] %s "
      "from[i];\n    from[i] = 0;\n  }\n}\n",
      t->all.data[from].dim, access == OP_INC ? "+=" : "=");
  const struct capture_arg args[] = {arg_of(t, from, OP_RW), arg_of(t, to, (op_access)access)};
  struct capture_call *made = add_step(t, "give_to_matrix", &text, t->all.calls[call].set, args, err);
  const struct capture_call *like = &t->all.calls[call];
  if (!made || !like->elements)
    return made ? OP_OK : err->code;
  made->count = like->count;
  made->elements = array_new((size_t)like->count, sizeof *made->elements);
  if (!made->elements)
    return error_memory(err, "a capture", (size_t)like->count * sizeof *made->elements);
  memcpy(made->elements, like->elements, (size_t)like->count * sizeof *made->elements);
  return OP_OK;
}
