/* Rows of a dat between the device and the messages of ranks: gathered and scattered there, so that only they travel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/size.h"
#include "context.h"

/* A value is moved as a word of its size; `row` and `step` are the distances of elements and of components. Bytes of the word,
 * its type; once to the message and once back. */
static const char parameters[] = "const int *elements, int count, int dim, long long row, long long step";
static const char each[] =
    "for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (long long)count * dim;\n"
    "       i += (long long)gridDim.x * blockDim.x)\n    ";
static const struct {
  int bytes;
  const char *type;
} words[] = {{1, "unsigned char"}, {2, "unsigned short"}, {4, "unsigned int"}, {8, "unsigned long long"}};

static void write_source(struct text *out) {
  for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
    text_addf(out, "extern \"C\" __global__ void op2_pack%d(const %s *dat, %s *rows, %s) {\n  %s",
              words[w].bytes, words[w].type, words[w].type, parameters, each);
    text_add(out, "rows[i] = dat[elements[i / dim] * row + i % dim * step];\n}\n");
    text_addf(out, "extern \"C\" __global__ void op2_unpack%d(%s *dat, const %s *rows, %s) {\n  %s",
              words[w].bytes, words[w].type, words[w].type, parameters, each);
    text_add(out, "dat[elements[i / dim] * row + i % dim * step] = rows[i];\n}\n");
  }
}

enum { THREADS = 128, MOST_BLOCKS = 1024 };

/* The module of all of them, and what it works on. */
struct cuda_rows {
  cuda_module module;
  cuda_address buffer;
  size_t bytes;
  struct cuda_array **lists; /* of elements, as long as the epoch lasts */
  int nlists;
  unsigned epoch;
};

static void put_lists(struct cuda *c) {
  struct cuda_rows *r = c->rows;
  for (int i = 0; i < r->nlists; i++)
    cuda_array_put(c, r->lists[i]);
  free(r->lists);
  r->lists = NULL;
  r->nlists = 0;
}

void cuda_rows_free(struct cuda *c) {
  if (!c->rows)
    return;
  put_lists(c);
  cuda_release(c, c->rows->buffer, c->rows->bytes);
  if (c->rows->module && !c->failed)
    c->driver.module_unload(c->rows->module);
  free(c->rows);
  c->rows = NULL;
}

static int compile(struct cuda *c, cuda_module *out, struct error *err) {
  struct text source = {0};
  write_source(&source);
  if (!text_ok(&source))
    return error_memory(err, "the kernels that pack messages", source.length);
  const struct compile_file file = {"op2_rows.cu", text_str(&source), source.length};
  const struct compile_request request = {.files = &file, .nfiles = 1, .cpu = c->arch, .fp = "contract"};
  struct compile_result result = {0};
  nvrtc_compile(c->nvrtc, &request, NULL, 0, &result);
  int code = result.status
                 ? error_set(err, OP_ERR_INTERNAL, "the kernels that pack messages do not compile: %s",
                             result.nmessages ? result.messages[0].text : "no reason is given")
                 : cuda_check(&c->driver, c->driver.module_load(out, result.binary, 0, NULL, NULL), err,
                              "loading the kernels that pack messages on GPU %d", c->device.ordinal);
  nvrtc_release(&result);
  text_free(&source);
  return code;
}

static int prepare(struct op_context *ctx, struct cuda *c, size_t bytes, struct error *err) {
  int code = OP_OK;
  if (!c->rows) {
    struct cuda_rows *r = calloc(1, sizeof *r);
    if (!r)
      return error_memory(err, "the exchange on the GPU", sizeof *r);
    r->epoch = ctx->mesh.epoch;
    c->rows = r;
    code = compile(c, &r->module, err);
    if (code)
      cuda_rows_free(c);
  }
  if (!code && c->rows->epoch != ctx->mesh.epoch) {
    put_lists(c);
    c->rows->epoch = ctx->mesh.epoch;
  }
  if (code || bytes <= c->rows->bytes)
    return code;
  cuda_release(c, c->rows->buffer, c->rows->bytes);
  c->rows->buffer = 0;
  c->rows->bytes = 0;
  code = cuda_allocate(c, &c->rows->buffer, bytes, err, "the messages of a halo exchange");
  c->rows->bytes = code ? 0 : bytes;
  return code;
}

static int list_on_device(struct op_context *ctx, struct cuda *c, const int *elements, long count,
                          struct cuda_array **out, struct error *err) {
  struct cuda_rows *r = c->rows;
  const size_t bytes = (size_t)count * sizeof *elements;
  for (int i = 0; i < r->nlists; i++)
    if (r->lists[i]->host == elements && r->lists[i]->bytes == bytes) {
      *out = r->lists[i];
      return OP_OK;
    }
  struct cuda_array **lists = array_resize(r->lists, (size_t)r->nlists + 1, sizeof *lists);
  if (!lists)
    return error_memory(err, "the exchange on the GPU", ((size_t)r->nlists + 1) * sizeof *lists);
  r->lists = lists;
  int code = cuda_array_get(c, elements, bytes, ctx->mesh.epoch, out, err);
  if (!code)
    lists[r->nlists++] = *out;
  return code;
}

static int launch(struct op_context *ctx, struct dat *dat, const char *kernel, const int *elements,
                  long count, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  struct cuda_array *list = NULL;
  cuda_function function;
  char name[32];
  snprintf(name, sizeof name, "%s%zu", kernel, dat->value_size);
  int code = list_on_device(ctx, c, elements, count, &list, err);
  if (!code)
    code = cuda_check(&c->driver, c->driver.module_function(&function, c->rows->module, name), err,
                      "finding %s", name);
  if (code)
    return code;
  const bool soa = cuda_dat_is_soa(c, dat);
  cuda_address at = cuda_dat_address(dat);
  int n = (int)count, dim = dat->dim;
  long long row = soa ? 1 : dat->dim, step = soa ? dat->stride : 1;
  void *values[] = {&at, &c->rows->buffer, &list->at, &n, &dim, &row, &step};
  const long blocks = (count * dim + THREADS - 1) / THREADS;
  const int result = c->driver.launch(function, (unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 1, 1,
                                      THREADS, 1, 1, 0, c->stream, values, NULL);
  c->failed |= result != 0;
  return cuda_check(&c->driver, result, err, "dat \"%s\": launching %s on GPU %d", dat->name, name,
                    c->device.ordinal);
}

int cuda_pack_rows(struct op_context *ctx, struct dat *dat, const int *elements, long count, void *to,
                   struct error *err) {
  struct cuda *c = cuda_of(ctx);
  const size_t bytes = (size_t)count * dat->row_bytes;
  int code = prepare(ctx, c, bytes, err);
  if (!code)
    code = launch(ctx, dat, "op2_pack", elements, count, err);
  if (!code)
    code = cuda_check(&c->driver, c->driver.copy_out(to, c->rows->buffer, bytes, c->stream), err,
                      "dat \"%s\": copying a message of %zu bytes from GPU %d", dat->name, bytes,
                      c->device.ordinal);
  if (!code)
    code = cuda_wait(c, err, "packing a message");
  ctx->counters.bytes_from_device += (long long)bytes;
  return code;
}

int cuda_unpack_rows(struct op_context *ctx, struct dat *dat, const int *elements, long count,
                     const void *from, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  const size_t bytes = (size_t)count * dat->row_bytes;
  int code = prepare(ctx, c, bytes, err);
  if (!code)
    code = cuda_check(&c->driver, c->driver.copy_in(c->rows->buffer, from, bytes, c->stream), err,
                      "dat \"%s\": copying a message of %zu bytes to GPU %d", dat->name, bytes,
                      c->device.ordinal);
  if (!code)
    code = launch(ctx, dat, "op2_unpack", elements, count, err);
  /* The buffer is used again by the next message, in the order of the stream. */
  ctx->counters.bytes_to_device += (long long)bytes;
  return code;
}
