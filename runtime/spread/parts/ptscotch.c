/* The plugin for PT-Scotch, a graph partitioner that runs on the ranks themselves. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <ptscotch.h>

#include "base/list.h"
#include "spread/parts/graph.h"

struct scotch_arrays {
  struct arrays all;
  SCOTCH_Num *start, *neighbours, *weights, *part, *speeds;
};

/* PT-Scotch adds all weights up in its own integers. */
static int divisor_of_weights(struct comm *comm, const struct graph *graph, long long *divisor,
                              struct error *err) {
  const double most = sizeof(SCOTCH_Num) < sizeof(long long) ? INT_MAX / 2 : (double)(LLONG_MAX / 2);
  double sum = 0;
  for (long i = 0; graph->weights && i < graph->size; i++)
    sum += (double)graph->weights[i];
  int code = comm->table->reduce_all(comm, &sum, 1, COMM_DOUBLE, COMM_SUM, err);
  *divisor = (long long)(sum / most) + 1;
  return code;
}

static SCOTCH_Num scaled(long long weight, long long divisor) {
  return weight / divisor > 0 ? (SCOTCH_Num)(weight / divisor) : 1;
}

static int copy_graph(const struct graph *graph, long long divisor, int parts, const int *speeds,
                      struct scotch_arrays *a, struct error *err) {
  const size_t size = (size_t)graph->size, edges = (size_t)graph->start[size];
  a->start = arrays_add(&a->all, size + 1, sizeof *a->start);
  a->neighbours = arrays_add(&a->all, edges, sizeof *a->neighbours);
  a->part = arrays_add(&a->all, size, sizeof *a->part);
  a->weights = graph->weights ? arrays_add(&a->all, size, sizeof *a->weights) : NULL;
  a->speeds = speeds ? arrays_add(&a->all, (size_t)parts, sizeof *a->speeds) : NULL;
  if (a->all.failed)
    return error_memory(err, "the graph for PT-Scotch", edges * sizeof *a->neighbours);
  for (size_t i = 0; i <= size; i++)
    a->start[i] = (SCOTCH_Num)graph->start[i];
  for (size_t i = 0; i < edges; i++)
    a->neighbours[i] = (SCOTCH_Num)graph->neighbours[i];
  for (int p = 0; speeds && p < parts; p++)
    a->speeds[p] = speeds[p];
  for (size_t i = 0; a->weights && i < size; i++)
    a->weights[i] = scaled(graph->weights[i], divisor);
  return OP_OK;
}

static int failed(const char *call, struct error *err) {
  return error_set(err, OP_ERR_MPI, "op_partition: PT-Scotch failed in %s; its own message is on stderr",
                   call);
}

/* Parts that are to weigh differently are processors of different speeds, as far from each other as all. */
static int part_bound(SCOTCH_Dgraph *graph, int parts, const SCOTCH_Num *speeds, SCOTCH_Strat *strategy,
                      SCOTCH_Num *part, struct error *err) {
  SCOTCH_Arch arch;
  if (!speeds)
    return SCOTCH_dgraphPart(graph, parts, strategy, part) ? failed("SCOTCH_dgraphPart", err) : OP_OK;
  if (SCOTCH_archInit(&arch))
    return failed("SCOTCH_archInit", err);
  int code = OP_OK;
  if (SCOTCH_archCmpltw(&arch, parts, speeds))
    code = failed("SCOTCH_archCmpltw", err);
  else if (SCOTCH_dgraphMap(graph, &arch, strategy, part))
    code = failed("SCOTCH_dgraphMap", err);
  SCOTCH_archExit(&arch);
  return code;
}

/* PT-Scotch makes threads of its own unless it is told not to (Debian's: two for each rank), binds them to CPUs,
 * and lets two of them call MPI at once without asking MPI whether it allows that. The library begins an MPI that
 * does not. */
static int part_by_one_thread(SCOTCH_Dgraph *dgraph, int parts, const SCOTCH_Num *speeds, SCOTCH_Num *part,
                              struct error *err) {
  SCOTCH_Context context;
  SCOTCH_Dgraph bound;
  SCOTCH_Strat strategy;
  if (SCOTCH_contextInit(&context))
    return failed("SCOTCH_contextInit", err);
  int code = OP_OK;
  if (SCOTCH_contextThreadSpawn(&context, 1, NULL))
    code = failed("SCOTCH_contextThreadSpawn", err);
  else if (SCOTCH_contextBindDgraph(&context, dgraph, &bound))
    code = failed("SCOTCH_contextBindDgraph", err);
  else if (SCOTCH_stratInit(&strategy))
    code = failed("SCOTCH_stratInit", err);
  else {
    code = part_bound(&bound, parts, speeds, &strategy, part, err);
    SCOTCH_stratExit(&strategy);
  }
  SCOTCH_contextExit(&context);
  return code;
}

static int part_arrays(MPI_Comm comm, const struct graph *graph, struct scotch_arrays *a, int parts,
                       struct error *err) {
  SCOTCH_Dgraph dgraph;
  const SCOTCH_Num size = (SCOTCH_Num)graph->size, edges = a->start[graph->size];
  if (SCOTCH_dgraphInit(&dgraph, comm))
    return failed("SCOTCH_dgraphInit", err);
  SCOTCH_randomReset(); /* the same parts in every run */
  const int code = SCOTCH_dgraphBuild(&dgraph, 0, size, size, a->start, NULL, a->weights, NULL, edges, edges,
                                      a->neighbours, NULL, NULL)
                       ? failed("SCOTCH_dgraphBuild", err)
                       : part_by_one_thread(&dgraph, parts, a->speeds, a->part, err);
  SCOTCH_dgraphExit(&dgraph);
  return code;
}

/* Seconds that a rank on which PT-Scotch failed waits for those on which it did not, if OP2_HANG does not say
 * less: they may wait inside it for this rank. */
static const double patience = 20;

static void tell_waiting(const struct comm *comm, double waited) {
  fprintf(stderr,
          "op2jit: rank %d: warning: has waited for %.0f s in op_partition (PT-Scotch); another rank has not "
          "come "
          "back from it\n",
          comm->rank, waited);
}

/* PT-Scotch's ranks do not tell each other that they failed. Those that never come back from it end with the job. */
static void come_back(struct comm *comm, bool good, const struct error *err) {
  int mine = !good, worst = 0, done = 0;
  MPI_Request request;
  const double longest = comm->hang > 0 && comm->hang < patience ? comm->hang : patience;
  double waited = 0;
  bool told = false;
  int status = MPI_Iallreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_Comm_f2c(comm->fortran), &request);
  while (status == MPI_SUCCESS && (status = MPI_Test(&request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS &&
         !done) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    waited += 1e-3;
    if (comm->hang > 0 && waited > comm->hang && !told) {
      tell_waiting(comm, waited);
      told = true;
    }
    if (mine && waited > longest) {
      fprintf(
          stderr,
          "op2jit: rank %d: error: %s; other ranks wait for this one inside PT-Scotch and cannot be told, "
          "so the job ends; use \"rcb\" or \"inertial\"\n",
          comm->rank, error_message(err));
      comm->table->abort(comm, OP_ERR_MPI);
    }
  }
}

static int check_sizes(struct comm *comm, const struct graph *graph, struct error *err) {
  /* PT-Scotch doubles some numbers. */
  const long long most = sizeof(SCOTCH_Num) < sizeof(long long) ? INT_MAX / 2 : LLONG_MAX / 2;
  long long links = graph->start[graph->size];
  const int code = comm->table->reduce_all(comm, &links, 1, COMM_LLONG, COMM_SUM, err);
  if (code || (graph->total <= most && links <= most))
    return code;
  return error_set(err, OP_ERR_SIZE,
                   "op_partition: this PT-Scotch counts to %lld, and the set has %lld elements with %lld "
                   "neighbours; use a build of it with 64-bit integers, or \"rcb\"",
                   most, graph->total, links);
}

/* No rank begins without the others. */
static int begin_together(struct comm *comm, int code, bool *all, struct error *err) {
  long long failures = code != OP_OK;
  const int status = comm->table->reduce_all(comm, &failures, 1, COMM_LLONG, COMM_MAX, err);
  *all = !status && !failures;
  return code ? code : status;
}

/* A communicator of its own: what it leaves there after a failure is nobody else's. */
static int part_apart(struct comm *comm, const struct graph *graph, struct scotch_arrays *a, int parts,
                      struct error *err) {
  MPI_Comm own;
  if (MPI_Comm_dup(MPI_Comm_f2c(comm->fortran), &own) != MPI_SUCCESS)
    return error_set(err, OP_ERR_MPI, "op_partition: MPI_Comm_dup failed");
  const int code = part_arrays(own, graph, a, parts, err);
  come_back(comm, !code, err);
  MPI_Comm_free(&own);
  return code;
}

static int part(struct comm *comm, const struct graph *graph, int parts, const int *speeds, int *part,
                struct error *err) {
  struct scotch_arrays a = {0};
  long long divisor = 1;
  bool all = false;
  int code = check_sizes(comm, graph, err);
  if (code)
    return code;
  code = divisor_of_weights(comm, graph, &divisor, err);
  if (!code)
    code = begin_together(comm, copy_graph(graph, divisor, parts, speeds, &a, err), &all, err);
  if (all)
    code = part_apart(comm, graph, &a, parts, err);
  for (long i = 0; all && !code && i < graph->size; i++)
    part[i] = (int)a.part[i];
  arrays_free(&a.all);
  return code;
}

__attribute__((visibility("default"))) extern const struct graph_partitioner op2jit_graph_partitioner;
const struct graph_partitioner op2jit_graph_partitioner = {
    .version = GRAPH_PARTITIONER_VERSION, .name = "ptscotch", .part = part};
