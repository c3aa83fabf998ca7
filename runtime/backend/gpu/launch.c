/* One loop on the device: parameters, launches, results. The host waits only for results. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/list.h"
#include "context/context.h"
#include "gpu.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "record/launch.h"

struct call {
  struct op_context *ctx;
  struct gpu *c;
  struct launch *launch;
  struct loop *loop;
  struct gpu_variant *v;
  struct gpu_part *p;
  const struct gpu_targets *targets;
  unsigned char *landing; /* where the host looks for results */
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
  return access_reads(a->access) ? launch->globals + a->offset : launch->slots + a->offset;
}

static void set_number(struct call *call, enum gpu_parameter_kind kind, int number) {
  for (int i = 0; i < call->v->parameters.count; i++)
    if (call->v->parameters.items[i].kind == kind)
      call->p->words[i].number = number;
}

/* A global that does not travel with the launch. */
static int copy_global(struct call *call, int at) {
  const struct gpu_parameter *p = &call->v->parameters.items[at];
  if (call->loop->desc.args[p->index].kept) {
    call->p->words[at].address = gpu_value_address(call->c, call->loop->args[p->index].gbl);
    return OP_OK;
  }
  size_t bytes = call->loop->args[p->index].bytes;
  int code = call->c->driver->copy_in(call->c->self, call->v->globals[at].at,
                                      global_values(call->launch, p->index), bytes);
  call->p->words[at].address = call->v->globals[at].at;
  return gpu_failed(call->c, code, call->err, "loop %s: copying argument %d to the GPU", call->loop->name,
                    p->index + 1);
}

static long dat_stride(const struct dat *dat) {
  return dat->apart ? dat->stride : dat->dim;
}

/* Constants that are not folded, as the kernel's struct has them: they may be others in each call. */
static int fill_constants(struct call *call, int at) {
  const struct desc *d = &call->loop->desc;
  const size_t bytes = call->v->parameters.items[at].bytes;
  unsigned char *to = call->p->constants;
  if (!to && !(to = call->p->constants = arrays_add(&call->p->memory, 1, bytes)))
    return error_memory(call->err, "constants", bytes);
  for (int i = 0; i < d->nconsts; i++) {
    if (d->consts[i].folded)
      continue;
    const struct constant *constant = mesh_find_constant(call->ctx->mesh, d->consts[i].name);
    memcpy(to, constant->value, constant->bytes);
    to += (constant->bytes + 15) / 16 * 16;
  }
  call->p->values[at] = call->p->constants;
  return OP_OK;
}

/* Its memory has what is kept apart, and its sums are those of all. */
static const struct gpu_part *summing_part(const struct call *call) {
  return call->v->ordering < 0 ? call->p : &call->v->parts[call->v->ordering];
}

static void fill_word(struct call *call, int i) {
  const struct gpu_variant *v = call->v;
  const struct gpu_parameter *p = &v->parameters.items[i];
  union gpu_word *word = &call->p->words[i];
  switch (p->kind) {
  case GPU_P_DAT: {
    const struct dat *dat = dat_of(call->loop, p->index);
    word->address = dat && dat->replicas[call->c->space].bytes ? gpu_dat_address(call->c, dat) : 0;
    break;
  }
  case GPU_P_STRIDE: word->wide = dat_stride(dat_of(call->loop, p->index)); break;
  case GPU_P_SLOTS: word->address = v->slots; break;
  case GPU_P_WARPS: word->address = v->warps; break;
  case GPU_P_TICKET: word->address = v->ticket; break;
  case GPU_P_COUNT: word->number = v->nresults; break;
  case GPU_P_RESULT: /* where kernels reach it, or slot 0, which is copied */
    word->address = call->c->device.far_host ? v->slots : (uintptr_t)call->landing;
    break;
  case GPU_P_KEPT: word->address = gpu_value_address(call->c, call->loop->args[p->index].gbl); break;
  case GPU_P_STAGED_AT: word->number = call->p->staged_at[p->index]; break;
  case GPU_P_APART: word->address = summing_part(call)->apart[p->index].at; break;
  default: word->address = call->p->arrays[i] ? call->p->arrays[i]->at : 0;
  }
  call->p->values[i] = word;
}

/* A record's dats are always the same ones, so only its globals and where results go are looked at again, as long as
 * no dat gets other memory. */
static int fill(struct call *call) {
  const struct gpu_variant *v = call->v;
  call->p->filled &= call->p->moved == call->ctx->mesh->moved;
  call->p->moved = call->ctx->mesh->moved;
  int code = OP_OK;
  for (int i = 0; i < v->parameters.count && !code; i++) {
    const struct gpu_parameter *p = &v->parameters.items[i];
    bool global = p->kind == GPU_P_GLOBAL || p->kind == GPU_P_START;
    bool result = p->kind == GPU_P_RESULT || p->kind == GPU_P_KEPT;
    if ((!call->p->filled || result) && p->kind != GPU_P_CONSTANTS && (!global || p->column))
      fill_word(call, i);
    if (global && p->column)
      code = copy_global(call, i);
    else if (p->kind == GPU_P_CONSTANTS)
      code = fill_constants(call, i);
    else if (global)
      call->p->values[i] = global_values(call->launch, p->index);
  }
  call->p->filled = !code;
  return code;
}

static int failed(struct call *call, int code, const char *doing) {
  return gpu_kernel_failed(call->c, code, call->loop->name, call->v->name, doing, call->err);
}

static int issue(struct gpu *c, gpu_function function, unsigned blocks, unsigned threads, void **values,
                 const struct gpu_sizes *sizes) {
  c->counters->launches++;
  return c->driver->launch(c->self, function, blocks, threads, 0, values, sizes);
}

static int issue_loop(struct call *call, unsigned blocks, const struct gpu_sizes *sizes) {
  struct gpu *c = call->c;
  const struct gpu_variant *v = call->v;
  const unsigned threads = (unsigned)v->shape.block;
  c->counters->launches++;
  c->counters->dependent += v->shape.dependent && !c->holds;
  return (v->shape.dependent ? c->driver->launch_dependent : c->driver->launch)(
      c->self, v->function, blocks, threads, call->p->shared, call->p->values, sizes);
}

/* A call before may have ended between two parts, with an error: its blocks are forgotten. */
static int begin_ticket(const struct call *call) {
  static const unsigned none;
  struct gpu_variant *v = call->v;
  const struct gpu_launch *l = call->p->launches;
  const int n = call->p->nlaunches;
  if (!v->ticket || !n || l[0].slot >= v->nresults)
    return 0;
  const bool again = v->under_way && l[0].slot == 0;
  v->under_way = l[n - 1].slot + l[n - 1].blocks < v->nresults;
  return again ? call->c->driver->copy_in(call->c->self, v->ticket, &none, sizeof none) : 0;
}

/* Every second loop over a set begins where the one before ended: the cache still has what that one saw last. */
static bool turn(const struct call *call, int part) {
  const unsigned long long bit = 1ULL << (unsigned)(call->loop->set->id * LOOP_PARTS + part) % 64;
  call->c->turns ^= bit;
  return !(call->c->turns & bit);
}

static int launch_all(struct call *call, int part) {
  const struct gpu_variant *v = call->v;
  const struct gpu_sizes sizes = {v->parameters.count, call->p->sizes};
  int code = begin_ticket(call);
  gpu_given(call->c, call->loop->name, v->name);
  set_number(call, GPU_P_BACK, turn(call, part));
  for (int k = 0; k < call->p->nlaunches && !code; k++) {
    const struct gpu_launch *l = &call->p->launches[k];
    if (!l->blocks)
      continue;
    set_number(call, GPU_P_BEGIN, l->begin);
    set_number(call, GPU_P_END, l->end);
    set_number(call, GPU_P_FIRST, l->first);
    set_number(call, GPU_P_SLOT, l->slot);
    code = issue_loop(call, (unsigned)l->blocks, &sizes);
  }
  return failed(call, code, "launching the kernel");
}

static int launch_sums(struct call *call) {
  static const int bytes[] = {0, sizeof(long long), 0, 0, 0, sizeof(int)};
  static const struct gpu_sizes sizes = {6, bytes};
  const struct gpu_variant *v = call->v;
  const bool sums = gpu_adds_later(v->shape.strategy) && call->p == summing_part(call);
  int code = 0;
  for (int k = 0; sums && k < call->targets->count && !code; k++) {
    const struct dat *dat = dat_of(call->loop, call->targets->items[k].dat);
    struct gpu_array *const *reverse = &call->p->arrays[v->parameters.count + 2 * k];
    gpu_address to = gpu_dat_address(call->c, dat);
    long long stride = dat_stride(dat);
    const bool apart = v->shape.strategy == GPU_APART;
    int targets = apart ? (int)dat->set->extents[EXTENT_NONEXEC] : (int)(reverse[1]->bytes / sizeof(int));
    void *values[] = {&to, &stride, &reverse[0]->at, &reverse[1]->at, &call->p->apart[k].at, &targets};
    const size_t threads = (size_t)targets * (apart ? 1 : (size_t)dat->dim);
    const unsigned blocks = (unsigned)((threads + GPU_SUM_THREADS - 1) / GPU_SUM_THREADS);
    if (blocks)
      code = issue(call->c, v->sums[k], blocks, GPU_SUM_THREADS, values, &sizes);
  }
  return failed(call, code, "launching the sums of increments");
}

/* Limbs to where base/exact.h has them. What is below its first one is nothing. */
static void put_exact(const unsigned char *from, struct exact *to, int dim) {
  for (int c = 0; c < dim; c++, from += sizeof(struct gpu_exact)) {
    struct gpu_exact sum;
    memcpy(&sum, from, sizeof sum);
    const int least = sum.top - (GPU_EXACT_LIMBS - 1);
    to[c] = (struct exact){.odd = sum.odd, .cut = (int16_t)(least > 0 ? least : 0)};
    for (int i = 0; i < GPU_EXACT_LIMBS; i++)
      if (sum.limbs[i])
        exact_add_limb(&to[c], least + i, sum.limbs[i]);
  }
}

/* The one result to where the loop expects slot 0, or to its globals. */
void gpu_take_results(struct op_context *ctx, struct launch *launch, const unsigned char *landing) {
  const struct loop *loop = launch->loop;
  ctx->counters->bytes_from_device += (long long)gpu_slot_bytes(&loop->desc);
  for (int i = 0; i < loop->nargs; i++) {
    long at = gpu_slot_offset(&loop->desc, i);
    if (at < 0)
      continue;
    const struct loop_arg *a = &loop->args[i];
    bool global = a->form == DESC_GBL && access_assigns(a->access);
    if (gpu_is_exact_sum(&loop->desc, i))
      put_exact(landing + at, (struct exact *)(void *)(launch->slots + a->offset), a->dim);
    else
      memcpy((global ? launch->globals : launch->slots) + a->offset, landing + at,
             gpu_slot_size(&loop->desc, i));
  }
}

/* The memory of globals that stay on the device, in the order of the arguments; they are newest there. */
static int kept_results(struct call *call, gpu_address *out) {
  const struct loop *loop = call->loop;
  int n = 0;
  for (int i = 0; i < loop->nargs; i++)
    if (loop->desc.args[i].kept && gpu_slot_offset(&loop->desc, i) >= 0) {
      gbl_wrote(loop->args[i].gbl, loop->space);
      out[n++] = gpu_value_address(call->c, loop->args[i].gbl);
    }
  return n;
}

static int combine(struct call *call, gpu_address *kept, int n) {
  int sizes_of[3 + OP_MAX_ARGS] = {0, sizeof(int), 0};
  void *values[3 + OP_MAX_ARGS] = {(void *)&call->v->slots, (void *)&call->v->nresults,
                                   (void *)&call->v->warps};
  for (int i = 0; i < n; i++)
    values[3 + i] = &kept[i];
  const struct gpu_sizes sizes = {3 + n, sizes_of};
  return issue(call->c, call->v->combine, 1, GPU_COMBINE_THREADS, values, &sizes);
}

size_t gpu_result_bytes(const struct launch *launch, const struct gpu_variant *v) {
  return v->nresults && gpu_tells_host(&launch->loop->desc) ? gpu_slot_bytes(&launch->loop->desc) : 0;
}

int gpu_send_results(struct op_context *ctx, struct launch *launch, struct gpu_variant *v,
                     unsigned char *landing, struct error *err) {
  struct gpu *c = gpu_of(ctx, launch->loop->space);
  struct call call = {.ctx = ctx, .c = c, .launch = launch, .loop = launch->loop, .v = v, .err = err};
  const size_t bytes = gpu_result_bytes(launch, v);
  if (!gpu_slot_bytes(&launch->loop->desc) || !v->nresults)
    return OP_OK;
  const bool combined = gpu_has_ticket(&v->shape); /* by the kernel itself */
  gpu_address kept[OP_MAX_ARGS];
  const int nkept = kept_results(&call, kept);
  int code = combined ? 0 : combine(&call, kept, nkept);
  if (!code && bytes && (!combined || c->device.far_host))
    code = c->driver->copy_out(c->self, landing, v->slots, bytes);
  return failed(&call, code, "running the kernel");
}

int gpu_fetch_results(struct op_context *ctx, struct launch *launch, struct gpu_variant *v,
                      struct error *err) {
  struct gpu *c = gpu_of(ctx, launch->loop->space);
  int code = gpu_send_results(ctx, launch, v, c->landing, err);
  if (code || !gpu_result_bytes(launch, v))
    return code;
  code = gpu_wait_for(c, launch->loop->name, v->name, err);
  if (!code)
    gpu_take_results(ctx, launch, c->landing);
  return code;
}

int gpu_launch_part(struct op_context *ctx, struct launch *launch, struct gpu_variant *v, int part,
                    unsigned char *landing, struct error *err) {
  struct loop *loop = launch->loop;
  const struct gpu_loop *l = loop->ready.backend_state;
  struct call call = {.ctx = ctx,
                      .c = gpu_of(ctx, loop->space),
                      .launch = launch,
                      .loop = loop,
                      .v = v,
                      .p = &v->parts[part],
                      .targets = &l->targets,
                      .landing = landing,
                      .err = err};
  if (!call.p->launches) /* all elements run in the last part */
    return OP_OK;
  int code = call.c->driver->module_global ? gpu_program_constants(ctx, loop, v->program, err) : OP_OK;
  if (!code)
    code = fill(&call);
  if (!code)
    code = launch_all(&call, part);
  return code ? code : launch_sums(&call);
}
