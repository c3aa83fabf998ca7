/* Launches that are held back, and given to the driver together: as a graph, where the same kernels came in this order before.
 * Every other call to the device gives them first, so that all is done in the order of the calls. */
#include "backend/gpu/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* So many rows of launches are known; values lie apart. */
enum { MOST_ROWS = 64, ALIGN = 16 };

/* A row of nodes, each behind the one before. */
struct cuda_graph_made {
  cuda_graph graph;
  cuda_graph_exec exec;
  cuda_node *kernels;
};

struct held_launch {
  cuda_function function;
  unsigned blocks, threads, shared;
  int nvalues;
  size_t bytes;  /* of all values */
  void **values; /* what the driver takes; the bytes lie behind the pointers */
};

/* Launches one behind the other. */
struct row {
  struct held_launch *launches;
  int count, made;               /* made: so many have memory for values, which is used again */
  struct cuda_graph_made *graph; /* NULL: it came once */
};

struct cuda_held {
  struct gpu_given *given; /* NULL: nothing is held back now */
  struct row now;
  struct row known[MOST_ROWS]; /* the oldest first */
  int nknown;
  bool no_graphs;
};

static void cuda_graph_free(struct cuda *cuda, struct cuda_graph_made *m) {
  if (m->exec)
    cuda->driver.graph_exec_destroy(m->exec);
  if (m->graph)
    cuda->driver.graph_destroy(m->graph);
  free(m->kernels);
  free(m);
}

static void row_free(struct cuda *cuda, struct row *r) {
  if (r->graph)
    cuda_graph_free(cuda, r->graph);
  for (int i = 0; i < r->made; i++)
    free((void *)r->launches[i].values);
  free(r->launches);
  *r = (struct row){0};
}

/* ---- holding back ---- */

static size_t rounded(size_t bytes) {
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t bytes_of(const struct gpu_sizes *sizes, int i) {
  return sizes->bytes[i] ? (size_t)sizes->bytes[i] : sizeof(gpu_address);
}

static unsigned char *begin_of(const struct held_launch *l) {
  return (unsigned char *)l->values + rounded((size_t)l->nvalues * sizeof *l->values);
}

/* The next launch of the row, with room for such values. Bytes behind a value are zero, so that bytes can be compared.
 * NULL: no memory. */
static struct held_launch *make_room(struct row *r, const struct gpu_sizes *sizes) {
  size_t bytes = 0;
  for (int i = 0; i < sizes->count; i++)
    bytes += rounded(bytes_of(sizes, i));
  if (r->count == r->made) {
    struct held_launch *launches = array_more(r->launches, (size_t)r->made, sizeof *launches);
    if (!launches)
      return NULL;
    r->launches = launches;
    launches[r->made++] = (struct held_launch){0};
  }
  struct held_launch *l = &r->launches[r->count];
  if (l->values && l->nvalues == sizes->count && l->bytes == bytes)
    return l;
  free((void *)l->values);
  l->nvalues = sizes->count;
  l->bytes = bytes;
  l->values = array_new(rounded((size_t)l->nvalues * sizeof *l->values) + bytes, 1);
  return l->values ? l : NULL;
}

/* ---- rows that came before ---- */

static bool has_kernels_of(const struct row *a, const struct row *b) {
  bool same = a->count == b->count;
  for (int i = 0; same && i < a->count; i++) {
    const struct held_launch *l = &a->launches[i], *m = &b->launches[i];
    same = l->function == m->function && l->nvalues == m->nvalues && l->bytes == m->bytes;
  }
  return same;
}

static struct row *find(struct cuda_held *h) {
  for (int i = 0; i < h->nknown; i++)
    if (has_kernels_of(&h->known[i], &h->now))
      return &h->known[i];
  return NULL;
}

/* The oldest one goes where there is no room. */
static void keep(struct cuda *cuda, struct cuda_held *h) {
  if (h->nknown == MOST_ROWS) {
    cuda->driver.stream_wait(cuda->stream);
    row_free(cuda, &h->known[0]);
    memmove(h->known, h->known + 1, (MOST_ROWS - 1) * sizeof *h->known);
    h->nknown--;
  }
  h->known[h->nknown++] = h->now;
  h->now = (struct row){0};
}

/* ---- giving ---- */

static int launch_each(struct cuda *cuda, struct cuda_held *h) {
  int code = 0;
  for (int i = 0; !code && i < h->now.count; i++) {
    const struct held_launch *l = &h->now.launches[i];
    code = cuda->driver.launch(l->function, l->blocks, 1, 1, l->threads, 1, 1, l->shared, cuda->stream,
                               l->values, NULL);
    h->given->launches += !code;
    h->given->calls += !code;
  }
  return code;
}

#define NODE(l)                                                                                              \
  {                                                                                                          \
    .function = (l)->function, .gx = (l)->blocks, .gy = 1, .gz = 1, .bx = (l)->threads, .by = 1, .bz = 1,    \
    .shared = (l)->shared, .parameters = (l)->values                                                         \
  }
static union cuda_node_launch node_of(const struct cuda *cuda, const struct held_launch *l) {
  return cuda->driver.family->hip_nodes ? (union cuda_node_launch){.hip = NODE(l)}
                                        : (union cuda_node_launch){.cuda = NODE(l)};
}

/* A driver that fails to make one is not asked again. */
static bool make_graph(struct cuda *cuda, struct cuda_held *h, struct row *known) {
  const struct cuda_driver *d = &cuda->driver;
  struct cuda_graph_made *m = known->graph = array_new(1, sizeof *m);
  if (m)
    m->kernels = array_new((size_t)h->now.count, sizeof *m->kernels);
  int code = m && m->kernels ? d->graph_create(&m->graph, 0) : CUDA_OUT_OF_MEMORY;
  for (int i = 0; !code && i < h->now.count; i++) {
    const union cuda_node_launch node = node_of(cuda, &h->now.launches[i]);
    code = d->graph_add_kernel(&m->kernels[i], m->graph, &m->kernels[i ? i - 1 : 0], i > 0, &node);
  }
  if (!code)
    code = d->graph_instantiate(&m->exec, m->graph, 0);
  if (code && m) {
    cuda_graph_free(cuda, m);
    known->graph = NULL;
  }
  h->given->refused = code;
  h->no_graphs = code != 0;
  return !code;
}

static bool differs(const struct held_launch *l, const struct held_launch *m) {
  return l->blocks != m->blocks || l->threads != m->threads || l->shared != m->shared ||
         memcmp(begin_of(l), begin_of(m), l->bytes) != 0;
}

/* The graph gets the values of what is held back now, which become the known ones. */
static int launch_graph(struct cuda *cuda, struct cuda_held *h, struct row *known) {
  struct cuda_graph_made *m = known->graph;
  for (int i = 0; i < h->now.count; i++) {
    if (!differs(&known->launches[i], &h->now.launches[i]))
      continue;
    const union cuda_node_launch node = node_of(cuda, &h->now.launches[i]);
    const int code = cuda->driver.graph_set_kernel(m->exec, m->kernels[i], &node);
    if (code)
      return code;
  }
  const struct row before = *known;
  *known = h->now;
  known->graph = m;
  h->now = before;
  h->now.graph = NULL;
  h->given->graphs++;
  h->given->launches += known->count;
  h->given->calls++;
  return cuda->driver.graph_launch(m->exec, cuda->stream);
}

int cuda_give(void *self) {
  struct cuda *cuda = self;
  struct cuda_held *h = cuda->held;
  int code = 0;
  if (!h || !h->now.count)
    return 0;
  struct row *known = h->now.count > 1 && !h->no_graphs ? find(h) : NULL;
  const bool new = !known && h->now.count > 1 && !h->no_graphs;
  if (known && !known->graph && !make_graph(cuda, h, known))
    known = NULL;
  code = known ? launch_graph(cuda, h, known) : launch_each(cuda, h);
  if (new)
    keep(cuda, h);
  h->now.count = 0;
  return code;
}

static bool cuda_has_graphs(const struct cuda_driver *d) {
  return d->graph_create && d->graph_destroy && d->graph_add_kernel && d->graph_instantiate &&
         d->graph_set_kernel && d->graph_launch && d->graph_exec_destroy;
}

int cuda_hold(void *self, struct gpu_given *given) {
  struct cuda *cuda = self;
  if (!cuda->held && given && cuda_has_graphs(&cuda->driver))
    cuda->held = calloc(1, sizeof *cuda->held);
  const int code = cuda_give(cuda);
  if (cuda->held)
    cuda->held->given = given;
  return code;
}

bool cuda_held_takes(struct cuda *cuda, cuda_function function, unsigned blocks, unsigned threads,
                     unsigned shared, void *const *values, const struct gpu_sizes *sizes) {
  struct cuda_held *h = cuda->held && cuda->held->given ? cuda->held : NULL;
  struct held_launch *to = h ? make_room(&h->now, sizes) : NULL;
  if (!to)
    return false;
  to->function = function;
  to->blocks = blocks;
  to->threads = threads;
  to->shared = shared;
  unsigned char *at = memset(begin_of(to), 0, to->bytes);
  for (int i = 0; i < sizes->count; at += rounded(bytes_of(sizes, i)), i++)
    to->values[i] = memcpy(at, values[i], bytes_of(sizes, i));
  h->now.count++;
  return true;
}

void cuda_held_forget(struct cuda *cuda) {
  struct cuda_held *h = cuda->held;
  if (!h)
    return;
  if (h->nknown)
    cuda->driver.stream_wait(cuda->stream);
  for (int i = 0; i < h->nknown; i++)
    row_free(cuda, &h->known[i]);
  h->nknown = 0;
}

void cuda_held_free(struct cuda *cuda) {
  cuda_held_forget(cuda);
  if (cuda->held)
    row_free(cuda, &cuda->held->now);
  free(cuda->held);
  cuda->held = NULL;
}
