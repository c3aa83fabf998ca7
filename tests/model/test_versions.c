/* Versions and replicas against a model of three lines, over random sequences. A pretended device keeps its
 * replica in memory of its own, so that a move too few shows as old values, and a move too many is counted. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "api/life.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/handles.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "spread/spread.h"

#include "../property/random.h"

enum { ROWS = 17, DIM = 3, VALUES = ROWS * DIM };

/* ---- the model --------------------------------------------------------------------------------*/

struct model {
  bool fresh[SPACES];
  int moves[SPACES]; /* expected, into this space */
  int truth[VALUES]; /* in the user's order */
};

static void model_need(struct model *m, enum space s) {
  m->moves[s] += !m->fresh[s];
  m->fresh[s] = true;
}

static void model_wrote(struct model *m, enum space s) {
  m->fresh[SPACE_HOST] = m->fresh[SPACE_DEVICE] = false;
  m->fresh[s] = true;
}

/* ---- the pretended device ---------------------------------------------------------------------*/

static struct {
  int made, moves[SPACES];
  bool broken;
} device;

static int device_make(struct op_context *ctx, struct dat *dat, struct error *err) {
  (void)ctx;
  struct replica *r = &dat->replicas[SPACE_DEVICE];
  if (device.broken)
    return error_memory(err, "a dat on the device", r->bytes);
  device.made++;
  r->bytes = dat->replicas[SPACE_HOST].bytes;
  r->memory = malloc(r->bytes);
  assert_non_null(r->memory);
  memset(r->memory, 0xee, r->bytes);
  return OP_OK;
}

static int move(struct dat *dat, enum space to, struct error *err) {
  enum space from = to == SPACE_HOST ? SPACE_DEVICE : SPACE_HOST;
  if (device.broken)
    return error_set(err, OP_ERR_DEVICE, "the pretended device is broken");
  device.moves[to]++;
  memcpy(dat->replicas[to].memory, dat->replicas[from].memory, dat->replicas[to].bytes);
  return OP_OK;
}

static int to_device(struct op_context *ctx, struct dat *dat, struct error *err) {
  (void)ctx;
  return move(dat, SPACE_DEVICE, err);
}

static int to_host(struct op_context *ctx, struct dat *dat, struct error *err) {
  (void)ctx;
  return move(dat, SPACE_HOST, err);
}

static void device_release(struct op_context *ctx, struct dat *dat) {
  (void)ctx;
  free(dat->replicas[SPACE_DEVICE].memory);
  device.made--;
}

static const struct mover mover = {
    .make = device_make, .to_device = to_device, .to_host = to_host, .release = device_release};

/* ---- one dat ----------------------------------------------------------------------------------*/

struct world {
  struct op_context *ctx;
  struct handles *handles;
  struct context_start start;
  struct dat *dat;
  struct model model;
  struct random random;
  struct error err;
};

/* Where the value of the user's row and component is in a replica. */
static int *value_at(const struct world *w, enum space space, int row, int component) {
  const struct dat *d = w->dat;
  const struct set *s = d->set;
  long e = s->from_user ? s->from_user[row] : row;
  int *memory = d->replicas[space].memory;
  return memory + (d->soa ? component * d->stride + e : e * DIM + component);
}

static void open_world(struct world *w, const char *type, uint64_t seed) {
  char *argv[] = {"model", "OP2_BACKEND=native"};
  memset(w, 0, sizeof *w);
  memset(&device, 0, sizeof device);
  w->random = random_stream(seed, 0);
  w->handles = handles_new();
  assert_int_equal(comm_open_alone(&w->start.comm, &w->err), OP_OK);
  w->start.argc = 2;
  w->start.argv = argv;
  assert_int_equal(context_open(&w->ctx, w->handles, &w->start, &w->err), OP_OK);
  w->ctx->mover = &mover;
  struct set *set = mesh_set(w->ctx, ROWS, "rows", &w->err);
  for (int i = 0; i < VALUES; i++)
    w->model.truth[i] = i;
  w->dat = data_new(w->ctx, set, DIM, type, w->model.truth, "x", false, &w->err);
  assert_non_null(w->dat);
  w->model.fresh[SPACE_HOST] = true;
}

static void close_world(struct world *w) {
  context_close(w->ctx);
  comm_close(w->start.comm);
  handles_free(w->handles);
  error_free(&w->err);
  assert_int_equal(device.made, 0); /* what was made was released */
}

static void check_counts(const struct world *w) {
  assert_int_equal(device.moves[SPACE_HOST], w->model.moves[SPACE_HOST]);
  assert_int_equal(device.moves[SPACE_DEVICE], w->model.moves[SPACE_DEVICE]);
  const long long bytes = VALUES * (long long)sizeof(int);
  assert_int_equal(w->ctx->counters->bytes_to_device, bytes * w->model.moves[SPACE_DEVICE]);
  assert_int_equal(w->ctx->counters->bytes_from_device, bytes * w->model.moves[SPACE_HOST]);
}

static void check_values(const struct world *w, enum space space) {
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < DIM; c++)
      assert_int_equal(*value_at(w, space, r, c), w->model.truth[r * DIM + c]);
}

/* A loop in a space: it needs the newest values, sees them, and may write some. */
static void loop(struct world *w, enum space space, bool writes) {
  assert_int_equal(dat_need(w->ctx, w->dat, space, REGION_OWNED, &w->err), OP_OK);
  model_need(&w->model, space);
  check_values(w, space);
  if (!writes)
    return;
  for (int n = 0; n < 5; n++) {
    int r = random_below(&w->random, ROWS), c = random_below(&w->random, DIM);
    w->model.truth[r * DIM + c] = *value_at(w, space, r, c) = (int)random_next(&w->random);
  }
  dat_wrote(w->dat, space, REGION_OWNED);
  model_wrote(&w->model, space);
}

static void fetch(struct world *w) {
  int out[VALUES], low = random_below(&w->random, ROWS), high = low + random_below(&w->random, ROWS - low);
  assert_int_equal(data_fetch(w->ctx, w->dat, out, low, high, &w->err), OP_OK);
  model_need(&w->model, SPACE_HOST);
  assert_memory_equal(out, w->model.truth + low * DIM, (size_t)(high - low + 1) * DIM * sizeof(int));
}

static void put(struct world *w) {
  for (int i = 0; i < VALUES; i++)
    w->model.truth[i] = (int)random_next(&w->random);
  assert_int_equal(data_put(w->ctx, w->dat, w->model.truth, &w->err), OP_OK);
  model_wrote(&w->model, SPACE_HOST);
}

/* A move that fails leaves everything as it was, and is made the next time. */
static void fail_once(struct world *w) {
  enum space space = random_chance(&w->random, 50) ? SPACE_HOST : SPACE_DEVICE;
  if (w->model.fresh[space])
    return;
  device.broken = true;
  int code = dat_need(w->ctx, w->dat, space, REGION_OWNED, &w->err);
  device.broken = false;
  assert_int_not_equal(code, OP_OK);
  loop(w, space, false);
}

TEST(random_sequences) {
  for (uint64_t seed = 0; seed < 400; seed++) {
    struct world w;
    open_world(&w, seed % 2 ? "int" : "int:soa", seed);
    for (int step = 0; step < 60; step++) {
      int choice = random_below(&w.random, 9);
      if (choice < 6)
        loop(&w, choice % 2 ? SPACE_HOST : SPACE_DEVICE, choice < 4);
      else if (choice == 6)
        fetch(&w);
      else if (choice == 7)
        put(&w);
      else
        fail_once(&w);
      check_counts(&w);
    }
    close_world(&w);
  }
}

TEST(a_second_need_moves_nothing) {
  struct world w;
  open_world(&w, "int", 1);
  for (int i = 0; i < 3; i++)
    loop(&w, SPACE_DEVICE, false);
  assert_int_equal(device.moves[SPACE_DEVICE], 1);
  loop(&w, SPACE_DEVICE, true);
  for (int i = 0; i < 3; i++)
    fetch(&w);
  assert_int_equal(device.moves[SPACE_HOST], 1);
  /* A put makes the device old, and needs nothing from it. */
  loop(&w, SPACE_DEVICE, true);
  put(&w);
  loop(&w, SPACE_HOST, false);
  assert_int_equal(device.moves[SPACE_HOST], 1);
  close_world(&w);
}

TEST(the_device_is_used_only_when_needed) {
  struct world w;
  open_world(&w, "int", 2);
  for (int i = 0; i < 10; i++) {
    loop(&w, SPACE_HOST, true);
    fetch(&w);
  }
  assert_int_equal(device.made, 0);
  assert_int_equal(device.moves[SPACE_DEVICE] + device.moves[SPACE_HOST], 0);
  close_world(&w);
}

TEST(empty_regions_are_never_old) {
  struct world w;
  open_world(&w, "int", 3);
  loop(&w, SPACE_DEVICE, true);
  for (int region = REGION_EXEC; region < REGIONS; region++)
    assert_int_equal(dat_need(w.ctx, w.dat, SPACE_HOST, (enum region)region, &w.err), OP_OK);
  check_counts(&w);
  close_world(&w);
}

int main(void) {
  return run_these(NULL, NULL);
}
