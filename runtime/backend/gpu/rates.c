/* The speeds of a device, measured by small kernels once and kept in the store. */
#include <stdint.h>

#include "context/context.h"
#include "gpu.h"
#include "kernels-cache/store.h"
#include "ranks/agree.h"
#include "services/services.h"

/* Twice COPIED must be more than any L2 has, and REACHED less. Two pieces of memory: OpenCL's have no addresses to add to. */
enum { THREADS = 256, BLOCKS = 256, PIECE = 16, COPIED = 96 << 20, REACHED = 4 << 20 };
static const double long_enough = 1e-3; /* seconds */

struct measuring {
  struct gpu *c;
  gpu_module module;
  gpu_address memory, other;
};

/* op2_fill, op2_copy, op2_read and op2_red, with their parameters. */
static int run(const struct measuring *m, const char *name, void **values, const struct gpu_sizes *sizes,
               double *seconds) {
  const struct gpu_driver *d = m->c->driver;
  gpu_function function = NULL;
  int code = d->module_function(m->c->self, &function, m->module, name);
  if (!code)
    code = d->time_begin(m->c->self);
  if (!code)
    code = d->launch(m->c->self, function, BLOCKS, THREADS, 0, values, sizes);
  if (!code)
    code = d->time_end(m->c->self, seconds);
  m->c->failed |= code != 0;
  return code;
}

static int fill(const struct measuring *m, int n) {
  static const int bytes[] = {0, sizeof n};
  static const struct gpu_sizes sizes = {2, bytes};
  double seconds;
  void *values[] = {(void *)(uintptr_t)&m->memory, &n};
  return run(m, "op2_fill", values, &sizes, &seconds);
}

/* More and more, until it takes long enough to be measured; the last time counts. */
static int copy_rate(const struct measuring *m, double *rate) {
  static const int bytes[] = {0, 0, sizeof(int)};
  static const struct gpu_sizes sizes = {3, bytes};
  double seconds = 0;
  int code = 0;
  for (int n = (256 << 10) / PIECE; !code && n <= COPIED / PIECE && seconds < long_enough; n *= 2) {
    void *values[] = {(void *)(uintptr_t)&m->other, (void *)(uintptr_t)&m->memory, &n};
    code = fill(m, n);
    if (!code)
      code = run(m, "op2_copy", values, &sizes, &seconds);
    *rate = seconds > 0 ? 2.0 * n * (double)PIECE / seconds : 0;
  }
  return code;
}

static int sector_rate(const struct measuring *m, const char *name, double *rate) {
  static const int bytes[] = {0, sizeof(unsigned), sizeof(int)};
  static const struct gpu_sizes sizes = {3, bytes};
  unsigned mask = REACHED / COUNT_SECTOR - 1;
  double seconds = 0;
  int code = 0;
  for (int times = 1; !code && times <= 4096 && seconds < long_enough; times *= 2) {
    void *values[] = {(void *)(uintptr_t)&m->memory, &mask, &times};
    code = run(m, name, values, &sizes, &seconds);
    *rate = seconds > 0 ? (double)times * (double)(BLOCKS * THREADS) / seconds : 0;
  }
  return code;
}

/* Kernels that do nothing, one behind the other. */
struct nothing {
  gpu_function function;
  void *values[2];
  bool dependent;
  int nodes; /* of a graph; 0: each kernel is launched by itself */
};
static const int nothing_bytes[] = {0, sizeof(int)};
static const struct gpu_sizes nothing_sizes = {2, nothing_bytes};

static int give_kernels(const struct measuring *m, struct nothing *n) {
  const struct gpu_driver *d = m->c->driver;
  int code = 0;
  for (int i = 0; !code && i < (n->nodes ? n->nodes : 1); i++)
    code = (n->dependent ? d->launch_dependent : d->launch)(m->c->self, n->function, 1, THREADS, 0, n->values,
                                                            &nothing_sizes);
  return code || !n->nodes ? code : d->give(m->c->self);
}

/* Seconds from one kernel, or graph, to the next: more and more of them. */
static int time_giving(const struct measuring *m, struct nothing *n, double *each) {
  const struct gpu_driver *d = m->c->driver;
  double seconds = 0;
  int code =
      give_kernels(m, n); /* the first kernel of a kind may be prepared, and the second row becomes a graph */
  if (!code)
    code = give_kernels(m, n);
  for (int times = 8; !code && times <= 4096 && seconds < long_enough; times *= 2) {
    code = d->time_begin(m->c->self);
    for (int i = 0; !code && i < times; i++)
      code = give_kernels(m, n);
    if (!code)
      code = d->time_end(m->c->self, &seconds);
    *each = seconds / times;
  }
  return code;
}

static int time_graph(const struct measuring *m, const struct nothing *of, int nodes, double *each) {
  const struct gpu_driver *d = m->c->driver;
  struct gpu_given given = {0};
  struct nothing n = *of;
  n.nodes = nodes;
  const int held = d->hold(m->c->self, &given), code = held ? held : time_giving(m, &n, each),
            given_back = d->hold(m->c->self, NULL);
  return code ? code : given.refused ? given.refused : given_back;
}

/* A driver without graphs, or that fails to make one, gains nothing by them. */
static int giving_times(const struct measuring *m, struct gpu_rates *out) {
  enum { FEW = 4, MANY = 64 };
  int none = 0;
  struct nothing n = {.values = {(void *)(uintptr_t)&m->memory, &none}};
  struct nothing behind = {.values = {n.values[0], n.values[1]}, .dependent = true};
  double few = 0, many = 0;
  int code = m->c->driver->module_function(m->c->self, &n.function, m->module, "op2_fill");
  if (!code)
    code = time_giving(m, &n, &out->launch);
  m->c->failed |= code != 0;
  out->node = out->dependent = out->launch;
  if (!code && m->c->device.dependents &&
      (m->c->driver->module_function(m->c->self, &behind.function, m->module, "op2_behind") ||
       time_giving(m, &behind, &out->dependent)))
    m->c->device.dependents = false;
  if (code || !m->c->driver->hold || time_graph(m, &n, FEW, &few) || time_graph(m, &n, MANY, &many))
    return code;
  out->node = many > few ? (many - few) / (MANY - FEW) : out->launch;
  out->graph = few > FEW * out->node ? few - FEW * out->node : 0;
  return OP_OK;
}

static int measure_all(struct measuring *m, struct gpu_rates *out) {
  double reds = 0;
  int code = copy_rate(m, &out->copy);
  if (!code)
    code = fill(m, REACHED / PIECE);
  if (!code)
    code = sector_rate(m, "op2_read", &out->sectors);
  if (!code)
    code = sector_rate(m, "op2_red", &reds);
  if (!code)
    code = giving_times(m, out);
  out->red = reds > 0 ? out->sectors / reds : 0;
  return code;
}

/* False: it could not be measured. `copies`: only how fast memory is copied. */
static bool measure(struct gpu *c, gpu_module module, bool copies, struct gpu_rates *out) {
  struct measuring m = {.c = c, .module = module};
  int code = c->driver->memory_alloc(c->self, &m.memory, COPIED);
  if (!code)
    code = c->driver->memory_alloc(c->self, &m.other, COPIED);
  if (!code)
    code = copies ? copy_rate(&m, &out->copy) : measure_all(&m, out);
  if (!c->failed && m.memory)
    c->driver->memory_free(c->self, m.memory);
  if (!c->failed && m.other)
    c->driver->memory_free(c->self, m.other);
  return !code && out->copy > 0 && (copies || (out->sectors > 0 && out->red > 0 && out->launch > 0));
}

/* The kernels are a text of their own, as those of messages are (halo.c). `program` NULL: compiled behind the program; then
 * false as long as that is under way. */
static bool make(struct op_context *ctx, struct loop *loop, struct gpu_program **program) {
  struct text source = {0};
  struct error ignored = {0};
  char name[] = "op2_rates", fp[] = "contract";
  struct gpu *c = gpu_of(ctx, loop->space);
  gpu_rates_text(c->driver->dialect, c->device.dependents, &source);
  const struct desc d = {.kernel_name = name, .text = source.data, .fp = fp};
  const bool made =
      text_ok(&source) && (program ? gpu_program_get(ctx, c, loop, &d, NULL, program, &ignored) == OP_OK
                                   : gpu_program_prepare(ctx, c, &d, NULL));
  error_free(&ignored);
  text_free(&source);
  return made;
}

static bool make_and_measure(struct op_context *ctx, struct loop *loop, bool own, bool copies,
                             struct gpu_rates *out) {
  struct gpu_program *program = NULL;
  const long long compiles = ctx->counters->compiles; /* of loops */
  const bool made = make(ctx, loop, &program);
  ctx->counters->compiles = compiles;
  return made && own && measure(gpu_of(ctx, loop->space), program->module, copies, out);
}

/* All of them, read or written. */
static bool in_store(struct op_context *ctx, const struct gpu *c, struct gpu_rates *r, bool put) {
  const struct {
    const char *name;
    double *value;
  } facts[] = {{"copied bytes a second", &r->copy},
               {"sectors a second", &r->sectors},
               {"sectors that an atomic addition costs", &r->red},
               {"seconds of a launch", &r->launch},
               {"seconds of a launch in a graph", &r->node},
               {"seconds of a graph", &r->graph},
               {"seconds of a dependent launch", &r->dependent}};
  struct text machine = {0};
  bool good = true;
  text_addf(&machine, "%s %s", c->device.arch, c->device.name);
  for (size_t i = 0; i < sizeof facts / sizeof *facts && good; i++)
    good = text_ok(&machine) &&
           (put ? store_put_fact(ctx->store, text_str(&machine), facts[i].name, *facts[i].value, "")
                : store_get_fact(ctx->store, text_str(&machine), facts[i].name, 0, facts[i].value, NULL));
  text_free(&machine);
  return good;
}

/* An H100's numbers say nothing of the devices of OpenCL. */
static struct gpu_rates usual(const struct gpu *c) {
  return c->driver->dialect != GPU_DIALECT_OPENCL ? GPU_RATES_USUAL : (struct gpu_rates){.copy = -1};
}

/* By the store, or measured now; `own`: this rank's device is. */
static void settle(struct op_context *ctx, struct loop *loop, bool known, bool measures, bool own,
                   struct gpu_rates *r) {
  struct gpu *c = gpu_of(ctx, loop->space);
  const bool measured = measures && make_and_measure(ctx, loop, own, false, r);
  if (measured)
    in_store(ctx, c, r, true);
  c->rates = known || measured ? *r : usual(c);
}

int gpu_rates_get(struct op_context *ctx, struct loop *loop, int code, struct error *err) {
  struct gpu *c = gpu_of(ctx, loop->space);
  struct gpu_rates r = {0};
  if (c->rates.copy != 0)
    return code;
  if (!code)
    code = context_jit(ctx, &c->prover, err); /* opens the store */
  const bool keeps = !code && ctx->store && store_path(ctx->store);
  const bool known = keeps && in_store(ctx, c, &r, false);
  double missing = keeps && !known;
  const bool own = missing > 0;
  code = agree_on_largest(ctx->agreement, code, &missing, 1, err);
  if (code)
    return code;
  settle(ctx, loop, known, missing > 0, own, &r);
  return OP_OK;
}

bool gpu_rates_known(struct op_context *ctx, struct loop *loop) {
  struct gpu *c = gpu_of(ctx, loop->space);
  struct error ignored = {0};
  struct gpu_rates r = {.copy = -1};
  const bool opens = c->rates.copy != 0 || context_jit(ctx, &c->prover, &ignored) == OP_OK;
  error_free(&ignored);
  if (c->rates.copy != 0 || !opens)
    return c->rates.copy > 0;
  const bool keeps = ctx->store && store_path(ctx->store), known = keeps && in_store(ctx, c, &r, false);
  if (keeps && !known && !make(ctx, loop, NULL))
    return false;
  settle(ctx, loop, known, keeps && !known, true, &r);
  return c->rates.copy > 0;
}

/* One of the measuring kernels, without a loop. */
double gpu_bandwidth(struct op_context *ctx) {
  char name[] = "op2_rates";
  struct loop none = {.name = name, .space = space_of_device(0), .ready = {.trying = true}};
  struct gpu_rates r = {.copy = gpu_of(ctx, none.space)->rates.copy};
  return r.copy > 0 || make_and_measure(ctx, &none, true, true, &r) ? r.copy : 0;
}
