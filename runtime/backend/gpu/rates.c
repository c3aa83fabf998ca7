/* What a device is able to, measured by small kernels once and kept in the store. */
#include <stdint.h>

#include "context/context.h"
#include "gpu.h"
#include "kernels-cache/store.h"
#include "ranks/agree.h"
#include "services/services.h"

/* Twice COPIED must be more than any L2 has, and REACHED less. */
enum { THREADS = 256, BLOCKS = 256, PIECE = 16, COPIED = 96 << 20, REACHED = 4 << 20 };
static const double long_enough = 1e-3; /* seconds */

struct measuring {
  struct gpu *c;
  gpu_module module;
  gpu_address memory;
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
  gpu_address to = m->memory + COPIED;
  double seconds = 0;
  int code = 0;
  for (int n = (256 << 10) / PIECE; !code && n <= COPIED / PIECE && seconds < long_enough; n *= 2) {
    void *values[] = {&to, (void *)(uintptr_t)&m->memory, &n};
    code = fill(m, n);
    if (!code)
      code = run(m, "op2_copy", values, &sizes, &seconds);
    *rate = seconds > 0 ? 2.0 * n * PIECE / seconds : 0;
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
    *rate = seconds > 0 ? (double)times * BLOCKS * THREADS / seconds : 0;
  }
  return code;
}

/* False: it could not be measured. */
static bool measure(struct gpu *c, gpu_module module, struct gpu_rates *out) {
  struct measuring m = {.c = c, .module = module};
  double reds = 0;
  if (c->driver->memory_alloc(c->self, &m.memory, 2 * (size_t)COPIED))
    return false;
  int code = copy_rate(&m, &out->copy);
  if (!code)
    code = fill(&m, REACHED / PIECE);
  if (!code)
    code = sector_rate(&m, "op2_read", &out->sectors);
  if (!code)
    code = sector_rate(&m, "op2_red", &reds);
  if (!c->failed)
    c->driver->memory_free(c->self, m.memory);
  out->red = reds > 0 ? out->sectors / reds : 0;
  return !code && out->copy > 0 && out->sectors > 0 && out->red > 0;
}

/* The kernels are a text of their own, as those of messages are (halo.c). */
static bool make_and_measure(struct op_context *ctx, struct loop *loop, bool own, struct gpu_rates *out) {
  struct gpu *c = gpu_of(ctx, loop->space);
  struct gpu_program *program = NULL;
  struct text source = {0};
  struct error ignored = {0};
  char name[] = "op2_rates", fp[] = "contract";
  gpu_rates_text(c->driver->dialect, &source);
  const struct desc d = {.kernel_name = name, .text = source.data, .fp = fp};
  const bool made = text_ok(&source) && gpu_program_get(ctx, loop, &d, NULL, &program, &ignored) == OP_OK;
  error_free(&ignored);
  text_free(&source);
  return made && own && measure(c, program->module, out);
}

/* All of them, read or written. */
static bool in_store(struct op_context *ctx, const struct gpu *c, struct gpu_rates *r, bool put) {
  const struct {
    const char *name;
    double *value;
  } facts[] = {{"copied bytes a second", &r->copy},
               {"sectors a second", &r->sectors},
               {"sectors that an atomic addition costs", &r->red}};
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

int gpu_rates_get(struct op_context *ctx, struct loop *loop, int code, struct error *err) {
  struct gpu *c = gpu_of(ctx, loop->space);
  struct gpu_rates r = {0};
  if (c->rates.copy > 0)
    return code;
  if (!code)
    code = context_jit(ctx, &c->prover, err); /* opens the store */
  const bool keeps = !code && ctx->store && store_path(ctx->store);
  const bool known = keeps && in_store(ctx, c, &r, false);
  double missing = keeps && !known && gpu_has_ticket(c->driver->dialect);
  const bool own = missing > 0;
  code = agree_on_largest(ctx->agreement, code, &missing, 1, err);
  if (code)
    return code;
  const long long compiles = ctx->counters->compiles; /* of loops */
  const bool measured = missing > 0 && make_and_measure(ctx, loop, own, &r);
  ctx->counters->compiles = compiles;
  if (measured)
    in_store(ctx, c, &r, true);
  c->rates = known || measured ? r : GPU_RATES_USUAL;
  return OP_OK;
}
