/* Setting up, counted: each rank, a thread of this process, declares its block of a grid like airfoil's with airfoil's data,
 * parts it by rcb, and fetches its data; then by inertial, from where elements are then. What a rank sends, and what the
 * library allocates for it, is counted. Nothing is timed. See docs/scaling.md.
 *
 *   setup RANKS CELLS [messages] [kB] [file]
 *
 * CELLS is for each rank. No rank may send or receive more messages, nor have more allocated at a time beyond 2.2 times its
 * share, or the status is 1; nor may there be a call in which each rank gets something of each other one. With a file the mesh
 * is written there first, by one process, and the ranks read it. */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/distribute/crew.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/trace.h"
#include "files/io.h"
#include "grid.h"
#include "mesh/data.h"
#include "mesh/handles.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "spread/parts/directory.h"
#include "spread/parts/partition.h"
#include "spread/spread.h"

/* ---- what the library allocates for a rank: the linker leads its calls here (--wrap) ---- */

static _Thread_local long long live, peak;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
int __real_posix_memalign(void **out, size_t alignment, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes);
void __wrap_free(void *memory);

static void *count_new(void *memory) {
  live += memory ? (long long)malloc_usable_size(memory) : 0;
  peak = live > peak ? live : peak;
  return memory;
}
void *__wrap_malloc(size_t bytes) {
  return count_new(__real_malloc(bytes));
}
void *__wrap_calloc(size_t count, size_t bytes) {
  return count_new(__real_calloc(count, bytes));
}
void *__wrap_realloc(void *old, size_t bytes) {
  const long long before = old ? (long long)malloc_usable_size(old) : 0;
  void *memory = __real_realloc(old, bytes);
  live -= memory ? before : 0;
  return count_new(memory);
}
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes) {
  const int status = __real_posix_memalign(out, alignment, bytes);
  count_new(status ? NULL : *out);
  return status;
}
void __wrap_free(void *memory) {
  live -= memory ? (long long)malloc_usable_size(memory) : 0;
  __real_free(memory);
}

/* ---- a rank ---- */

static void check(bool good, const char *what, const struct error *err) {
  if (!good) {
    fprintf(stderr, "setup: %s: %s\n", what, err ? error_message(err) : "failed");
    exit(1);
  }
}

enum { X, Q, QOLD, RES, ADT, DATS };
static const struct {
  int set, dim;
  const char *name;
} dats[DATS] = {{NODES, 2, "x"}, {CELLS, 4, "q"}, {CELLS, 4, "qold"}, {CELLS, 4, "res"}, {CELLS, 1, "adt"}};
static const char *const set_names[SETS] = {"cells", "edges", "boundary", "nodes"};
static const char *const map_names[MAPS] = {"edge_cells", "edge_nodes", "boundary_cells", "boundary_nodes",
                                            "cell_nodes"};

/* What was counted of a rank, in parts. */
enum { DECLARED, PARTED, FETCHED, PARTED_AGAIN, PARTS };
static const char *const part_names[PARTS] = {"declared", "parted", "fetched", "again"};
struct counts {
  struct crew_traffic traffic[PARTS];
  double share, allocated; /* bytes */
};

struct trial {
  struct grid grid;
  struct counts *ranks;
  const char *file; /* NULL: none */
  const struct file_table *table;
  bool writes;
};

struct rank {
  struct op_context context;
  struct env env;
  struct log log;
  struct progress progress;
  struct mesh mesh;
  struct trace trace;
  op_counters_t counters;
  struct io io;
  const struct trial *t;
  struct set *sets[SETS];
  struct map *maps[MAPS];
  struct dat *dats[DATS];
  double share;
};

static void open_rank(struct rank *r, struct comm *comm, struct error *err) {
  char name[] = "setup", *argv[] = {name, NULL};
  struct text warnings = {0};
  check(!env_read(&r->env, 1, argv, &warnings, err), "the environment", err);
  text_free(&warnings);
  r->log.progress = &r->progress;
  r->log.level = LOG_WARN;
  r->context = (struct op_context){.env = &r->env,
                                   .log = &r->log,
                                   .mesh = &r->mesh,
                                   .trace = &r->trace,
                                   .counters = &r->counters,
                                   .comm = comm,
                                   .agreement = comm,
                                   .handles = handles_new(),
                                   .io = &r->io};
  r->io.plugin.table = r->t->table;
  check(r->context.handles != NULL, "handles", NULL);
}

static void close_rank(struct rank *r) {
  mesh_free(&r->context);
  handles_free(r->context.handles);
  env_free(&r->env);
}

/* Memory of the program, which is not counted. */
static void *own(size_t count, size_t bytes) {
  void *memory = __real_calloc(count + 1, bytes);
  check(memory != NULL, "memory", NULL);
  return memory;
}

static void declare_map(struct rank *r, int m, struct error *err) {
  const struct grid_map *g = &grid_maps[m];
  struct set *from = r->sets[g->from];
  long long *rows = own((size_t)from->size * (size_t)g->arity, sizeof *rows);
  for (long e = 0; e < from->size; e++)
    grid_row(&r->t->grid, m, from->global_first + e, rows + e * g->arity);
  r->maps[m] = mesh_map(&r->context, from, r->sets[g->to], g->arity, NULL, rows, NULL, map_names[m], err);
  __real_free(rows);
}

/* Where nodes are, and for the others a number of each value. */
static void fill(const struct rank *r, int d, double *rows) {
  const struct set *set = r->sets[dats[d].set];
  for (long e = 0; e < set->size; e++)
    for (int c = 0; c < dats[d].dim; c++) {
      const long long number = set->global_first + e, across = r->t->grid.width + 1;
      const long long place = c ? number / across : number % across;
      rows[e * dats[d].dim + c] = d == X ? (double)place : (double)(number * 8 + c + d);
    }
}

static void declare_dat(struct rank *r, int d, struct error *err) {
  struct set *set = r->sets[dats[d].set];
  double *rows = own((size_t)set->size * (size_t)dats[d].dim, sizeof *rows);
  fill(r, d, rows);
  r->dats[d] = data_new(&r->context, set, dats[d].dim, "double", rows, dats[d].name, false, err);
  __real_free(rows);
}

static void declare(struct rank *r, struct error *err) {
  struct comm *comm = r->context.comm;
  const bool loads = r->t->file && !r->t->writes;
  for (int s = 0; s < SETS; s++) {
    const long long size = r->t->grid.size[s], first = block_begin(size, comm->size, comm->rank);
    const long mine = (long)(block_begin(size, comm->size, comm->rank + 1) - first);
    r->sets[s] = loads ? load_set(&r->context, r->t->file, set_names[s], err)
                       : mesh_set(&r->context, mine, set_names[s], err);
    check(r->sets[s] != NULL, set_names[s], err);
    if (!loads && spread_wanted(&r->context))
      check(!spread_declare(&r->context, r->sets[s], err), set_names[s], err);
  }
  for (int m = 0; m < MAPS; m++) {
    const struct grid_map *g = &grid_maps[m];
    if (loads)
      r->maps[m] =
          load_map(&r->context, r->sets[g->from], r->sets[g->to], g->arity, r->t->file, map_names[m], err);
    else
      declare_map(r, m, err);
    check(r->maps[m] != NULL, map_names[m], err);
    r->share += (double)r->sets[g->from]->size * g->arity * (double)sizeof(int);
  }
  for (int d = 0; d < DATS; d++) {
    struct set *set = r->sets[dats[d].set];
    if (loads)
      r->dats[d] = load_dat(&r->context, set, dats[d].dim, "double", r->t->file, dats[d].name, err);
    else
      declare_dat(r, d, err);
    check(r->dats[d] != NULL, dats[d].name, err);
    r->share += (double)set->size * dats[d].dim * (double)sizeof(double);
  }
  r->mesh.undistributed = true;
}

static void part(struct rank *r, const char *method, struct error *err) {
  long long times[SETS] = {0};
  const struct partition_call call = {.lib = method,
                                      .method = "",
                                      .prime = r->sets[CELLS],
                                      .map = r->maps[CELL_NODES],
                                      .coords = r->dats[X],
                                      .times = times};
  check(!mesh_partition(&r->context, &call, err), method, err);
}

static void fetch(struct rank *r, int d, struct error *err) {
  const struct set *set = r->sets[dats[d].set];
  const size_t values = (size_t)set->size * (size_t)dats[d].dim;
  double *got = own(values, sizeof *got), *wanted = own(values, sizeof *wanted);
  check(!data_fetch(&r->context, r->dats[d], got, 0, set->size - 1, err), "fetching", err);
  fill(r, d, wanted);
  check(memcmp(got, wanted, values * sizeof *got) == 0, "what was fetched is not what was declared", NULL);
  __real_free(got);
  __real_free(wanted);
}

static int run_rank(struct comm *comm, void *user, struct error *err) {
  const struct trial *t = user;
  struct rank *r = own(1, sizeof *r);
  struct counts *counts = &t->ranks[comm->rank];
  r->t = t;
  open_rank(r, comm, err);
  live = peak = 0;
  declare(r, err);
  if (t->writes)
    check(!save_mesh(&r->context, t->file, err), t->file, err);
  counts->traffic[DECLARED] = crew_traffic(comm);
  for (int again = 0; !t->writes && again < 2; again++) {
    part(r, again ? "inertial" : "rcb", err);
    counts->traffic[again ? PARTED_AGAIN : PARTED] = crew_traffic(comm);
    counts->allocated = again ? counts->allocated : (double)peak;
    fetch(r, Q, err);
    fetch(r, X, err);
    counts->traffic[FETCHED] = crew_traffic(comm);
  }
  counts->share = r->share;
  close_rank(r);
  __real_free(r);
  return OP_OK;
}

/* ---- files: one at a time uses the library, which knows no threads ---- */

static pthread_mutex_t files = PTHREAD_MUTEX_INITIALIZER;
static const struct file_table *real;

static int locked(int code) {
  pthread_mutex_unlock(&files);
  return code;
}
static int locked_open(struct file **out, const char *path, const char *shown, enum file_mode mode,
                       struct error *err) {
  pthread_mutex_lock(&files);
  return locked(real->open(out, path, shown, mode, err));
}
static int locked_close(struct file *file, struct error *err) {
  pthread_mutex_lock(&files);
  return locked(real->close(file, err));
}
static enum file_kind locked_kind(struct file *file, const char *name) {
  pthread_mutex_lock(&files);
  return (enum file_kind)locked((int)real->kind(file, name));
}
static int locked_look(struct file *file, const char *name, struct file_dataset *out, struct error *err) {
  pthread_mutex_lock(&files);
  return locked(real->look(file, name, out, err));
}
static int locked_read(struct file *file, const char *name, enum type_code type, long long first,
                       long long rows, void *out, struct error *err) {
  pthread_mutex_lock(&files);
  return locked(real->read(file, name, type, first, rows, out, err));
}

static struct file_table open_plugin(const char *folder) {
  static struct file_plugin plugin;
  struct error err = {0};
  check(!file_plugin_open(&plugin, folder, &err), "the plugin for files", &err);
  real = plugin.table;
  struct file_table table = *real;
  table.open = locked_open;
  table.close = locked_close;
  table.kind = locked_kind;
  table.look = locked_look;
  table.read = locked_read;
  return table;
}

/* ---- all ---- */

struct totals {
  double sent, most_sent, most_received, kilobytes, posts, collectives, widest, everybody;
};

static struct totals add_up(const struct counts *ranks, int n, int part) {
  struct totals t = {0};
  for (int r = 0; r < n; r++) {
    const struct crew_traffic *c = &ranks[r].traffic[part];
    t.sent += (double)c->messages / n;
    t.kilobytes += (double)c->bytes / 1e3 / n;
    t.most_sent = fmax(t.most_sent, (double)c->messages);
    t.most_received = fmax(t.most_received, (double)c->received);
    t.posts = fmax(t.posts, (double)c->posts);
    t.collectives = fmax(t.collectives, (double)c->collectives);
    t.widest = fmax(t.widest, (double)c->widest);
    t.everybody += (double)c->everybody;
  }
  return t;
}

static bool print(const struct counts *ranks, int n, double messages, double kilobytes) {
  bool good = true;
  double share = 0, allocated = 0, beyond = 0;
  for (int p = 0; p < PARTS; p++) {
    const struct totals t = add_up(ranks, n, p);
    printf("%-9s messages %.1f mean, %.0f sent at most, %.0f received; %.1f kB; %.0f rounds; %.0f calls of "
           "all, of "
           "%.1f kB at most\n",
           part_names[p], t.sent, t.most_sent, t.most_received, t.kilobytes, t.posts, t.collectives,
           t.widest / 1e3);
    good &= t.everybody == 0 && t.most_sent <= messages && t.most_received <= messages;
  }
  for (int r = 0; r < n; r++) {
    share = fmax(share, ranks[r].share);
    allocated = fmax(allocated, ranks[r].allocated);
    beyond = fmax(beyond, ranks[r].allocated - 2.2 * ranks[r].share);
  }
  printf("%d ranks: shares of %.1f kB at most, %.1f kB allocated, %.1f kB beyond 2.2 shares\n", n,
         share / 1e3, allocated / 1e3, beyond / 1e3);
  return good && beyond / 1e3 <= kilobytes;
}

int main(int argc, char **argv) {
  const int ranks = argc > 1 ? atoi(argv[1]) : 64;
  const long long cells = argc > 2 ? atoll(argv[2]) : 400;
  const double messages = argc > 3 ? atof(argv[3]) : HUGE_VAL,
               kilobytes = argc > 4 ? atof(argv[4]) : HUGE_VAL;
  struct trial t = {.grid = grid_of(cells * ranks), .file = argc > 5 ? argv[5] : NULL};
  struct file_table table;
  if (ranks < 1 || cells < 1)
    return 1;
  t.ranks = own((size_t)ranks, sizeof *t.ranks);
  if (t.file) {
    table = open_plugin(argc > 6 ? argv[6] : NULL);
    t.table = &table;
    t.writes = true;
    crew_run(1, run_rank, &t);
    t.writes = false;
  }
  crew_run(ranks, run_rank, &t);
  const bool good = print(t.ranks, ranks, messages, kilobytes);
  if (t.file)
    remove(t.file);
  if (!good)
    fprintf(stderr, "setup: a rank sends, receives or allocates more than is allowed\n");
  __real_free(t.ranks);
  return good ? 0 : 1;
}
