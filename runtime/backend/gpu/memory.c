/* Memory of the device: dats by version, copies of arrays, results. */
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "gpu.h"
#include "include/op2jit.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "mesh/mesh.h"
#include "op2jit.h"

struct gpu *gpu_of(const struct op_context *ctx, enum space space) {
  return (struct gpu *)ctx->backend_state + device_of(space);
}

static int no_room(struct gpu *c, size_t bytes, struct error *err, const char *what, va_list args) {
  struct text words = {0};
  size_t left = 0, total = 0;
  text_vaddf(&words, what, args);
  if (c->driver->memory_info(c->self, &left, &total))
    left = total = 0;
  error_set(err, OP_ERR_MEMORY,
            "%s needs %zu bytes on %s (%s), which has %zu bytes free of %zu; op2jit holds %zu of them "
            "already. Use a smaller mesh, more GPUs, or OP2_BACKEND=openmp",
            text_str(&words), bytes, c->device.label, c->device.name, left, total, c->used);
  text_free(&words);
  return OP_ERR_MEMORY;
}

int gpu_allocate(struct gpu *c, gpu_address *out, size_t bytes, struct error *err, const char *what, ...) {
  int code = c->driver->memory_alloc(c->self, out, bytes ? bytes : 1);
  if (code == c->driver->out_of_memory) {
    va_list args;
    va_start(args, what);
    no_room(c, bytes, err, what, args);
    va_end(args);
    return err->code;
  }
  if (code)
    return gpu_failed(c, code, err, "allocating %zu bytes on %s", bytes, c->device.label);
  c->used += bytes;
  return OP_OK;
}

void gpu_release(struct gpu *c, gpu_address at, size_t bytes) {
  if (!at)
    return;
  c->driver->memory_free(c->self, at);
  c->used -= bytes;
}

int gpu_wait(struct gpu *c, struct error *err, const char *doing, ...) {
  int code = c->driver->wait(c->self);
  if (!code) {
    gpu_waited(c);
    return OP_OK;
  }
  struct text words = {0};
  va_list args;
  va_start(args, doing);
  text_vaddf(&words, doing, args);
  va_end(args);
  c->failed = true;
  code = gpu_failed(c, code, err, "%s", text_str(&words));
  text_free(&words);
  return code;
}

/* ---- arrays ---- */
int gpu_array_get(struct gpu *c, const void *host, size_t bytes, unsigned epoch, struct gpu_array **out,
                  struct error *err) {
  for (struct gpu_array *a = c->arrays; a; a = a->next)
    if (a->host == host && a->bytes == bytes && a->epoch == epoch) {
      a->uses++;
      *out = a;
      return OP_OK;
    }
  struct gpu_array *a = calloc(1, sizeof *a);
  if (!a)
    return error_memory(err, "an array on the GPU", sizeof *a);
  *a = (struct gpu_array){.host = host, .bytes = bytes, .epoch = epoch, .uses = 1};
  int code = gpu_allocate(c, &a->at, bytes, err, "a map or plan");
  if (!code && bytes)
    code = gpu_failed(c, c->driver->copy_in(c->self, a->at, host, bytes), err,
                      "copying a map or plan of %zu bytes to %s", bytes, c->device.label);
  if (code) {
    gpu_release(c, a->at, bytes);
    free(a);
    return code;
  }
  a->next = c->arrays;
  c->arrays = a;
  *out = a;
  return OP_OK;
}

void gpu_array_put(struct gpu *c, struct gpu_array *array) {
  if (!array || --array->uses > 0)
    return;
  for (struct gpu_array **at = &c->arrays; *at; at = &(*at)->next)
    if (*at == array) {
      *at = array->next;
      break;
    }
  gpu_release(c, array->at, array->bytes);
  free(array);
}

int gpu_landing(struct gpu *c, size_t bytes, struct error *err) {
  if (bytes <= c->landing_bytes)
    return OP_OK;
  void *memory = NULL;
  int code = gpu_failed(c, c->driver->host_alloc(c->self, &memory, bytes), err,
                        "allocating %zu bytes of pinned memory", bytes);
  if (code)
    return code;
  if (c->landing)
    c->driver->host_free(c->self, c->landing);
  c->landing = memory;
  c->landing_bytes = bytes;
  return OP_OK;
}

/* ---- dats ---- */
gpu_address gpu_dat_address(const struct gpu *c, const struct dat *dat) {
  return (gpu_address)(uintptr_t)dat->replicas[c->space].memory;
}

/* Without the slack behind the host's rows, which is for vector code of CPUs. Small values are added to by the
 * word around them (op2_add_small): the last word is whole. */
static size_t used_bytes(const struct dat *dat) {
  size_t rows = (size_t)dat->set->extents[EXTENT_NONEXEC], bytes = rows * dat->row_bytes;
  if (dat->apart && rows)
    bytes = ((size_t)dat->stride * ((size_t)dat->dim - 1) + rows) * dat->value_size;
  return (bytes + 3) / 4 * 4;
}

/* Bytes that are copied: the array of a view has no slack. */
static size_t copied_bytes(const struct dat *dat) {
  const size_t host = dat->replicas[SPACE_HOST].bytes, device = used_bytes(dat);
  return host < device ? host : device;
}

int gpu_dat_make(struct op_context *ctx, enum space space, struct dat *dat, struct error *err) {
  const size_t used = used_bytes(dat), bytes = used ? used : 1; /* 0 says that there is none */
  gpu_address at = 0;
  const int code = gpu_allocate(gpu_of(ctx, space), &at, bytes, err, "dat \"%s\"", dat->name);
  if (code)
    return code;
  dat->replicas[space].memory = (void *)(uintptr_t)at; // NOLINT
  dat->replicas[space].bytes = bytes;
  return OP_OK;
}

static int lost(const struct gpu *c, const struct dat *dat, struct error *err) {
  return error_set(err, OP_ERR_DEVICE,
                   "dat \"%s\": its newest values are on %s (%s), which takes no more work since a kernel "
                   "failed; call op_exit and start the program again",
                   dat->name, c->device.label, c->device.name);
}

/* ---- where the host's rows lie otherwise than the device's: what is copied is an image of the device's memory ---- */
static bool converts(const struct dat *dat) {
  return dat->apart != dat->soa;
}

static int image_new(const struct dat *dat, struct row_store *out, struct error *err) {
  const size_t bytes = used_bytes(dat);
  *out = (struct row_store){calloc(bytes + 1, 1), dat->value_size, dat->dim, dat->apart ? dat->stride : 0};
  return out->memory ? OP_OK : error_memory_of(err, "copying dat", dat->name, bytes);
}

/* All rows that both have: the array of a view has no others' elements. */
static void convert(struct op_context *ctx, const struct dat *dat, const struct row_store *from,
                    const struct row_store *to) {
  const bool in_place = dat->view && dat->view->in_place;
  const long rows = in_place ? (long)dat->set->size : dat->set->extents[EXTENT_NONEXEC];
  for (long e = 0; e < rows; e++)
    row_copy(from, e, to, e);
  ctx->counters->bytes_converted += (long long)((size_t)rows * dat->row_bytes);
}

/* `image` stays empty where rows lie alike. */
static int begin_copy(const struct gpu *c, const struct dat *dat, struct row_store *image,
                      struct error *err) {
  if (c->failed)
    return lost(c, dat, err);
  return converts(dat) ? image_new(dat, image, err) : OP_OK;
}

static int copying_failed(struct gpu *c, const struct dat *dat, int result, const char *way,
                          struct error *err) {
  return gpu_failed(c, result, err, "copying dat \"%s\" of %zu bytes %s %s", dat->name, used_bytes(dat), way,
                    c->device.label);
}

int gpu_dat_to_device(struct op_context *ctx, enum space space, struct dat *dat, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  const gpu_address at = gpu_dat_address(c, dat);
  const struct row_store host = dat_rows(dat);
  struct row_store image = {0};
  if (begin_copy(c, dat, &image, err))
    return err->code;
  if (image.memory)
    convert(ctx, dat, &host, &image);
  /* The driver has taken pageable memory's bytes when the call returns. A program's array may be pinned. */
  int result = image.memory ? c->driver->copy_in(c->self, at, image.memory, used_bytes(dat))
                            : c->driver->copy_in(c->self, at, host.memory, copied_bytes(dat));
  if (!result && !image.memory && dat->view && dat->view->in_place)
    result = c->driver->wait(c->self);
  free(image.memory);
  return copying_failed(c, dat, result, "to", err);
}

/* Copies and waits; the driver's code. A failure is remembered. The copy makes the host wait, and only `wait` hears of other ranks. */
static int gpu_copy_out(struct gpu *c, void *to, gpu_address from, size_t bytes) {
  int result = c->shares ? c->driver->wait(c->self) : 0;
  if (!result)
    result = c->driver->copy_out(c->self, to, from, bytes);
  if (!result)
    result = c->driver->wait(c->self);
  c->failed |= result != 0;
  return result;
}

int gpu_dat_to_host(struct op_context *ctx, enum space space, struct dat *dat, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  const gpu_address at = gpu_dat_address(c, dat);
  const struct row_store host = dat_rows(dat);
  struct row_store image = {0};
  if (begin_copy(c, dat, &image, err))
    return err->code;
  const int result = image.memory ? gpu_copy_out(c, image.memory, at, used_bytes(dat))
                                  : gpu_copy_out(c, host.memory, at, copied_bytes(dat));
  if (!result && image.memory)
    convert(ctx, dat, &image, &host);
  free(image.memory);
  const int code = copying_failed(c, dat, result, "from", err);
  if (!code)
    gpu_waited(c);
  return code;
}

int gpu_dat_lend(struct op_context *ctx, enum space space, struct dat *dat, void **memory,
                 struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  if (c->failed)
    return lost(c, dat, err);
  *memory = (void *)(uintptr_t)gpu_dat_address(c, dat);
  return gpu_wait(c, err, "lending dat \"%s\"", dat->name);
}

int gpu_where(const struct op_context *ctx) {
  return gpu_of(ctx, space_of_device(0))->driver->where;
}

void gpu_dat_release(struct op_context *ctx, enum space space, struct dat *dat) {
  struct gpu *c = gpu_of(ctx, space);
  gpu_release(c, gpu_dat_address(c, dat), dat->replicas[space].bytes); /* its rows may be others by now */
  dat->replicas[space] = (struct replica){0};                          /* which has no version */
}

/* Globals with a handle in the device's memory: loops hand values to later loops, and the host does not wait. */

struct gpu_value {
  const struct gbl *gbl;
  gpu_address at;
  size_t bytes;
  struct gpu_value *next;
};

gpu_address gpu_value_address(const struct gpu *c, const struct gbl *gbl) {
  for (const struct gpu_value *v = c->values; v; v = v->next)
    if (v->gbl == gbl)
      return v->at;
  return 0;
}

static int make(struct gpu *c, const struct gbl *gbl, struct error *err) {
  struct gpu_value *v = calloc(1, sizeof *v);
  if (!v)
    return error_memory_of(err, "global", gbl->name, sizeof *v);
  *v = (struct gpu_value){.gbl = gbl, .bytes = gbl->bytes};
  const int code = gpu_allocate(c, &v->at, v->bytes, err, "global \"%s\"", gbl->name);
  if (code) {
    free(v);
    return code;
  }
  v->next = c->values;
  c->values = v;
  return OP_OK;
}

static int value_lost(const struct gpu *c, const struct gbl *gbl, struct error *err) {
  return error_set(err, OP_ERR_DEVICE,
                   "global \"%s\": %s (%s) takes no more work since a kernel failed; call op_exit and start "
                   "the program again",
                   gbl->name, c->device.label, c->device.name);
}

int gpu_value_to_device(struct op_context *ctx, enum space space, const struct gbl *gbl, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  if (c->failed)
    return value_lost(c, gbl, err);
  if (!gpu_value_address(c, gbl) && make(c, gbl, err))
    return err->code;
  ctx->counters->bytes_to_device += (long long)gbl->bytes;
  return gpu_failed(c, c->driver->copy_in(c->self, gpu_value_address(c, gbl), gbl->value, gbl->bytes), err,
                    "copying global \"%s\" to %s", gbl->name, c->device.label);
}

int gpu_value_to_host(struct op_context *ctx, enum space space, struct gbl *gbl, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  if (c->failed)
    return value_lost(c, gbl, err);
  const int result = gpu_copy_out(c, gbl->value, gpu_value_address(c, gbl), gbl->bytes);
  const int code = gpu_failed(c, result, err, "copying global \"%s\" from %s", gbl->name, c->device.label);
  if (!code) {
    gpu_waited(c);
    ctx->counters->bytes_from_device += (long long)gbl->bytes;
  }
  return code;
}

void gpu_values_free(struct gpu *c) {
  while (c->values) {
    struct gpu_value *next = c->values->next;
    gpu_release(c, c->values->at, c->values->bytes);
    free(c->values);
    c->values = next;
  }
}
