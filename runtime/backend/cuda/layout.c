/* Layouts on the GPU: a dat is turned by letting its copy there go; the host's layout does not matter, for the mover converts. */
#include "context/context.h"
#include "cuda.h"
#include "mesh/data.h"
#include "record/record.h"

static bool is_free(const struct dat *dat) {
  const size_t vector_bytes = 16; /* a row that one vector load takes is best as it is */
  return dat->row_bytes > vector_bytes;
}

static bool is_made(const struct loop *loop) {
  return loop->backend_state != NULL;
}

static bool is_found(const struct loop *loop) {
  const struct cuda_loop *l = loop->backend_state;
  return !l->tuning.tuner || tuner_is_settled(l->tuning.tuner);
}

static int current(const struct loop *loop) {
  return ((const struct cuda_loop *)loop->backend_state)->current;
}

/* The newest values go through the host, once. */
static int turn(struct op_context *ctx, struct dat *dat, bool soa, struct error *err) {
  (void)soa;
  int code = cuda_wait(cuda_of(ctx), err, "waiting for the loops before a dat is turned");
  if (!code)
    code = dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err);
  if (!code && dat->replicas[SPACE_DEVICE].bytes)
    ctx->mover->release(ctx, dat);
  return code;
}

static const char *variant_name(const void *variants, int which) {
  return ((const struct cuda_variant *)variants)[which].name;
}

static void target(const struct op_context *ctx, struct text *out) {
  const struct cuda *c = cuda_of(ctx);
  text_addf(out, "%s %s", c->arch, c->device.name);
}

static int threads(const struct op_context *ctx) {
  (void)ctx;
  return 1;
}

struct tuning_of cuda_tuning_of(const struct loop *loop) {
  const struct cuda_loop *l = loop->backend_state;
  return (struct tuning_of){.variants = l->variants,
                            .name = variant_name,
                            .count = l->nvariants,
                            .standard = l->standard,
                            .desc = &l->desc,
                            .threads = 1,
                            .target = target,
                            .together = true};
}

const struct layout_table cuda_layout_table = {.where = "on the GPU",
                                               .space = SPACE_DEVICE,
                                               .is_free = is_free,
                                               .is_made = is_made,
                                               .is_found = is_found,
                                               .turn = turn,
                                               .variants = cuda_tuning_of,
                                               .current = current,
                                               .target = target,
                                               .threads = threads,
                                               .loop_cost = 0.15,
                                               .byte_cost = 4e-9};
