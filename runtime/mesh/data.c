#include "mesh/data.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/text.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "context/trace.h"
#include "exec/team.h"
#include "mesh/guest.h"
#include "mesh/halo.h"
#include "mesh/handles.h"
#include "mesh/mesh.h"
#include "mesh/view.h"
#include "op2/op2jit_visible.h"
#include "op2jit.h"

enum { LINE = 64, SLACK = 256, PAGE = 4096, LARGE = 4 * PAGE };
#define HUGE_PAGE ((size_t)2 << 20)

/* Arrays that begin at one line of their pages compete for the few lines that a cache keeps of each number: a loop
 * over ten of them ran at a third of its speed. And a CPU takes a load from some lines behind a store of other
 * pages for one of what was stored, and waits. So large ones begin at different lines, neighbours by number far
 * apart; all lines are used before one comes again. */
static size_t first_line(size_t bytes, unsigned number, const void *base) {
  enum { lines = PAGE / LINE, apart = 23, used = 61 };
  if (bytes < LARGE)
    return LINE;
  const size_t line = (size_t)number % used * apart % used, next = (uintptr_t)base / LINE + 1;
  return LINE * (1 + (line + lines - next % lines) % lines);
}

/* Get memory whose beginning, as malloc gave it, stands in front of the first line that is used. *room: how much there is. */
static void *memory_new(size_t bytes, unsigned number, bool huge, size_t *room) {
  size_t total;
  if (!size_add(bytes, (bytes < LARGE ? LINE : PAGE) + SLACK, &total))
    return NULL;
  const size_t rest =
      (HUGE_PAGE - total % HUGE_PAGE) % HUGE_PAGE; /* of the last huge page, behind the data */
  const bool filled = total >= 2 * HUGE_PAGE || rest <= total / 4;
  const size_t alignment = huge && (filled || total >= HUGE_PAGE) ? HUGE_PAGE : LINE;
  /* Where the rest would be nearly as much as the data again, the end of the data gets small pages. */
  if (alignment == HUGE_PAGE && filled && !size_add(total, rest, &total))
    return NULL;
  void *base = NULL;
  if (posix_memalign(&base, alignment, total) != 0)
    return NULL;
  /* Gathers over a large mesh miss the TLB all the time with 4 KB pages. Memory that was used before has such pages and keeps them,
   * so they are given back first: nothing of it is read before it is written. Whole huge pages only: where pages are larger than
   * PAGE, the last one may be others' too. Advice only: a refusal costs nothing. */
  if (alignment == HUGE_PAGE) {
    madvise(base, total - total % HUGE_PAGE, MADV_DONTNEED);
    madvise(base, total, MADV_HUGEPAGE);
  }
  const size_t lead = first_line(bytes, number, base);
  void **memory = (void **)((unsigned char *)base + lead);
  memory[-1] = base;
  *room = total - lead;
  return memory;
}

static void *memory_in_parts(struct team *team, size_t bytes, size_t part, unsigned number) {
  size_t room;
  void *memory = memory_new(bytes, number, true, &room);
  if (memory)
    team_clear(team, memory, room, part);
  return memory;
}

void *data_memory_untouched(size_t bytes, unsigned number) {
  size_t room;
  return memory_new(bytes, number, false, &room);
}

void *data_memory(struct team *team, size_t bytes, unsigned number) {
  return memory_in_parts(team, bytes, 0, number);
}

void *data_rows_memory(struct team *team, const struct dat *dat, size_t bytes) {
  return memory_in_parts(team, bytes, dat->soa ? (size_t)dat->stride * dat->value_size : 0,
                         (unsigned)dat->id);
}

void data_memory_free(void *memory) {
  if (memory)
    free(((void **)memory)[-1]);
}

/* Room for data_stride of each component. */
static bool bytes_of_rows(long rows, size_t row_bytes, size_t *bytes) {
  return size_mul((size_t)rows + 2 * MAP_SLACK, row_bytes, bytes);
}

bool data_bytes(const struct dat *dat, long rows, size_t *bytes) {
  return bytes_of_rows(rows, dat->row_bytes, bytes);
}

/* Odd multiples: components that lie apart begin at different lines of their pages, as arrays do. */
long data_stride(long rows) {
  return ((rows + MAP_SLACK - 1) / MAP_SLACK | 1) * MAP_SLACK;
}

static long number_of(const struct set *set, long user) {
  return set->from_user ? set->from_user[user] : user;
}

static bool converts(const struct dat *dat) {
  return dat->soa || dat->set->from_user;
}

void data_put_rows(struct op_context *ctx, struct dat *dat, const void *in) {
  const size_t rows = (size_t)dat->set->size;
  if (!converts(dat)) {
    if (rows) /* a program may pass the array of the view itself */
      memmove(dat->replicas[SPACE_HOST].memory, in, rows * dat->row_bytes);
    return;
  }
  const unsigned char *row = in;
  for (size_t e = 0; e < rows; e++)
    for (int c = 0; c < dat->dim; c++, row += dat->value_size)
      memcpy(dat_value(dat, number_of(dat->set, (long)e), c), row, dat->value_size);
  ctx->counters->bytes_converted += (long long)(rows * dat->row_bytes);
}

void data_fetch_rows(struct op_context *ctx, const struct dat *dat, void *out, long low, long high) {
  const size_t rows = (size_t)(high - low + 1);
  if (!converts(dat)) {
    memmove(out, dat_value(dat, low, 0), rows * dat->row_bytes);
    return;
  }
  unsigned char *row = out;
  for (long e = low; e <= high; e++)
    for (int c = 0; c < dat->dim; c++, row += dat->value_size)
      memcpy(row, dat_value(dat, number_of(dat->set, e), c), dat->value_size);
  ctx->counters->bytes_converted += (long long)(rows * dat->row_bytes);
}

double *dat_numbers(const struct dat *dat) {
  const long rows = dat->set->extents[EXTENT_OWNED];
  double *out = array_new((size_t)rows * (size_t)dat->dim, sizeof *out);
  for (long e = 0; out && e < rows; e++)
    for (int c = 0; c < dat->dim; c++)
      out[e * dat->dim + c] = type_number(dat->type, dat_value(dat, e, c));
  return out;
}

static int check_new(const struct set *set, int dim, enum type_code code, const char *type, const char *name,
                     size_t *bytes, struct error *err) {
  if (dim < 1)
    return error_set(err, OP_ERR_DIM, "dat \"%s\": the dim is %d; expected 1 or more components", name, dim);
  if (code == TYPE_NONE) {
    struct text wrong = {0};
    type_tell_unknown(type, &wrong);
    error_set(err, OP_ERR_TYPE, "dat \"%s\": %s, optionally followed by :soa", name, text_str(&wrong));
    text_free(&wrong);
    return OP_ERR_TYPE;
  }
  size_t row, values;
  if (!size_mul((size_t)dim, type_info(code)->size, &row) || !bytes_of_rows(set_rows(set), row, bytes) ||
      !size_mul((size_t)set->size, (size_t)dim, &values))
    return error_set(err, OP_ERR_SIZE,
                     "dat \"%s\": %ld elements of dim %d and type %s are more than can be addressed; declare "
                     "fewer of them",
                     name, set->size, dim, type_info(code)->name);
  return OP_OK;
}

/* The arguments for a new dat. */
struct wish {
  struct set *set;
  int dim;
  const char *type;
  const void *data; /* NULL: zeros, or the array's */
  void *array;      /* of a view */
  const char *name;
  bool view, temporary;
};

/* NULL would mean zeros elsewhere, and nothing to see them in here. */
static int check_array(const struct op_context *ctx, const struct wish *wish, enum type_code code,
                       const char *name, struct error *err) {
  if (!wish->array && wish->set->size)
    return error_set(err, OP_ERR_ARGUMENT,
                     "dat \"%s\": the array is NULL; expected %ld x %d values of type %s, which stay the "
                     "program's; for data of the library's own use op_decl_dat",
                     name, wish->set->size, wish->dim, type_info(code)->name);
  return view_check_overlap(ctx->mesh, name, wish->array,
                            (size_t)wish->set->size * (size_t)wish->dim * type_info(code)->size, err);
}

/* The array of a view that works in place, else memory of its own. */
static bool make_room(struct op_context *ctx, struct dat *dat, const struct wish *wish, size_t bytes) {
  struct replica *host = &dat->replicas[SPACE_HOST];
  if (wish->view && !view_make(ctx, dat, wish->array))
    return false;
  const bool in_place = dat->view && dat->view->in_place;
  host->memory = in_place ? wish->array : data_rows_memory(ctx->team, dat, bytes);
  host->bytes = in_place ? (size_t)dat->set->size * dat->row_bytes : bytes;
  return host->memory;
}

static struct dat *new_dat(struct op_context *ctx, const struct wish *wish, struct error *err) {
  bool asked_soa = false, apart;
  struct set *set = wish->set;
  enum type_code code = type_parse(wish->type, &asked_soa);
  size_t bytes = 0;
  const char *name = wish->name ? wish->name : "unnamed";
  if (check_new(set, wish->dim, code, wish->type, name, &bytes, err) ||
      (wish->view && check_array(ctx, wish, code, name, err)))
    return NULL;
  if (!forced_layout(env_value(ctx->env, ENV_VARIANT), name, &apart))
    apart = asked_soa;
  apart &= wish->dim > 1 && !ctx->compiled && !type_is_struct(code); /* a struct is one value */
  struct dat *dat = calloc(1, sizeof *dat);
  if (!dat || !(dat->name = name_copy(wish->name)) ||
      !(dat->handle = handle_new(ctx->handles, HANDLE_DAT, dat)))
    goto no_memory;
  *dat = (struct dat){.name = dat->name,
                      .handle = dat->handle,
                      .id = ctx->mesh->next_dat,
                      .set = set,
                      .dim = wish->dim,
                      .type = code,
                      .soa = apart && (asked_soa || !ctx->mover), /* the host's alone as declared */
                      .apart = apart,
                      .asked_soa = asked_soa,
                      .temporary = wish->temporary,
                      .value_size = type_info(code)->size,
                      .row_bytes = type_info(code)->size * (size_t)wish->dim,
                      .stride = data_stride(set_rows(set)),
                      .version = 1};
  if (!make_room(ctx, dat, wish, bytes) || !list_add(&ctx->mesh->dats, dat))
    goto no_memory;
  dat->replicas[SPACE_HOST].version[REGION_OWNED] = 1;
  ctx->mesh->next_dat++;
  if (*env_value(ctx->env, ENV_VARIANT))
    names_note(ctx->dat_names, dat->name);
  if (wish->data && !set->spread)
    data_put_rows(ctx, dat, wish->data);
  return dat;

no_memory:
  data_free(ctx, dat);
  error_memory_of(err, "dat", wish->name, bytes);
  return NULL;
}

struct dat *data_new(struct op_context *ctx, struct set *set, int dim, const char *type, const void *data,
                     const char *name, bool temporary, struct error *err) {
  return new_dat(
      ctx,
      &(struct wish){
          .set = set, .dim = dim, .type = type, .data = data, .name = name, .temporary = temporary},
      err);
}

struct dat *data_new_view(struct op_context *ctx, struct set *set, int dim, const char *type, void *array,
                          const char *name, struct error *err) {
  return new_dat(
      ctx,
      &(struct wish){
          .set = set, .dim = dim, .type = type, .data = array, .array = array, .name = name, .view = true},
      err);
}

void dat_leave_devices(struct op_context *ctx, struct dat *dat) {
  for (int d = 0; d < DEVICES_MOST; d++)
    if (dat->replicas[space_of_device(d)].bytes)
      ctx->mover->release(ctx, space_of_device(d), dat);
}

void dat_leave_rows(struct dat *dat) {
  if (!dat->borrowed)
    data_memory_free(dat->replicas[SPACE_HOST].memory);
  dat->borrowed = false;
}

void data_free(struct op_context *ctx, struct dat *dat) {
  if (!dat)
    return;
  dat_leave_devices(ctx, dat);
  if (!dat->view || !dat->view->in_place)
    dat_leave_rows(dat);
  guest_free(dat);
  free(dat->view);
  free(dat->halo.parts);
  if (dat->handle)
    handle_release(ctx->handles, dat->handle, dat->name);
  free(dat->name);
  free(dat);
}

void data_undo(struct op_context *ctx, struct dat *dat) {
  list_remove(&ctx->mesh->dats, dat);
  ctx->mesh->next_dat--;
  data_free(ctx, dat);
}

/* The whole replica is moved. */
static void moved(struct dat *dat, enum space from, enum space to) {
  memcpy(dat->replicas[to].version, dat->replicas[from].version, sizeof dat->replicas[to].version);
}

/* The device that has the newest of the region. */
static enum space newest_device(const struct dat *dat, enum region region) {
  int device = DEVICES_MOST - 1;
  while (device > 0 && !dat_is_current(dat, space_of_device(device), region))
    device--;
  return space_of_device(device);
}

void dat_overwrite(struct dat *dat) {
  dat->blank = false;
}

/* Clear what a temporary held that was freed and came again. */
static void clear(struct op_context *ctx, struct dat *dat) {
  struct replica *host = &dat->replicas[SPACE_HOST];
  team_clear(ctx->team, host->memory, host->bytes, dat->soa ? (size_t)dat->stride * dat->value_size : 0);
  dat_wrote(dat, SPACE_HOST);
}

int dat_need(struct op_context *ctx, struct dat *dat, enum space space, enum region region,
             struct error *err) {
  if (dat->blank)
    clear(ctx, dat);
  struct replica *replica = &dat->replicas[space];
  if (dat_is_current(dat, space, region))
    return OP_OK;
  const bool back = space == SPACE_HOST;
  const enum space from = back ? newest_device(dat, region) : SPACE_HOST;
  int code = back || replica->bytes ? OP_OK : ctx->mover->make(ctx, space, dat, err);
  if (!code && !back)
    code = dat_need(ctx, dat, SPACE_HOST, region, err);
  const double start = clock_seconds();
  if (!code)
    code = back ? ctx->mover->to_host(ctx, from, dat, err) : ctx->mover->to_device(ctx, space, dat, err);
  if (code)
    return code;
  const long long bytes = (long long)((size_t)dat->set->size * dat->row_bytes);
  trace_until_now(ctx->trace, TRACE_COPY, dat->name, back ? "to host" : "to device", start, (double)bytes);
  *(back ? &ctx->counters->bytes_from_device : &ctx->counters->bytes_to_device) += bytes;
  moved(dat, from, space);
  return OP_OK;
}

int dat_lay_on_devices(struct op_context *ctx, struct dat *dat, bool apart, struct error *err) {
  const bool has_memory = dat_has_memory(dat);
  if (dat->apart == apart)
    return OP_OK;
  const int code = has_memory ? dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err) : OP_OK;
  if (code)
    return code;
  dat_leave_devices(ctx, dat);
  if (has_memory)
    dat_wrote(dat, SPACE_HOST); /* the newest copies of others' elements may have been on a device */
  dat->apart = apart;
  ctx->mesh->epoch++;
  return OP_OK;
}

int dat_lay_in_rows(struct op_context *ctx, struct dat *dat, struct error *err) {
  struct replica *host = &dat->replicas[SPACE_HOST];
  struct row_store fresh = {.value_bytes = dat->value_size, .values = dat->dim};
  const bool moves = dat->soa && dat_has_memory(dat);
  int code = moves ? dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err) : OP_OK;
  if (!code && moves && !(fresh.memory = data_memory(ctx->team, host->bytes, (unsigned)dat->id)))
    code = error_memory_of(err, "dat", dat->name, host->bytes);
  if (!code)
    code = dat_lay_on_devices(ctx, dat, false, err);
  if (code || !dat->soa) {
    data_memory_free(fresh.memory);
    return code;
  }
  const struct row_store old = dat_rows(dat);
  dat->soa = false;
  ctx->mesh->epoch++;
  if (!moves)
    return OP_OK;
  for (long e = 0; e < dat->set->extents[EXTENT_OWNED]; e++)
    row_copy(&old, e, &fresh, e);
  dat_leave_devices(ctx, dat);
  view_leave(dat, "");
  dat_leave_rows(dat);
  host->memory = fresh.memory;
  dat_wrote(dat, SPACE_HOST);
  return OP_OK;
}

static void show_set(const struct set *set) {
  const long *end = set->extents;
  *set->handle = (struct op2jit_set){.index = set->id,
                                     .size = (int)end[EXTENT_OWNED],
                                     .name = set->name,
                                     .core_size = (int)end[EXTENT_CORE],
                                     .exec_size = (int)(end[EXTENT_EXEC] - end[EXTENT_OWNED]),
                                     .nonexec_size = (int)(end[EXTENT_NONEXEC] - end[EXTENT_EXEC])};
}

static void show_map(const struct map *map) {
  *map->handle = (struct op2jit_map){.index = map->id,
                                     .from = map->from->handle,
                                     .to = map->to->handle,
                                     .dim = map->arity,
                                     .map = map->table,
                                     .name = map->name};
}

static void show_dat(const struct dat *dat) {
  *dat->handle = (struct op2jit_dat){.index = dat->id,
                                     .set = dat->set->handle,
                                     .dim = dat->dim,
                                     .size = (int)dat->row_bytes,
                                     .data = dat->replicas[SPACE_HOST].memory,
                                     .type = type_info(dat->type)->name,
                                     .name = dat->name};
}

void visible_update(struct op_context *ctx) {
  const struct mesh *mesh = ctx->mesh;
  for (int i = 0; i < mesh->sets.count; i++)
    show_set(mesh->sets.items[i]);
  for (int i = 0; i < mesh->maps.count; i++)
    show_map(mesh->maps.items[i]);
  for (int i = 0; i < mesh->dats.count; i++)
    show_dat(mesh->dats.items[i]);
  ctx->visible_epoch = mesh->epoch;
}
