/* Launches that are held back, and given to the driver together: as a graph, where the same kernels came in this order before.
 * Every other call to the device gives them first, so that all is done in the order of the calls. */
#include "backend/gpu/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* So many rows of launches are known; values lie apart. */
enum { MOST_ROWS = 64, ALIGN = 16 };

/* Graphs: a row of nodes, each behind the one before. */
struct cuda_graph_made {
  cuda_graph graph;
  cuda_graph_exec exec;
  cuda_node last;
  cuda_node *kernels;
  int count;
};

/* Launches one behind the other. */
struct row {
  struct held_launch *launches;
  int count;
  size_t *places; /* of each value in the bytes, and where the last one ends */
  int nplaces;
  unsigned char *bytes;
  void **values;                 /* what the driver takes */
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
  cuda->driver.graph_destroy(m->graph);
  free(m->kernels);
  free(m);
}

static void row_free(struct cuda *cuda, struct row *r) {
  if (r->graph)
    cuda_graph_free(cuda, r->graph);
  free(r->launches);
  free(r->places);
  free(r->bytes);
  free(r->values);
  *r = (struct row){0};
}

/* ---- holding back ---- */

static size_t end_of(const struct row *r) {
  return r->nplaces ? r->places[r->nplaces] : 0;
}

static bool make_room(struct row *r, const struct gpu_sizes *sizes, size_t *end) {
  for (int i = 0; i < sizes->count; i++) {
    const size_t bytes = sizes->bytes[i] ? (size_t)sizes->bytes[i] : sizeof(gpu_address);
    if (!size_add(*end, (bytes + ALIGN - 1) / ALIGN * ALIGN, end))
      return false;
  }
  const size_t places = (size_t)r->nplaces + (size_t)sizes->count + 1;
  struct held_launch *launches = array_resize(r->launches, (size_t)r->count + 1, sizeof *launches);
  r->launches = launches ? launches : r->launches;
  size_t *at = array_resize(r->places, places, sizeof *at);
  r->places = at ? at : r->places;
  unsigned char *bytes = array_resize(r->bytes, *end, 1);
  r->bytes = bytes ? bytes : r->bytes;
  void **values = array_resize((void *)r->values, places, sizeof *values);
  r->values = values ? values : r->values;
  return launches && at && bytes && values;
}

/* Bytes behind a value are zero, so that bytes can be compared. */
static bool add(struct row *r, const struct held_launch *launch, void *const *values,
                const struct gpu_sizes *sizes) {
  size_t at = end_of(r), end = at;
  if (!make_room(r, sizes, &end))
    return false;
  memset(r->bytes + at, 0, end - at);
  struct held_launch *to = &r->launches[r->count++];
  *to = *launch;
  to->first = r->nplaces;
  for (int i = 0; i < sizes->count; i++) {
    const size_t bytes = sizes->bytes[i] ? (size_t)sizes->bytes[i] : sizeof(gpu_address);
    memcpy(r->bytes + at, values[i], bytes);
    r->places[r->nplaces++] = at;
    at += (bytes + ALIGN - 1) / ALIGN * ALIGN;
  }
  r->places[r->nplaces] = at;
  to->end = r->nplaces;
  return true;
}

/* The bytes may have moved since the values came. */
static void point(struct row *r) {
  for (int i = 0; i < r->nplaces; i++)
    r->values[i] = r->bytes + r->places[i];
}

/* ---- rows that came before ---- */

static bool has_kernels_of(const struct row *a, const struct row *b) {
  if (a->count != b->count || a->nplaces != b->nplaces ||
      memcmp(a->places, b->places, ((size_t)a->nplaces + 1) * sizeof *a->places) != 0)
    return false;
  for (int i = 0; i < a->count; i++)
    if (a->launches[i].function != b->launches[i].function || a->launches[i].first != b->launches[i].first)
      return false;
  return true;
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
  const struct row *r = &h->now;
  int code = 0;
  for (int i = 0; !code && i < r->count; i++) {
    const struct held_launch *l = &r->launches[i];
    code = cuda->driver.launch(l->function, l->blocks, 1, 1, l->threads, 1, 1, l->shared, cuda->stream,
                               r->values + l->first, NULL);
    h->given->launches += !code;
    h->given->calls += !code;
  }
  return code;
}

static int cuda_graph_new(struct cuda *cuda, struct cuda_graph_made **out) {
  struct cuda_graph_made *m = *out = calloc(1, sizeof *m);
  const int code = m ? cuda->driver.graph_create(&m->graph, 0) : CUDA_OUT_OF_MEMORY;
  if (code) {
    free(m);
    *out = NULL;
  }
  return code;
}

#define NODE(l, values)                                                                                      \
  {                                                                                                          \
    .function = (l)->function, .gx = (l)->blocks, .gy = 1, .gz = 1, .bx = (l)->threads, .by = 1, .bz = 1,    \
    .shared = (l)->shared, .parameters = (values)                                                            \
  }
static union cuda_node_launch node_of(const struct cuda *cuda, const struct held_launch *l, void **values) {
  return cuda->driver.family->hip_nodes ? (union cuda_node_launch){.hip = NODE(l, values)}
                                        : (union cuda_node_launch){.cuda = NODE(l, values)};
}

/* The next node, behind all that are there. */
static int cuda_graph_kernel(struct cuda *cuda, struct cuda_graph_made *m, const struct held_launch *launch,
                             void **values) {
  const union cuda_node_launch node_launch = node_of(cuda, launch, values);
  cuda_node *kernels = array_resize(m->kernels, (size_t)m->count + 1, sizeof *kernels), node = NULL;
  if (!kernels)
    return CUDA_OUT_OF_MEMORY;
  m->kernels = kernels;
  const int code = cuda->driver.graph_add_kernel(&node, m->graph, &m->last, m->last != NULL, &node_launch);
  if (!code)
    kernels[m->count++] = m->last = node;
  return code;
}

static int cuda_graph_finish(struct cuda *cuda, struct cuda_graph_made *m) {
  return cuda->driver.graph_instantiate(&m->exec, m->graph, 0);
}

/* A driver that fails to make one is not asked again. */
static bool make_graph(struct cuda *cuda, struct cuda_held *h, struct row *known) {
  const struct row *now = &h->now;
  int code = cuda_graph_new(cuda, &known->graph);
  for (int i = 0; !code && i < now->count; i++) {
    const struct held_launch *l = &now->launches[i];
    code = cuda_graph_kernel(cuda, known->graph, l, now->values + l->first);
  }
  if (!code)
    code = cuda_graph_finish(cuda, known->graph);
  if (code && known->graph) {
    cuda_graph_free(cuda, known->graph);
    known->graph = NULL;
  }
  h->given->refused = code;
  h->no_graphs = code != 0;
  return !code;
}

static bool differs(const struct row *a, const struct row *b, int i) {
  const struct held_launch *l = &a->launches[i], *m = &b->launches[i];
  const size_t begin = a->places[l->first], end = a->places[l->end];
  return l->blocks != m->blocks || l->threads != m->threads || l->shared != m->shared ||
         memcmp(a->bytes + begin, b->bytes + begin, end - begin) != 0;
}

/* Node `kernel` gets these values. */
static int cuda_graph_set(struct cuda *cuda, struct cuda_graph_made *m, int kernel,
                          const struct held_launch *launch, void **values) {
  const union cuda_node_launch node_launch = node_of(cuda, launch, values);
  return cuda->driver.graph_set_kernel(m->exec, m->kernels[kernel], &node_launch);
}

static int set_values(struct cuda *cuda, const struct row *known, const struct row *now) {
  int code = 0;
  for (int i = 0; !code && i < now->count; i++) {
    const struct held_launch *l = &now->launches[i];
    if (differs(known, now, i))
      code = cuda_graph_set(cuda, known->graph, i, l, now->values + l->first);
  }
  return code;
}

static int cuda_graph_launch(struct cuda *cuda, struct cuda_graph_made *m) {
  return cuda->driver.graph_launch(m->exec, cuda->stream);
}

/* The graph has the values of what is held back now, which become the known ones. */
static int launch_graph(struct cuda *cuda, struct cuda_held *h, struct row *known) {
  int code = set_values(cuda, known, &h->now);
  if (code)
    return code;
  struct row before = *known;
  *known = h->now;
  known->graph = before.graph;
  before.graph = NULL;
  h->given->graphs++;
  h->given->launches += h->now.count;
  h->given->calls++;
  h->now = before;
  return cuda_graph_launch(cuda, known->graph);
}

int cuda_give(void *self) {
  struct cuda *cuda = self;
  struct cuda_held *h = cuda->held;
  int code = 0;
  if (!h || !h->now.count)
    return 0;
  point(&h->now);
  struct row *known = h->now.count > 1 && !h->no_graphs ? find(h) : NULL;
  const bool new = !known && h->now.count > 1 && !h->no_graphs;
  if (known && !known->graph && !make_graph(cuda, h, known))
    known = NULL;
  code = known ? launch_graph(cuda, h, known) : launch_each(cuda, h);
  if (new)
    keep(cuda, h);
  h->now.count = h->now.nplaces = 0;
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
  const struct held_launch launch = {
      .function = function, .blocks = blocks, .threads = threads, .shared = shared};
  return cuda->held && cuda->held->given && add(&cuda->held->now, &launch, values, sizes);
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
