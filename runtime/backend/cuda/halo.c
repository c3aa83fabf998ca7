/* Rows of a dat between the device and the messages of ranks: gathered and scattered there, so that only they
 * travel. MPI is given pinned memory of the host, to which all of a direction's messages are copied at once, or
 * the device's memory itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "context/context.h"
#include "cuda.h"
#include "mesh/mesh.h"
#include "op2jit.h"

/* ---- the kernels ---- */

/* A value is moved as a word of its size; `row` and `step` are the distances of elements and of components. Bytes
 * of the word, its type; once to the message and once back. */
static const char parameters[] = "const int *elements, int count, int dim, long long row, long long step";
static const struct {
  int bytes;
  const char *type;
} words[] = {{1, "unsigned char"}, {2, "unsigned short"}, {4, "unsigned int"}, {8, "unsigned long long"}};

static void write_kernel(int w, const char *name, const char *arguments, const char *statement,
                         struct text *out) {
  text_addf(out, "extern \"C\" __global__ void %s%d(%s, %s) {\n", name, words[w].bytes, arguments,
            parameters);
  text_add(out, "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (long long)count "
                "* dim;\n");
  text_addf(out, "       i += (long long)gridDim.x * blockDim.x)\n    %s\n}\n", statement);
}

static void write_source(struct text *out) {
  for (int w = 0; w < (int)(sizeof words / sizeof *words); w++) {
    char arguments[96];
    snprintf(arguments, sizeof arguments, "const %s *dat, %s *rows", words[w].type, words[w].type);
    write_kernel(w, "op2_pack", arguments, "rows[i] = dat[elements[i / dim] * row + i % dim * step];", out);
    snprintf(arguments, sizeof arguments, "%s *dat, const %s *rows", words[w].type, words[w].type);
    write_kernel(w, "op2_unpack", arguments, "dat[elements[i / dim] * row + i % dim * step] = rows[i];", out);
  }
}

int cuda_rows_generate(const struct desc *d, struct generated *out, struct error *err) {
  *out = (struct generated){.main_file = strdup("op2_rows.cu"),
                            .kernel_file = strdup("op2_rows"),
                            .prelude_file = strdup("op2_rows.h"),
                            .prelude = ""};
  text_add(&out->main, d->text);
  const bool good = out->main_file && out->kernel_file && out->prelude_file && text_ok(&out->main);
  return good ? OP_OK : error_memory(err, "the kernels of messages", out->main.length);
}

static int get_program(struct op_context *ctx, struct loop *loop, struct cuda_program **out,
                       struct error *err) {
  struct text source = {0};
  char name[] = "op2_rows", fp[] = "contract";
  write_source(&source);
  struct desc d = {.kernel_name = name, .text = source.data, .fp = fp};
  const int code = text_ok(&source) ? cuda_program_get(ctx, loop, &d, NULL, out, err)
                                    : error_memory(err, "the kernels of messages", source.length);
  text_free(&source);
  return code;
}

/* ---- what they need ---- */

enum { THREADS = 128, MOST_BLOCKS = 1024 };

struct cuda_rows {
  struct cuda_program *program;
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
  free(c->rows);
  c->rows = NULL;
}

int cuda_rows_prepare(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  struct cuda_program *program = NULL;
  if (c->rows)
    return OP_OK;
  int code = get_program(ctx, loop, &program, err);
  if (code)
    return code;
  struct cuda_rows *r = calloc(1, sizeof *r);
  if (!r)
    return error_memory(err, "the exchange on the GPU", sizeof *r);
  *r = (struct cuda_rows){.program = program, .epoch = ctx->mesh->epoch};
  c->rows = r;
  return OP_OK;
}

static int list_on_device(struct op_context *ctx, struct cuda *c, const int *elements, long count,
                          struct cuda_array **out, struct error *err) {
  struct cuda_rows *r = c->rows;
  const size_t bytes = (size_t)count * sizeof *elements;
  if (r->epoch != ctx->mesh->epoch)
    put_lists(c);
  r->epoch = ctx->mesh->epoch;
  for (int i = 0; i < r->nlists; i++)
    if (r->lists[i]->host == elements && r->lists[i]->bytes == bytes) {
      *out = r->lists[i];
      return OP_OK;
    }
  struct cuda_array **lists = array_resize(r->lists, (size_t)r->nlists + 1, sizeof *lists);
  if (!lists)
    return error_memory(err, "the exchange on the GPU", ((size_t)r->nlists + 1) * sizeof *lists);
  r->lists = lists;
  int code = cuda_array_get(c, elements, bytes, ctx->mesh->epoch, out, err);
  if (!code)
    lists[r->nlists++] = *out;
  return code;
}

/* ---- messages ---- */

struct device_messages {
  cuda_address device;
  void *host; /* pinned, what MPI is given; NULL: it is given the device's */
  size_t bytes;
};

void cuda_messages_free(struct op_context *ctx, struct device_messages *m) {
  struct cuda *c = cuda_of(ctx);
  cuda_release(c, m->device, m->bytes);
  if (m->host)
    c->driver.host_free(m->host);
  free(m);
}

int cuda_messages_new(struct op_context *ctx, size_t bytes, struct device_messages **out,
                      unsigned char **memory, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  struct device_messages *m = calloc(1, sizeof *m);
  if (!m)
    return error_memory(err, "the messages of a halo exchange", sizeof *m);
  m->bytes = bytes;
  int code = cuda_allocate(c, &m->device, bytes, err, "the messages of a halo exchange");
  if (!code && !c->gpu_to_mpi)
    code = cuda_failed(c, c->driver.host_alloc(&m->host, bytes, 0), err,
                       "allocating %zu bytes of pinned memory", bytes);
  if (code) {
    cuda_messages_free(ctx, m);
    return code;
  }
  *out = m;
  *memory = c->gpu_to_mpi ? (unsigned char *)(uintptr_t)m->device : m->host;
  return OP_OK;
}

int cuda_hand_over(struct op_context *ctx, struct device_messages *m, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  int result = 0;
  if (m && m->host) {
    result = c->driver.copy_out(m->host, m->device, m->bytes, c->stream);
    ctx->counters->bytes_from_device += (long long)m->bytes;
  }
  c->failed |= result != 0;
  int code = cuda_failed(c, result, err, "copying messages of %zu bytes from GPU %d", m ? m->bytes : 0,
                         c->device.ordinal);
  return code ? code : cuda_wait(c, err, "packing messages");
}

int cuda_take_over(struct op_context *ctx, struct device_messages *m, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  if (!m->host)
    return OP_OK;
  ctx->counters->bytes_to_device += (long long)m->bytes;
  return cuda_failed(c, c->driver.copy_in(m->device, m->host, m->bytes, c->stream), err,
                     "copying messages of %zu bytes to GPU %d", m->bytes, c->device.ordinal);
}

static int launch(struct op_context *ctx, const struct device_messages *m, size_t at, struct dat *dat,
                  const char *kernel, const int *elements, long count, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  struct cuda_array *list = NULL;
  cuda_function function;
  char name[32];
  snprintf(name, sizeof name, "%s%zu", kernel, dat->value_size);
  int code = list_on_device(ctx, c, elements, count, &list, err);
  if (!code)
    code = cuda_failed(c, c->driver.module_function(&function, c->rows->program->module, name), err,
                       "finding %s", name);
  if (code)
    return code;
  cuda_address values_at = cuda_dat_address(dat), rows_at = m->device + at;
  int n = (int)count, dim = dat->dim;
  long long row = dat->soa ? 1 : dat->dim, step = dat->soa ? dat->stride : 1;
  void *values[] = {&values_at, &rows_at, &list->at, &n, &dim, &row, &step};
  const long blocks = (count * dim + THREADS - 1) / THREADS;
  const int result = c->driver.launch(function, (unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 1, 1,
                                      THREADS, 1, 1, 0, c->stream, values, NULL);
  c->failed |= result != 0;
  return cuda_failed(c, result, err, "dat \"%s\": launching %s on GPU %d", dat->name, name,
                     c->device.ordinal);
}

int cuda_pack_rows(struct op_context *ctx, struct device_messages *m, size_t at, struct dat *dat,
                   const int *elements, long count, struct error *err) {
  return launch(ctx, m, at, dat, "op2_pack", elements, count, err);
}

int cuda_unpack_rows(struct op_context *ctx, struct device_messages *m, size_t at, struct dat *dat,
                     const int *elements, long count, struct error *err) {
  return launch(ctx, m, at, dat, "op2_unpack", elements, count, err);
}
