/* Versions and replicas against a model of a few lines, over random sequences. Two pretended devices keep their
 * replicas in memory of their own, so that a move too few shows as old values, and a move too many is counted. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "api/life.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "mesh/handles.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "spread/exchange.h"
#include "spread/spread.h"

#include "../property/random.h"

enum { ROWS = 17, DIM = 3, VALUES = ROWS * DIM, DEVICES = 2 };

/* ---- the model --------------------------------------------------------------------------------*/

struct model {
  bool fresh[SPACES];
  int moves[SPACES]; /* expected, into this space */
  int truth[VALUES]; /* in the user's order */
};

/* Between two devices values go through the host. */
static void model_need(struct model *m, enum space s) {
  if (space_is_device(s) && !m->fresh[s])
    model_need(m, SPACE_HOST);
  m->moves[s] += !m->fresh[s];
  m->fresh[s] = true;
}

static void model_wrote(struct model *m, enum space s) {
  memset(m->fresh, 0, sizeof m->fresh);
  m->fresh[s] = true;
}

/* ---- the pretended devices --------------------------------------------------------------------*/

static struct {
  int made, moves[SPACES];
  bool broken;
} device;

static int device_make(struct op_context *ctx, enum space space, struct dat *dat, struct error *err) {
  (void)ctx;
  struct replica *r = &dat->replicas[space];
  if (device.broken)
    return error_memory(err, "a dat on the device", r->bytes);
  device.made++;
  r->bytes = dat->replicas[SPACE_HOST].bytes;
  r->memory = malloc(r->bytes);
  assert_non_null(r->memory);
  memset(r->memory, 0xee, r->bytes);
  return OP_OK;
}

static int move(struct dat *dat, enum space from, enum space to, struct error *err) {
  if (device.broken)
    return error_set(err, OP_ERR_DEVICE, "the pretended device is broken");
  device.moves[to]++;
  memcpy(dat->replicas[to].memory, dat->replicas[from].memory, dat->replicas[SPACE_HOST].bytes);
  return OP_OK;
}

static int to_device(struct op_context *ctx, enum space space, struct dat *dat, struct error *err) {
  (void)ctx;
  return move(dat, SPACE_HOST, space, err);
}

static int to_host(struct op_context *ctx, enum space space, struct dat *dat, struct error *err) {
  (void)ctx;
  return move(dat, space, SPACE_HOST, err);
}

static void device_release(struct op_context *ctx, enum space space, struct dat *dat) {
  (void)ctx;
  free(dat->replicas[space].memory);
  dat->replicas[space] = (struct replica){0};
  device.made--;
}

/* Values of globals: what a device has of one. */
static int device_value[SPACES];

static int value_to_device(struct op_context *ctx, enum space space, const struct gbl *gbl,
                           struct error *err) {
  (void)ctx, (void)err;
  device.moves[space]++;
  memcpy(&device_value[space], gbl->value, gbl->bytes);
  return OP_OK;
}

static int value_to_host(struct op_context *ctx, enum space space, struct gbl *gbl, struct error *err) {
  (void)ctx, (void)err;
  device.moves[SPACE_HOST]++;
  memcpy(gbl->value, &device_value[space], gbl->bytes);
  return OP_OK;
}

static const struct mover mover = {.make = device_make,
                                   .to_device = to_device,
                                   .to_host = to_host,
                                   .release = device_release,
                                   .value_to_device = value_to_device,
                                   .value_to_host = value_to_host};

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
  int to_devices = 0;
  for (int s = 0; s < SPACES; s++)
    assert_int_equal(device.moves[s], w->model.moves[s]);
  for (int d = 0; d < DEVICES; d++)
    to_devices += w->model.moves[space_of_device(d)];
  const long long bytes = VALUES * (long long)sizeof(int);
  assert_int_equal(w->ctx->counters->bytes_to_device, bytes * to_devices);
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
  dat_wrote(w->dat, space);
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

static enum space any_space(struct world *w) {
  const int n = random_below(&w->random, DEVICES + 1);
  return n ? space_of_device(n - 1) : SPACE_HOST;
}

/* A move that fails leaves everything as it was, and is made the next time. */
static void fail_once(struct world *w) {
  enum space space = any_space(w);
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
        loop(&w, any_space(&w), choice < 4);
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
    loop(&w, space_of_device(0), false);
  assert_int_equal(device.moves[space_of_device(0)], 1);
  loop(&w, space_of_device(0), true);
  for (int i = 0; i < 3; i++)
    fetch(&w);
  assert_int_equal(device.moves[SPACE_HOST], 1);
  /* A put makes the device old, and needs nothing from it. */
  loop(&w, space_of_device(0), true);
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
  assert_int_equal(device.moves[space_of_device(0)] + device.moves[SPACE_HOST], 0);
  close_world(&w);
}

TEST(a_second_device_is_another_space) {
  const enum space first = space_of_device(0), second = space_of_device(1);
  struct world w;
  open_world(&w, "int", 4);
  loop(&w, first, true);
  loop(&w, SPACE_HOST, true);
  assert_true(device.made == 1 && device.moves[first] == 1 && device.moves[SPACE_HOST] == 1);
  loop(&w, second, true); /* the host had the newest */
  assert_true(device.made == 2 && device.moves[second] == 1 && device.moves[SPACE_HOST] == 1);
  loop(&w, first, true); /* the second device has it */
  assert_true(device.made == 2 && device.moves[first] == 2 && device.moves[SPACE_HOST] == 2);
  assert_int_equal(w.dat->replicas[first].version[REGION_OWNED], w.dat->version);
  assert_true(w.dat->replicas[SPACE_HOST].version[REGION_OWNED] == w.dat->version - 1 &&
              w.dat->replicas[second].version[REGION_OWNED] == w.dat->version - 1);
  check_counts(&w);
  close_world(&w);
}

TEST(globals_go_from_device_to_device) {
  const enum space first = space_of_device(0), second = space_of_device(1);
  struct world w;
  open_world(&w, "int", 5);
  const int three = 3;
  struct gbl *gbl = gbl_new(w.ctx, 1, "int", &three, "g", &w.err);
  assert_non_null(gbl);
  assert_int_equal(gbl_need(w.ctx, gbl, second, &w.err), OP_OK);
  assert_true(device_value[second] == 3 && device.moves[first] == 0 && device.moves[second] == 1);
  device_value[second] = 4;
  gbl_wrote(gbl, second);
  assert_int_equal(gbl_need(w.ctx, gbl, first, &w.err), OP_OK);
  assert_true(device_value[first] == 4 && memcmp(gbl->value, &device_value[first], sizeof(int)) == 0);
  for (int s = 0; s <= DEVICES; s++)
    assert_int_equal(device.moves[s], 1);
  assert_int_equal(gbl_need(w.ctx, gbl, SPACE_HOST, &w.err), OP_OK);
  assert_int_equal(device.moves[SPACE_HOST], 1);
  close_world(&w);
}

TEST(copies_of_others_are_never_old_in_one_process) {
  struct world w;
  open_world(&w, "int", 3);
  loop(&w, space_of_device(0), true);
  assert_int_equal(dat_need(w.ctx, w.dat, SPACE_HOST, REGION_COPIES, &w.err), OP_OK);
  assert_int_equal(halo_bring(w.ctx, w.dat, SPACE_HOST, &w.err), OP_OK);
  assert_int_equal(device.moves[SPACE_HOST], 0);
  check_counts(&w);
  close_world(&w);
}

/* Ranks decide by the depth alone whether to send; where copies are is each rank's own. */
TEST(newest_copies_are_brought_from_the_space_that_has_them) {
  const enum space first = space_of_device(0), second = space_of_device(1);
  struct world w;
  open_world(&w, "int", 3);
  loop(&w, first, true);
  halo_computed(w.ctx, w.dat, first, 1);
  assert_int_equal(halo_depth(w.ctx, w.dat), 1);
  assert_true(halo_is_current(w.ctx, w.dat, NULL));
  for (int i = 0; i < 2; i++) { /* the second time they are there */
    assert_int_equal(halo_bring(w.ctx, w.dat, second, &w.err), OP_OK);
    assert_true(device.moves[SPACE_HOST] == 1 && device.moves[second] == 1);
  }
  halo_received(w.dat, first, NULL);
  assert_true(dat_is_current(w.dat, SPACE_HOST, REGION_OWNED));
  assert_int_equal(halo_bring(w.ctx, w.dat, SPACE_HOST, &w.err), OP_OK);
  assert_int_equal(device.moves[SPACE_HOST], 2);
  dat_wrote(w.dat, first);
  assert_false(halo_is_current(w.ctx, w.dat, NULL));
  assert_int_equal(halo_depth(w.ctx, w.dat), 0);
  assert_int_equal(halo_bring(w.ctx, w.dat, second, &w.err), OP_OK); /* none is the newest */
  assert_int_equal(device.moves[second], 1);
  close_world(&w);
}
