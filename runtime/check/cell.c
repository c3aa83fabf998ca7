#include "check/cell.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "context.h"
#include "jit/jit.h"

/* The element of the small mesh is number 1: an index of -1 stays inside the table. Guards are at least so wide. */
enum { HERE = 1, GUARD_BYTES = 64 };
static const unsigned char patterns[CELL_GUARDS] = {0x05, 0x0A};

static bool is_vector(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->map && arg->idx < 0;
}

/* To generated code every argument is something of one element that is read and written in place: a global, or, for a
 * vector, a dat behind a map of its own. A vector that is read stays one: C tells `const T **` from `T **`. */
static int describe(struct cell *cell, const struct desc *from, struct error *err) {
  struct desc *d = &cell->desc;
  int code = desc_copy(d, from, err);
  if (code)
    return code;
  d->nmaps = d->ndats = 0;
  d->nsets = 1;
  memset(d->renumbered, 0, sizeof d->renumbered);
  for (int i = 0; i < d->nargs; i++) {
    struct desc_arg *a = &d->args[i];
    const bool vector = is_vector(&cell->loop->args[i]);
    *a = (struct desc_arg){.form = vector ? DESC_DAT : DESC_GBL,
                           .type = a->type,
                           .dim = a->dim,
                           .access = vector && a->access == OP_READ ? OP_READ : OP_RW,
                           .map = -1,
                           .idx = -1,
                           .dat = -1,
                           .ref = -1,
                           .info = -1,
                           .present = a->present};
    if (!vector)
      continue;
    a->map = d->nmaps;
    a->dat = d->ndats;
    a->idx = -cell->loop->args[i].map->arity;
    d->maps[d->nmaps++] = (struct desc_map){.arity = -a->idx, .to = d->nsets};
    d->dats[d->ndats++] = (struct desc_dat){.type = a->type, .dim = a->dim, .set = d->nsets++};
  }
  return OP_OK;
}

static int open_code(struct op_context *ctx, struct cell *cell, struct error *err) {
  const struct loop *loop = cell->loop;
  if (loop->native) {
    cell->call = native_call_of(loop->nargs);
    return OP_OK;
  }
  struct jit *jit = NULL;
  struct jit_code code = {0};
  const struct shape scalar = {0};
  int status = describe(cell, &loop->desc, err);
  if (!status)
    status = context_jit(ctx, &jit, err);
  if (!status)
    status = jit_code(jit, &cell->desc, &scalar, &code, err);
  if (status)
    error_prefix(err, "loop %s: ", loop->name);
  cell->function = code.run;
  if (!status && !(cell->frame = array_new((size_t)desc_slots(&cell->desc), sizeof *cell->frame)))
    status = error_memory(err, "the checking form", 0);
  return status;
}

static unsigned char *guard(const struct cell_arg *a, int g) {
  return a->memory + (size_t)g * (a->guard_rows + 1) * a->row_bytes;
}

static void set_guards(struct cell *cell, int kind) {
  for (int i = 0; i < cell->loop->nargs; i++)
    for (int g = 0; g <= cell->args[i].rows; g++)
      memcpy(guard(&cell->args[i], g), cell->args[i].guards[kind],
             cell->args[i].guard_rows * cell->args[i].row_bytes);
}

static bool make_guards(struct cell_arg *own) {
  const size_t bytes = own->guard_rows * own->row_bytes;
  for (int kind = 0; kind < CELL_GUARDS; kind++) {
    own->guards[kind] = array_new(bytes, 1);
    if (!own->guards[kind])
      return false;
    memset(own->guards[kind], patterns[kind], bytes);
  }
  return true;
}

static int open_arg(struct cell *cell, int i, struct error *err) {
  const struct loop_arg *arg = &cell->loop->args[i];
  struct cell_arg *own = &cell->args[i];
  own->rows = !arg->present ? 0 : is_vector(arg) ? arg->map->arity : 1;
  own->row_bytes = arg->bytes;
  own->guard_rows = GUARD_BYTES / own->row_bytes + 1;
  size_t bytes;
  if (!size_mul(own->row_bytes, ((size_t)own->rows + 1) * (own->guard_rows + 1), &bytes))
    return error_set(err, OP_ERR_SIZE, "loop %s, argument %d: too large for the checking form",
                     cell->loop->name, i + 1);
  own->memory = array_new(bytes, 1);
  own->vector = array_new((size_t)own->rows, sizeof(void *));
  own->table = array_new((size_t)(HERE + 1) * (size_t)(own->rows ? own->rows : 1), sizeof(int));
  if (!own->memory || !own->vector || !own->table || !make_guards(own))
    return error_memory(err, "the checking form", bytes);
  for (int r = 0; r < own->rows; r++) {
    own->vector[r] = cell_row(cell, i, r);
    own->table[HERE * own->rows + r] = (int)((size_t)r * (own->guard_rows + 1) + own->guard_rows);
  }
  return OP_OK;
}

static void fill_frame(struct cell *cell) {
  const struct desc *d = &cell->desc;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->dat >= 0) {
      cell->frame[desc_slot_dat(d, a->dat)] = cell->args[i].memory;
      cell->frame[desc_slot_map(d, a->map)] = cell->args[i].table;
    } else if (a->present)
      cell->frame[desc_slot_arg(d, i)] = cell_row(cell, i, 0);
  }
  for (int i = 0; i < d->nconsts; i++)
    cell->frame[desc_slot_const(d, i)] = d->consts[i].folded ? NULL : d->consts[i].value;
}

int cell_open(struct cell **out, struct op_context *ctx, const struct loop *loop, struct error *err) {
  struct cell *cell = calloc(1, sizeof *cell);
  if (!cell)
    return error_memory(err, "the checking form", sizeof *cell);
  cell->loop = loop;
  int code = open_code(ctx, cell, err);
  for (int i = 0; !code && i < loop->nargs; i++)
    code = open_arg(cell, i, err);
  if (code) {
    cell_free(cell);
    return code;
  }
  if (cell->frame)
    fill_frame(cell);
  *out = cell;
  return OP_OK;
}

void cell_free(struct cell *cell) {
  if (!cell)
    return;
  for (int i = 0; i < OP_MAX_ARGS; i++) {
    free(cell->args[i].memory);
    for (int kind = 0; kind < CELL_GUARDS; kind++)
      free(cell->args[i].guards[kind]);
    free(cell->args[i].vector);
    free(cell->args[i].table);
  }
  desc_free(&cell->desc);
  free(cell->frame);
  free(cell);
}

static int broken_guard(const struct cell *cell, int kind) {
  for (int i = 0; i < cell->loop->nargs; i++) {
    const struct cell_arg *a = &cell->args[i];
    for (int g = 0; g <= a->rows; g++)
      if (memcmp(guard(a, g), a->guards[kind], a->guard_rows * a->row_bytes) != 0)
        return i;
  }
  return -1;
}

int cell_run(struct cell *cell, int kind) {
  set_guards(cell, kind);
  if (cell->function)
    cell->function(cell->frame, NULL, HERE, HERE + 1);
  else {
    void *pointers[OP_MAX_ARGS];
    for (int i = 0; i < cell->loop->nargs; i++) {
      const struct cell_arg *a = &cell->args[i];
      pointers[i] = a->rows == 0                      ? NULL
                    : is_vector(&cell->loop->args[i]) ? (void *)a->vector
                                                      : cell_row(cell, i, 0);
    }
    cell->call(cell->loop->native, pointers);
  }
  return broken_guard(cell, kind);
}
