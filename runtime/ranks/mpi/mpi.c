/* The table, and the life of MPI in this process. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "exec/team_quota.h"
#include "post.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#define EXPORTED __attribute__((visibility("default")))
extern EXPORTED const struct comm_table op2jit_comm_table;

/* ---- MPI itself ---- */

/* MPI can begin once per process, so who began it has to remember that until the process ends. */
static struct {
  pid_t begun_by; /* 0: not begun here */
  int open;       /* comms */
} life;

/* A process that ends with a comm open ends because of an error; to wait for the others then would hang the job, which
 * the launcher ends. A forked child is no rank. */
static void end_mpi(void) {
  int ended = 0;
  if (life.open == 0 && life.begun_by == getpid() && MPI_Finalized(&ended) == MPI_SUCCESS && !ended)
    MPI_Finalize();
}

static int begin_mpi(struct error *err) {
  int begun = 0, ended = 0, level = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (ended)
    return error_set(err, OP_ERR_MPI, "MPI has ended in this process; call op_init before MPI_Finalize");
  if (begun)
    return OP_OK;
  int code = mpi_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread", err);
  if (code)
    return code;
  life.begun_by = getpid();
  atexit(end_mpi);
  return OP_OK;
}

/* ---- one comm ---- */

static void table_close(struct comm *c) {
  if (!c)
    return;
  struct mpi_state *s = mpi_state(c);
  int ended = 0;
  MPI_Finalized(&ended); /* a program that began MPI may end it before op_exit */
  /* A call that some ranks began and others never will stays with MPI, and so does the memory for its messages. */
  const bool whole = !ended && !mpi_watch_broken(c);
  for (int i = 0; whole && i < 3; i++)
    if (s->operations[i] != MPI_OP_NULL)
      MPI_Op_free(&s->operations[i]);
  if (ended || whole)
    free(s->room);
  arrays_free(&s->tested.arrays);
  mpi_watch_drop(s->watch, ended != 0);
  mpi_watch_drop(s->around, ended != 0);
  if (whole && s->mpi != MPI_COMM_NULL)
    MPI_Comm_free(&s->mpi);
  free(s);
  life.open--;
}

/* The whole job: MPICH's MPI_Abort of a part waits for the part. The launcher ends it where MPI has ended here. */
static void table_abort(struct comm *c, int status) {
  int ended = 0;
  (void)c;
  if (MPI_Finalized(&ended) == MPI_SUCCESS && !ended)
    MPI_Abort(MPI_COMM_WORLD, status);
  _exit(status);
}

/* For what small collectives bring, in bytes, and for what each rank brings to them. */
enum { ROOM = 1 << 14, ROOM_OF_RANK = 256 };

/* Takes the communicator over. */
static int wrap(MPI_Comm mpi, double hang, struct comm **out, struct error *err) {
  struct mpi_state *s = array_new(1, sizeof *s);
  if (!s) {
    MPI_Comm_free(&mpi);
    return error_memory(err, "the comm", sizeof *s);
  }
  life.open++;
  *s = (struct mpi_state){.comm = {.table = &op2jit_comm_table,
                                   .node_size = 1,
                                   .fortran = (int)MPI_Comm_c2f(mpi),
                                   .hang = hang,
                                   .state = s},
                          .mpi = mpi,
                          .operations = {MPI_OP_NULL, MPI_OP_NULL, MPI_OP_NULL}};
  MPI_Comm_set_errhandler(mpi, MPI_ERRORS_RETURN);
  MPI_Comm_rank(mpi, &s->comm.rank);
  MPI_Comm_size(mpi, &s->comm.size);
  MPI_Comm_size(MPI_COMM_WORLD, &s->comm.world);
  s->room_bytes = ROOM + (size_t)s->comm.size * ROOM_OF_RANK;
  s->room = array_new(s->room_bytes, 1);
  int code = s->room ? mpi_make_operations(s->operations, err) : error_memory(err, "the comm", s->room_bytes);
  if (code)
    table_close(&s->comm);
  else
    *out = &s->comm;
  return code;
}

/* ---- the ranks of this machine ---- */

static int look_at_node(struct comm *c, struct error *err) {
  MPI_Comm node;
  struct allowance mine;
  int code =
      mpi_check(MPI_Comm_split_type(mpi_state(c)->mpi, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &node),
                "MPI_Comm_split_type", err);
  if (code)
    return code;
  MPI_Comm_rank(node, &c->node_rank);
  MPI_Comm_size(node, &c->node_size);
  c->node = c->rank;
  allowance_read(&mine);
  struct allowance *all = array_new((size_t)c->node_size, sizeof *all);
  code =
      all ? mpi_check(MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, node),
                      "MPI_Allgather", err)
          : error_memory(err, "the CPUs of the ranks", (size_t)c->node_size * sizeof *all);
  if (!code)
    code = mpi_check(MPI_Bcast(&c->node, 1, MPI_INT, 0, node), "MPI_Bcast", err);
  for (int r = 0; all && !code && r < c->node_size; r++) {
    const bool equal = CPU_EQUAL(&all[r].cpus, &mine.cpus) != 0;
    c->alike += equal;
    c->place += equal && r < c->node_rank;
  }
  if (all && !code)
    c->share = allowance_share(&mine, c->node_size, all, &mpi_state(c)->crowded);
  free(all);
  MPI_Comm_free(&node);
  return code;
}

/* ---- GPUs ---- */

/* Ask the MPI in the process, which may be another one than this file was compiled with. */
static bool takes_gpu_memory(const struct comm *c) {
  (void)c;
#if defined(OMPI_HAVE_MPI_EXT_CUDA)
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int flag = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &flag) == MPI_SUCCESS && flag;
#else
  return false;
#endif
}

/* ---- making comms ---- */

/* Gathers that are begun, and waited for by their end. Each has memory of its own, which stays as long as MPI may write
 * to it. */
struct comm_gather {
  MPI_Request request;
  long long number; /* of what all ranks begin on the comm */
  unsigned char all[];
};

static int mpi_gather_begin(struct comm *c, const void *mine, size_t bytes, struct comm_gather **out,
                            struct error *err) {
  struct comm_gather *g = NULL;
  size_t room;
  *out = NULL;
  if (size_mul((size_t)c->size, bytes, &room) && size_add(room, sizeof *g, &room))
    g = malloc(room);
  if (!g)
    return error_memory(err, "what ranks bring together", (size_t)c->size * bytes);
  int code = mpi_watch_begin(c, err);
  if (!code) {
    g->number = mpi_watch_number(c);
    memcpy(g->all + (size_t)c->rank * bytes, mine, bytes);
    code = mpi_check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, g->all, (int)bytes, MPI_BYTE,
                                    mpi_state(c)->mpi, &g->request),
                     "MPI_Iallgather", err);
  }
  if (code)
    free(g);
  else
    *out = g;
  return code;
}

static int mpi_gather_test(struct comm *c, struct comm_gather *g, bool *done, struct error *err) {
  int there = 0;
  (void)c;
  const int status = MPI_Test(&g->request, &there, MPI_STATUS_IGNORE);
  *done = there != 0;
  return mpi_check(status, "MPI_Test", err);
}

static int mpi_gather_end(struct comm *c, struct comm_gather *g, const unsigned char **all,
                          struct error *err) {
  *all = g->all;
  return mpi_wait_for(c, &g->request, 1, "results", g->number, err);
}

static void mpi_gather_free(struct comm *c, struct comm_gather *g) {
  (void)c;
  if (g && g->request == MPI_REQUEST_NULL)
    free(g);
}

static int table_open(struct comm **out, const struct comm_start *start, struct error *err) {
  MPI_Comm mpi;
  int code = begin_mpi(err);
  if (code)
    return code;
  code = mpi_check(MPI_Comm_dup(start->given ? MPI_Comm_f2c((MPI_Fint)start->fortran) : MPI_COMM_WORLD, &mpi),
                   "MPI_Comm_dup", err);
  if (!code)
    code = wrap(mpi, start->hang, out, err);
  if (code)
    return code;
  code = mpi_watch_new(*out, err);
  if (!code)
    code = look_at_node(*out, err);
  if (code) {
    table_close(*out);
    *out = NULL;
  }
  return code;
}

static int table_split(struct comm *c, int colour, struct comm **out, struct error *err) {
  MPI_Comm mpi = MPI_COMM_NULL;
  *out = NULL;
  /* MPI_Comm_split waits in MPI's own loop: let nobody be late there. */
  int code = mpi_barrier(c, err);
  if (!code)
    code = mpi_check(MPI_Comm_split(mpi_state(c)->mpi, colour < 0 ? MPI_UNDEFINED : colour, c->rank, &mpi),
                     "MPI_Comm_split", err);
  if (code || mpi == MPI_COMM_NULL)
    return code;
  code = wrap(mpi, c->hang, out, err);
  if (!code) {
    (*out)->where = c->where;
    mpi_state(*out)->crowded = mpi_state(c)->crowded;
    mpi_watch_share(mpi_state(c)->watch, *out);
    mpi_watch_around(c, *out);
  }
  return code;
}

const struct comm_table op2jit_comm_table = {
    .version = COMM_TABLE_VERSION,
    .name = OP2JIT_MPI_NAME,
    .open = table_open,
    .barrier = mpi_barrier,
    .broadcast = mpi_broadcast,
    .reduce_all = mpi_reduce_all,
    .scan_before = mpi_scan_before,
    .gather_all = mpi_gather_all,
    .gather_begin = mpi_gather_begin,
    .gather_test = mpi_gather_test,
    .gather_end = mpi_gather_end,
    .gather_free = mpi_gather_free,
    .exchange = mpi_exchange,
    .post = mpi_post,
    .send_init = mpi_send_init,
    .receive_init = mpi_receive_init,
    .start = mpi_start,
    .test = mpi_test,
    .wait = mpi_wait,
    .request_free = mpi_request_free,
    .start_own = mpi_start_own,
    .test_some = mpi_test_some,
    .pause = mpi_pause_own,
    .takes_gpu_memory = takes_gpu_memory,
    .split = table_split,
    .tell = mpi_watch_tell,
    .told = mpi_watch_told,
    .close = table_close,
    .abort = table_abort,
};
