#include "backend/cuda/layout.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/size.h"
#include "context.h"
#include "tune_mode.h"
#include "variant.h"

/* SAMPLES runs of a loop in each layout, the first after a turn left out; loops that run less often than the most frequent by
 * SELDOM do not matter; dats whose row one vector load takes are best in rows. */
enum { SAMPLES = 5, LOOK_EACH = 16, SELDOM = 8, VECTOR_BYTES = 16, PATIENCE = 40 };
/* Seconds that a trial costs for each loop, and for each byte of the dat, which goes to the host and back twice; by how much the
 * other layout has to be better. */
#define USUAL_COST 0.15
#define TURN_COST 4e-9
#define NOISE 0.97

struct choice {
  int dat; /* id */
  bool soa, open;
};

/* One loop of the trial, in the layout that was, and in the other. */
struct timed {
  const struct loop *loop;
  double weight, seconds[2][SAMPLES];
  int count;
};

struct cuda_layouts {
  struct tune_mode mode;
  struct text forced; /* words of OP2_VARIANT */
  struct choice *choices;
  int nchoices;
  unsigned epoch;
  long runs;
  double opened, spent;
  /* The trial; dat NULL: none. */
  struct dat *dat;
  int phase; /* 0: as it was, 1: turned */
  double began;
  struct timed *loops;
  int nloops;
  long patience;
};

/* ---- what each dat has ---- */
static struct choice *find(const struct cuda_layouts *all, const struct dat *dat) {
  for (int i = 0; i < all->nchoices; i++)
    if (all->choices[i].dat == dat->id)
      return &all->choices[i];
  return NULL;
}

unsigned cuda_layouts_epoch(const struct cuda_layouts *all) {
  return all->epoch;
}

bool cuda_layout_is_soa(const struct cuda_layouts *all, const struct dat *dat) {
  const struct choice *choice = find(all, dat);
  return choice ? choice->soa : dat->soa && dat->dim > 1;
}

static bool word_says(const char *word, const char *name, bool *soa) {
  const bool apart = strncmp(word, "soa", 3) == 0;
  if ((!apart && strncmp(word, "aos", 3) != 0) || (word[3] && word[3] != '='))
    return false;
  if (name && word[3] && strcmp(word + 4, name) != 0)
    return false;
  *soa = apart;
  return true;
}

bool cuda_layout_word(const char *word) {
  bool ignored;
  return word_says(word, NULL, &ignored);
}

/* A word for this dat counts more than one for all. */
static bool forced(const struct cuda_layouts *all, const struct dat *dat, bool *soa) {
  struct text words = {0};
  char *rest = NULL;
  bool found = false, named = false, says = false;
  text_add(&words, text_str(&all->forced));
  for (char *word = words.data ? strtok_r(words.data, "/", &rest) : NULL; word;
       word = strtok_r(NULL, "/", &rest))
    if (word_says(word, dat->name, &says) && (word[3] || !named)) {
      found = true;
      named |= word[3] != '\0';
      *soa = says;
    }
  text_free(&words);
  return found;
}

int cuda_layout_settle(struct op_context *ctx, const struct dat *dat, struct error *err) {
  struct cuda_layouts *all = cuda_of(ctx)->layouts;
  if (find(all, dat))
    return OP_OK;
  struct choice *choices = array_resize(all->choices, (size_t)all->nchoices + 1, sizeof *choices);
  if (!choices)
    return error_memory(err, "the layouts on the GPU", ((size_t)all->nchoices + 1) * sizeof *choices);
  all->choices = choices;
  struct choice choice = {.dat = dat->id, .soa = dat->soa};
  if (dat->dim > 1 && !forced(all, dat, &choice.soa) &&
      !(all->mode.recall && cuda_layout_recall(ctx, dat, &choice.soa)))
    choice.open = all->mode.keep && dat->row_bytes > VECTOR_BYTES && !dat->temporary;
  choice.soa &= dat->dim > 1;
  choices[all->nchoices++] = choice;
  return OP_OK;
}

/* ---- life ---- */
int cuda_layouts_open(struct op_context *ctx, struct cuda_layouts **out, struct error *err) {
  struct cuda_layouts *all = *out = calloc(1, sizeof *all);
  if (!all)
    return error_memory(err, "the layouts on the GPU", sizeof *all);
  variant_for_loop(env_value(&ctx->env, ENV_VARIANT), "", &all->forced);
  all->opened = op2jit_wtime();
  return tune_mode_parse(env_value(&ctx->env, ENV_TUNE), &all->mode, err);
}

void cuda_layouts_free(struct cuda_layouts *all) {
  if (!all)
    return;
  text_free(&all->forced);
  free(all->choices);
  free(all->loops);
  free(all);
}

/* ---- a trial ---- */
static bool uses(const struct loop *loop, const struct dat *dat) {
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].dat == dat && loop->args[i].present)
      return true;
  return false;
}

static bool takes_part(const struct loop *loop, const struct dat *dat) {
  return loop->backend == &backend_cuda && loop->backend_state && uses(loop, dat);
}

static long long most_calls(const struct op_context *ctx, const struct dat *dat) {
  long long most = 0;
  for (size_t b = 0; b < ctx->loops.nbuckets; b++)
    for (const struct loop *loop = ctx->loops.buckets[b]; loop; loop = loop->next)
      if (takes_part(loop, dat) && loop->stats.calls > most)
        most = loop->stats.calls;
  return most;
}

static bool variant_is_found(const struct loop *loop) {
  const struct cuda_loop *l = loop->backend_state;
  return !l->tuner || tuner_is_settled(l->tuner);
}

/* The loops that matter to the dat. False if one of them still looks for its variant, or there is none. */
static bool gather(const struct op_context *ctx, struct cuda_layouts *all, const struct dat *dat) {
  const long long most = most_calls(ctx, dat);
  all->nloops = 0;
  for (size_t b = 0; b < ctx->loops.nbuckets; b++)
    for (const struct loop *loop = ctx->loops.buckets[b]; loop; loop = loop->next) {
      if (!takes_part(loop, dat) || loop->stats.calls * SELDOM < most)
        continue;
      if (!variant_is_found(loop))
        return false;
      struct timed *loops = array_resize(all->loops, (size_t)all->nloops + 1, sizeof *loops);
      if (!loops)
        return false;
      all->loops = loops;
      loops[all->nloops++] = (struct timed){.loop = loop, .weight = (double)loop->stats.calls / (double)most};
    }
  return all->nloops > 0 && most > 2 * SAMPLES;
}

static bool can_pay(const struct cuda_layouts *all, const struct dat *dat) {
  const struct tuner_options *o = &all->mode.options;
  const double bytes = (double)dat->set->size * (double)dat->row_bytes;
  const double cost = USUAL_COST * all->nloops + TURN_COST * bytes, passed = op2jit_wtime() - all->opened;
  return o->exhaustive || all->spent + cost < (o->seconds > 0 ? o->seconds : o->share * passed);
}

static void begin(struct op_context *ctx, struct cuda_layouts *all) {
  for (int i = 0; i < ctx->mesh.dats.count; i++) {
    struct dat *dat = ctx->mesh.dats.items[i];
    const struct choice *choice = find(all, dat);
    if (!choice || !choice->open || !gather(ctx, all, dat) || !can_pay(all, dat))
      continue;
    all->dat = dat;
    all->phase = 0;
    all->began = op2jit_wtime();
    all->patience = PATIENCE * (long)all->nloops * SAMPLES;
    return;
  }
  all->nloops = 0;
}

/* The newest values go through the host, once. */
static int turn(struct op_context *ctx, struct cuda_layouts *all, struct error *err) {
  struct choice *choice = find(all, all->dat);
  int code = cuda_wait(cuda_of(ctx), err, "waiting for the loops before a dat is turned");
  if (!code)
    code = dat_need(ctx, all->dat, SPACE_HOST, REGION_OWNED, err);
  if (code)
    return code;
  if (all->dat->replicas[SPACE_DEVICE].bytes)
    ctx->mover->release(ctx, all->dat);
  choice->soa = !choice->soa;
  all->epoch++;
  return OP_OK;
}

static void end(struct cuda_layouts *all) {
  find(all, all->dat)->open = false;
  all->spent += op2jit_wtime() - all->began;
  all->dat = NULL;
  all->nloops = 0;
}

static bool complete(const struct cuda_layouts *all) {
  for (int i = 0; i < all->nloops; i++)
    if (all->loops[i].count <= SAMPLES)
      return false;
  return true;
}

static int by_size(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static double median(const struct timed *t, int phase) {
  double sorted[SAMPLES];
  memcpy(sorted, t->seconds[phase], sizeof sorted);
  qsort(sorted, SAMPLES, sizeof *sorted, by_size);
  return sorted[SAMPLES / 2];
}

static double round_seconds(const struct cuda_layouts *all, int phase) {
  double sum = 0;
  for (int i = 0; i < all->nloops; i++)
    sum += all->loops[i].weight * median(&all->loops[i], phase);
  return sum;
}

static int conclude(struct op_context *ctx, struct cuda_layouts *all, struct error *err) {
  const struct dat *dat = all->dat;
  const double was = round_seconds(all, 0), is = round_seconds(all, 1);
  const bool better = is < NOISE * was, apart = find(all, dat)->soa;
  const struct cuda_layout_found found = {
      .rows = apart ? was : is, .apart = apart ? is : was, .soa = apart == better};
  int code = better ? OP_OK : turn(ctx, all, err);
  log_line(&ctx->log, LOG_INFO, "tune",
           "dat \"%s\" lies %s on the GPU: %.3g s a round in rows, %.3g s with components apart", dat->name,
           found.soa ? "with components apart" : "in rows", found.rows, found.apart);
  cuda_layout_keep(ctx, dat, &found);
  for (int i = 0; i < all->nloops && better; i++)
    cuda_layout_keep_variant(ctx, all->loops[i].loop, median(&all->loops[i], 1));
  end(all);
  return code;
}

/* As it was before the trial. */
static int give_up(struct op_context *ctx, struct cuda_layouts *all, const char *why, struct error *err) {
  log_line(&ctx->log, LOG_INFO, "tune", "dat \"%s\" stays as it is on the GPU: %s", all->dat->name, why);
  int code = all->phase == 1 ? turn(ctx, all, err) : OP_OK;
  end(all);
  return code;
}

int cuda_layout_step(struct op_context *ctx, struct error *err) {
  struct cuda_layouts *all = cuda_of(ctx)->layouts;
  if (ctx->backend != &backend_cuda || !comm_alone(ctx->comm))
    return OP_OK;
  if (!all->dat) {
    if (all->mode.keep && ++all->runs % LOOK_EACH == 0)
      begin(ctx, all);
    return OP_OK;
  }
  /* The program went on to other loops. */
  if (all->nloops == 0 || --all->patience < 0)
    return give_up(ctx, all, "its loops do not run any more", err);
  if (!complete(all))
    return OP_OK;
  if (all->phase == 1)
    return conclude(ctx, all, err);
  all->phase = 1;
  for (int i = 0; i < all->nloops; i++)
    all->loops[i].count = 0;
  return turn(ctx, all, err);
}

int cuda_layout_refuse(struct op_context *ctx, struct error *err) {
  struct cuda_layouts *all = cuda_of(ctx)->layouts;
  struct error why = {0};
  if (!all->dat || all->phase == 0)
    return err->code;
  error_copy(&why, err);
  error_clear(err);
  int code = give_up(ctx, all, error_message(&why), err);
  error_free(&why);
  return code;
}

/* ---- its loops ---- */
static struct timed *timed_loop(const struct cuda_layouts *all, const struct loop *loop) {
  for (int i = 0; i < all->nloops && all->dat; i++)
    if (all->loops[i].loop == loop)
      return &all->loops[i];
  return NULL;
}

bool cuda_layout_times(const struct cuda_layouts *all, const struct loop *loop) {
  const struct timed *t = timed_loop(all, loop);
  return t && t->count <= SAMPLES;
}

void cuda_layout_record(struct cuda_layouts *all, const struct loop *loop, double seconds) {
  struct timed *t = timed_loop(all, loop);
  if (!t || t->count > SAMPLES)
    return;
  if (t->count > 0)
    t->seconds[all->phase][t->count - 1] = seconds;
  t->count++;
}

void cuda_layout_forget(struct cuda_layouts *all, const struct loop *loop) {
  struct timed *t = timed_loop(all, loop);
  if (t)
    *t = all->loops[--all->nloops];
}
