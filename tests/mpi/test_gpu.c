/* Halos of ranks on GPUs (stand-ins). LABEL "right": a few rounds over cells in a row, spread over the ranks, of
 * which two each are needed by the neighbours, give the numbers of one process, and in a steady state nothing but
 * messages moves between host and device, nothing at all where MPI is given the device's memory, or ranks write into each other's;
 * then the host waits for no exchange, either. LABEL "refused": where one cannot have the other's memory, MPI brings the messages.
 * LABEL "told": one whose device fails is heard of by one whose device waits for it. Other LABELs: with that mistake planted in what
 * packs messages, the run fails or its numbers are wrong. */
#include <math.h>
#include <unistd.h>

#include "api/api.h"
#include "backend/gpu/cuda/cuda.h"
#include "backend/gpu/gpu.h"
#include "check.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"

enum { CELLS = 600, REACH = 2, FACES = CELLS - REACH, ROUNDS = 6, DIM = 3 };

OP_KERNEL_DEF(
    flux, void flux(const double *a, const double *b, double *da, double *db) {
      for (int k = 0; k < 3; k++) {
        const double f = (k + 1) * (a[k] - b[k]);
        da[k] -= f;
        db[k] += f;
      }
    })
OP_KERNEL_DEF(
    update, void update(double *q, double *dq, double *sum) {
      for (int k = 0; k < 3; k++) {
        q[k] += dq[k];
        dq[k] = 0;
        *sum += q[k] * (k + 1);
      }
    })

OP_KERNEL_DEF(
    renew, void renew(double *q, double *dq) {
      for (int k = 0; k < 3; k++) {
        q[k] += dq[k];
        dq[k] = 0;
      }
    })

OP_KERNEL_DEF(
    apart,
    void apart(const double *a, const double *b, double *sum) { *sum += (a[0] - b[0]) * (a[1] + b[2]); })

static void expected(double *q, double *sum) {
  static double d[CELLS * DIM];
  for (int e = 0; e < FACES; e++)
    for (int k = 0; k < DIM; k++) {
      const double f = (k + 1) * (q[DIM * e + k] - q[DIM * (e + REACH) + k]);
      d[DIM * e + k] -= f;
      d[DIM * (e + REACH) + k] += f;
    }
  *sum = 0;
  for (int i = 0; i < CELLS * DIM; i++) {
    q[i] += d[i];
    d[i] = 0;
    *sum += q[i] * (i % DIM + 1);
  }
}

struct chain {
  op_set cells, faces;
  op_map ends;
  op_dat q, dq;
};

/* Rank 0 declares everything; block partitioning spreads it. */
static void declare(struct chain *c, const double *q) {
  static int table[2 * FACES];
  const int root = op_is_root();
  for (int e = 0; e < FACES; e++) {
    table[2 * e] = e;
    table[2 * e + 1] = e + REACH;
  }
  c->cells = op_decl_set(root ? CELLS : 0, "cells");
  c->faces = op_decl_set(root ? FACES : 0, "faces");
  c->ends = op_decl_map(c->faces, c->cells, 2, table, "ends");
  c->q = op_decl_dat(c->cells, DIM, "double", root ? q : NULL, "q");
  c->dq = op_decl_dat(c->cells, DIM, "double", NULL, "dq");
  check(op_partition("block", "", c->cells, c->ends, NULL) == 0);
}

/* The first rank comes late: what others do without waiting for it is wrong. Where a mistake is to be found, very late. */
static unsigned lateness = 20000;
static void come_late(void) {
  if (op_rank() == 0)
    usleep(lateness);
}

static int flux_of(const struct chain *c) {
  return op_par_loop(OP_KERNEL_OF(flux), "flux", c->faces,
                     op_arg_dat(c->q, 0, c->ends, DIM, "double", OP_READ),
                     op_arg_dat(c->q, 1, c->ends, DIM, "double", OP_READ),
                     op_arg_dat(c->dq, 0, c->ends, DIM, "double", OP_INC),
                     op_arg_dat(c->dq, 1, c->ends, DIM, "double", OP_INC));
}

static int round_of(const struct chain *c, double *sum) {
  come_late();
  const int code = flux_of(c);
  *sum = 0;
  return code ? code
              : op_par_loop(OP_KERNEL_OF(update), "update", c->cells,
                            op_arg_dat(c->q, -1, OP_ID, DIM, "double", OP_RW),
                            op_arg_dat(c->dq, -1, OP_ID, DIM, "double", OP_RW),
                            op_arg_gbl(sum, 1, "double", OP_INC));
}

enum { RESULT = 16 }; /* bytes of what `update` returns, with what aligns it */

/* The bytes that a round moves between host and device beside that result. */
static void check_traffic(const op_counters_t *before, const op_counters_t *after, bool direct) {
  const long long sent = after->bytes_sent - before->bytes_sent,
                  out = after->bytes_from_device - before->bytes_from_device - RESULT,
                  in = after->bytes_to_device - before->bytes_to_device;
  check(sent > 0 || comm_alone(api_context()->comm));
  check(out == (direct ? 0 : sent));
  check(direct || comm_alone(api_context()->comm) ? in == 0 : in > 0);
}

/* True if every round was as in one process. */
static bool run(bool direct, bool right) {
  static double q[CELLS * DIM], want[CELLS * DIM];
  struct chain c;
  bool good = true;
  for (int i = 0; i < CELLS * DIM; i++)
    want[i] = q[i] = i * 7 % 11;
  declare(&c, q);
  for (int r = 0; good && r < ROUNDS; r++) {
    double sum, wanted;
    const op_counters_t before = *op_counters();
    expected(want, &wanted);
    good = round_of(&c, &sum) == 0 && sum == wanted;
    if (good && right && r > 1)
      check_traffic(&before, op_counters(), direct);
  }
  if (good && op_fetch_data(c.q, q) == 0 && op_is_root())
    good = memcmp(q, want, sizeof q) == 0;
  return good;
}

/* No loop has a result, so that ranks are as far apart as exchanges let them; and nobody waits for a device. */
static void run_without_results(struct gpu *cuda) {
  static double q[CELLS * DIM], want[CELLS * DIM], sum;
  struct chain c;
  for (int i = 0; i < CELLS * DIM; i++)
    want[i] = q[i] = i * 5 % 13;
  declare(&c, q);
  op_counters_t before = *op_counters();
  long long direct = 0;
  for (int r = 0; r < ROUNDS; r++) {
    expected(want, &sum);
    if (r == 2) {
      before = *op_counters();
      direct = cuda->direct;
    }
    check(flux_of(&c) == 0);
    come_late();
    check(op_par_loop(OP_KERNEL_OF(renew), "renew", c.cells, op_arg_dat(c.q, -1, OP_ID, DIM, "double", OP_RW),
                      op_arg_dat(c.dq, -1, OP_ID, DIM, "double", OP_RW)) == 0);
  }
  check(op_counters()->exchanges - before.exchanges == ROUNDS - 2);
  check(op_counters()->waits == before.waits && cuda->direct - direct == ROUNDS - 2);
  check(op_fetch_data(c.q, q) == 0);
  check(!op_is_root() || memcmp(q, want, sizeof q) == 0);
}

/* A loop needs the same rows of others by two maps: they come twice, and are never unpacked twice at once. */
static void run_by_two_maps(void) {
  static double q[CELLS * DIM], sum, wanted;
  static int table[2 * FACES];
  struct chain c;
  for (int i = 0; i < CELLS * DIM; i++)
    q[i] = i * 7 % 11;
  for (int e = 0; e < FACES; e++) {
    table[2 * e] = e + REACH;
    table[2 * e + 1] = e + 1;
    wanted += (q[DIM * e] - q[DIM * (e + REACH)]) * (q[DIM * e + 1] + q[DIM * (e + REACH) + 2]);
  }
  declare(&c, q);
  op_map back = op_decl_map(c.faces, c.cells, 2, table, "back");
  check(back &&
        op_par_loop(OP_KERNEL_OF(apart), "apart", c.faces, op_arg_dat(c.q, 0, c.ends, DIM, "double", OP_READ),
                    op_arg_dat(c.q, 0, back, DIM, "double", OP_READ),
                    op_arg_gbl(&sum, 1, "double", OP_INC)) == 0);
  check(sum == wanted);
}

/* ---- mistakes ---- */

/* In the text of the kernels, by a script that the stand-in for NVRTC runs over it. */
static const struct {
  const char *label, *edit;
} mistakes[] = {
    {"right", ""},
    {"more",
     "s/\\(long long\\)count \\* dim;/(long long)(count + 1) * dim;/"}, /* one row more than there are */
    {"overlap", "s/rows\\[i\\]/rows[i \\/ dim + i % dim]/"},            /* the rows of the messages */
    {"early", ""},   /* MPI is given messages before they are packed */
    {"beside", ""},  /* what copies messages and what moves rows do not wait for one another */
    {"missing", ""}, /* nobody waits for flags */
    {"soon", ""},    /* flags do not wait for what packs */
    {"refused", ""},
    {"told", ""}};
enum { RIGHT, EARLY = 3, BESIDE, MISSING, SOON, REFUSED, TOLD, LABELS };

/* The driver, but that nobody waits for the messages that it packs. */
static struct gpu_driver hasty;

static int wait_hastily(void *self) {
  (void)self;
  return 0;
}

static int wait_for_no_event(cuda_stream stream, cuda_event event, unsigned flags) {
  (void)stream, (void)event, (void)flags;
  return 0;
}

static int (*set_flag)(cuda_stream stream, cuda_address at, unsigned value, unsigned flags);
static cuda_stream another;

static int await_nothing(cuda_stream stream, cuda_address at, unsigned value, unsigned flags) {
  (void)stream, (void)at, (void)value, (void)flags;
  return 0;
}

static int set_soon(cuda_stream stream, cuda_address at, unsigned value, unsigned flags) {
  (void)stream;
  const int code = set_flag(another, at, value, flags);
  come_late();
  return code;
}

static int refuse(cuda_address *out, struct gpu_handle handle, unsigned flags) {
  (void)out, (void)handle, (void)flags;
  return 217;
}

static int fail(cuda_stream stream, cuda_address at, unsigned value, unsigned flags) {
  (void)stream, (void)at, (void)value, (void)flags;
  return 719;
}

static void plant(int which, struct gpu *cuda) {
  struct cuda_driver *d = &((struct cuda *)cuda->self)->driver;
  hasty = *cuda->driver;
  hasty.message_wait = wait_hastily;
  set_flag = d->flag_set;
  lateness = which == MISSING || which == SOON ? 400000 : lateness;
  if (which == EARLY)
    cuda->driver = &hasty;
  if (which == BESIDE)
    d->stream_wait_event = wait_for_no_event;
  if (which == MISSING)
    d->flag_await = await_nothing;
  if (which == SOON && d->stream_create(&another, 1) == 0)
    d->flag_set = set_soon;
  if (which == REFUSED && op_rank() == 0)
    d->peer_take = refuse;
}

/* The first rank waits for the second one, whose device fails in the third round. */
static void run_told(struct gpu *cuda) {
  static double q[CELLS * DIM];
  struct chain c;
  double sum;
  int code = 0;
  declare(&c, q);
  for (int r = 0; !code && r < ROUNDS; r++) {
    if (r == 2 && op_rank() == 1)
      ((struct cuda *)cuda->self)->driver.flag_set = fail;
    code = round_of(&c, &sum);
    check(code == (r < 2 ? OP_OK : OP_ERR_DEVICE));
  }
  check(op_rank() == 1 || strstr(op_last_error()->message, "rank 1: "));
}

int main(int argc, char **argv) {
  int mistake = 0;
  check(argc >= 2);
  while (mistake < LABELS && strcmp(mistakes[mistake].label, argv[1]) != 0)
    mistake++;
  check(mistake < LABELS);
  setenv("STANDIN_EDIT", mistakes[mistake].edit, 1);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(op_init(argc, argv, 0) == 0);
  check(op_rank() >= 0 && api_context()->backend == &backend_cuda);
  struct gpu *cuda = gpu_of(api_context(), space_of_device(0));
  plant(mistake, cuda);
  if (mistake == TOLD) {
    run_told(cuda);
    op_exit();
    return 0;
  }
  const bool good = run(cuda->gpu_to_mpi || (cuda->shares && mistake != REFUSED), mistake == RIGHT);
  if (mistake != RIGHT && mistake != REFUSED) {
    /* Ranks have gone different ways: the job ends here. */
    fprintf(stderr, "rank %d: %s: %s\n", op_rank(), mistakes[mistake].label, good ? "not found" : "found");
    _Exit(EXIT_FAILURE);
  }
  check(good && (mistake == RIGHT || cuda->direct == 0));
  if (cuda->shares && mistake == RIGHT)
    run_without_results(cuda);
  run_by_two_maps();
  return op_exit();
}
