/* One loop on the device: parameters, launches, results. The host waits only for results. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "context/context.h"
#include "cuda.h"
#include "mesh/data.h"
#include "op2jit.h"
#include "record/launch.h"

struct call {
  struct op_context *ctx;
  struct cuda *c;
  struct launch *launch;
  struct loop *loop;
  struct cuda_variant *v;
  struct cuda_part *p;
  long begin; /* the part's first element */
  const struct cuda_targets *targets;
  struct error *err;
};

static const struct dat *dat_of(const struct loop *loop, int dat) {
  for (int i = 0; i < loop->nargs; i++)
    if (loop->desc.args[i].dat == dat)
      return loop->args[i].dat;
  return NULL;
}

/* Values of a READ or RW global, or what MIN and MAX start from. */
static void *global_values(const struct launch *launch, int arg) {
  const struct loop_arg *a = &launch->loop->args[arg];
  return a->access == OP_READ || a->access == OP_RW ? launch->globals + a->offset : launch->slots + a->offset;
}

static void set_number(struct call *call, enum cuda_parameter_kind kind, int number) {
  for (int i = 0; i < call->v->parameters.count; i++)
    if (call->v->parameters.items[i].kind == kind)
      call->p->words[i].number = number;
}

/* Globals that do not travel with the launch, one behind the other. */
static int copy_global(struct call *call, int at, size_t *offset) {
  const struct cuda_parameter *p = &call->v->parameters.items[at];
  size_t bytes = call->loop->args[p->index].bytes;
  call->p->words[at].address = call->v->globals + *offset;
  int code = call->c->driver.copy_in(call->v->globals + *offset, global_values(call->launch, p->index), bytes,
                                     call->c->stream);
  *offset += (bytes + 15) / 16 * 16;
  return cuda_failed(call->c, code, call->err, "loop %s: copying argument %d to the GPU", call->loop->name,
                     p->index + 1);
}

/* Arrays with a value for each element of the part are found by the set's numbers. */
static cuda_address array_address(const struct call *call, int i) {
  const struct cuda_variant *v = call->v;
  const struct cuda_array *array = call->p->arrays[i];
  const cuda_address begin = (cuda_address)call->begin;
  switch (v->parameters.items[i].kind) {
  case CUDA_P_COLOURS:
  case CUDA_P_STAGED_LOCAL: return array->at - begin * sizeof(unsigned short);
  case CUDA_P_LIST: return v->shape.sorted ? array->at - begin * sizeof(int) : array->at;
  default: return array ? array->at : 0;
  }
}

static size_t apart_row_bytes(const struct call *call, int k) {
  const struct cuda_target *t = &call->targets->items[k];
  const struct desc_dat *d = &call->loop->desc.dats[t->dat];
  return (size_t)t->ncolumns * (size_t)d->dim * type_info(d->type)->size;
}

static long dat_stride(const struct dat *dat) {
  return dat->soa ? dat->stride : dat->dim;
}

static void fill_word(struct call *call, int i) {
  const struct cuda_variant *v = call->v;
  const struct cuda_parameter *p = &v->parameters.items[i];
  union cuda_word *word = &call->p->words[i];
  switch (p->kind) {
  case CUDA_P_DAT: {
    const struct dat *dat = dat_of(call->loop, p->index);
    word->address = dat && dat->replicas[SPACE_DEVICE].bytes ? cuda_dat_address(dat) : 0;
    break;
  }
  case CUDA_P_STRIDE: word->wide = dat_stride(dat_of(call->loop, p->index)); break;
  case CUDA_P_SLOTS: word->address = v->slots; break;
  case CUDA_P_WARPS: word->address = v->warps; break;
  case CUDA_P_STAGED_AT: word->number = call->p->staged_at[p->index]; break;
  case CUDA_P_APART:
    word->address = call->p->apart[p->index] - (cuda_address)call->begin * apart_row_bytes(call, p->index);
    break;
  default: word->address = array_address(call, i);
  }
  call->p->values[i] = word;
}

/* A record's dats are always the same ones, so only its globals are looked at again. */
static int fill(struct call *call) {
  const struct cuda_variant *v = call->v;
  size_t globals = 0;
  int code = OP_OK;
  for (int i = 0; i < v->parameters.count && !code; i++) {
    const struct cuda_parameter *p = &v->parameters.items[i];
    bool global = p->kind == CUDA_P_GLOBAL || p->kind == CUDA_P_START;
    if (!call->p->filled && (!global || p->column))
      fill_word(call, i);
    if (global && p->column)
      code = copy_global(call, i, &globals);
    else if (global)
      call->p->values[i] = global_values(call->launch, p->index);
  }
  call->p->filled = !code;
  return code;
}

static int failed(struct call *call, int code, const char *doing) {
  if (!code)
    return OP_OK;
  call->c->failed = true;
  return cuda_failed(call->c, code, call->err, "loop %s, variant %s, GPU %d: %s", call->loop->name,
                     call->v->name, call->c->device.ordinal, doing);
}

static int launch_all(struct call *call) {
  const struct cuda_variant *v = call->v;
  int code = 0;
  cuda_given(call->c, call->loop->name, v->name);
  for (int k = 0; k < call->p->nlaunches && !code; k++) {
    const struct cuda_launch *l = &call->p->launches[k];
    if (!l->blocks)
      continue;
    set_number(call, CUDA_P_BEGIN, l->begin);
    set_number(call, CUDA_P_END, l->end);
    set_number(call, CUDA_P_FIRST, l->first);
    set_number(call, CUDA_P_SLOT, l->slot);
    code = call->c->driver.launch(v->function, (unsigned)l->blocks, 1, 1, (unsigned)v->shape.block, 1, 1,
                                  call->p->shared, call->c->stream, call->p->values, NULL);
  }
  return failed(call, code, "launching the kernel");
}

static int launch_sums(struct call *call) {
  const struct cuda_variant *v = call->v;
  int code = 0;
  for (int k = 0; v->shape.strategy == CUDA_APART && k < call->targets->count && !code; k++) {
    const struct dat *dat = dat_of(call->loop, call->targets->items[k].dat);
    struct cuda_array *const *reverse = &call->p->arrays[v->parameters.count + 2 * k];
    cuda_address to = cuda_dat_address(dat);
    long long stride = dat_stride(dat);
    int targets = (int)dat->set->extents[EXTENT_NONEXEC];
    void *values[] = {&to, &stride, &reverse[0]->at, &reverse[1]->at, &call->p->apart[k], &targets};
    unsigned blocks = ((unsigned)targets + CUDA_SUM_THREADS - 1) / CUDA_SUM_THREADS;
    if (blocks)
      code = call->c->driver.launch(v->sums[k], blocks, 1, 1, CUDA_SUM_THREADS, 1, 1, 0, call->c->stream,
                                    values, NULL);
  }
  return failed(call, code, "launching the sums of increments");
}

/* The one result to where the loop expects slot 0, or to its globals. */
static void hand_over(struct call *call) {
  struct loop *loop = call->loop;
  for (int i = 0; i < loop->nargs; i++) {
    long at = cuda_slot_offset(&loop->desc, i);
    if (at < 0)
      continue;
    const struct loop_arg *a = &loop->args[i];
    bool global = a->form == DESC_GBL && (a->access == OP_WRITE || a->access == OP_RW);
    memcpy((global ? call->launch->globals : call->launch->slots) + a->offset, call->c->landing + at,
           cuda_slot_size(&loop->desc, i));
  }
}

int cuda_fetch_results(struct op_context *ctx, struct launch *launch, struct cuda_variant *v,
                       struct error *err) {
  struct loop *loop = launch->loop;
  struct call call = {.ctx = ctx, .c = cuda_of(ctx), .launch = launch, .loop = loop, .v = v, .err = err};
  const struct cuda_driver *d = &call.c->driver;
  const size_t bytes = cuda_slot_bytes(&loop->desc);
  int count = v->nresults;
  if (!bytes || !count)
    return OP_OK;
  void *values[] = {(void *)&v->slots, &count, (void *)&v->warps};
  int code = d->launch(v->combine, 1, 1, 1, CUDA_COMBINE_THREADS, 1, 1, 0, call.c->stream, values, NULL);
  if (!code)
    code = d->copy_out(call.c->landing, v->slots, bytes, call.c->stream);
  if (!code)
    code = d->stream_wait(call.c->stream);
  if (code)
    return failed(&call, code, "running the kernel");
  cuda_waited(call.c);
  ctx->counters->bytes_from_device += (long long)bytes;
  hand_over(&call);
  return OP_OK;
}

int cuda_launch_part(struct op_context *ctx, struct launch *launch, struct cuda_variant *v, int part,
                     struct error *err) {
  struct loop *loop = launch->loop;
  const struct cuda_loop *l = loop->backend_state;
  struct call call = {.ctx = ctx,
                      .c = cuda_of(ctx),
                      .launch = launch,
                      .loop = loop,
                      .v = v,
                      .p = &v->parts[part],
                      .begin = loop->parts[part].begin,
                      .targets = &l->targets,
                      .err = err};
  int code = cuda_program_constants(ctx, loop, v->program, err);
  if (!code)
    code = fill(&call);
  if (!code)
    code = launch_all(&call);
  return code ? code : launch_sums(&call);
}
