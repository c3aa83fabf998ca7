/* Units: the memory of resources that have memory, and none of those in them has. A resource without any memory in it,
 * around it or of its own is a unit too if nothing lies in it: only a lock. */
#include "tasks/ranks/ranks.h"

#include <stdlib.h>

#include "base/size.h"

/* Facts about a resource. Resources around it have lower numbers. */
struct known {
  size_t below; /* bytes of the nearest ones in it that have memory */
  int around;   /* the unit in which it lies; the resource itself; -1: none */
  int count;    /* units in it */
  bool parted;  /* something lies in it */
};

static size_t bytes_of(const struct task_graph *g, const struct known *k, int r) {
  return g->more[r].bytes ? g->more[r].bytes : k[r].below;
}

static int refuse(const struct task_graph *g, int resource, const char *why, struct error *err) {
  struct text words = {0};
  tasks_resource_words(g, resource, &words);
  const int code = error_set(err, OP_ERR_GRAPH, "graph \"%s\": %s %s", g->name, text_str(&words), why);
  text_free(&words);
  return code;
}

static int look_at_memory(const struct task_graph *g, struct known *k, struct error *err) {
  for (int r = g->nresources; r-- > 0;) {
    const int above = g->resources[r].parent;
    if (g->more[r].bytes && k[r].below && k[r].below != g->more[r].bytes)
      return refuse(
          g, r,
          "has memory that is not what the resources in it have together; on several ranks these must "
          "cover it, or have none",
          err);
    if (above >= 0) {
      k[above].below += bytes_of(g, k, r);
      k[above].parted = true;
    }
  }
  for (int r = 0; r < g->nresources; r++) {
    const int above = g->resources[r].parent;
    k[r].around = above >= 0 ? k[above].around : -1;
    if (k[r].around < 0 && ((g->more[r].bytes && !k[r].below) || !k[r].parted))
      k[r].around = r;
  }
  return OP_OK;
}

/* Those in one another lie behind one another. */
static void number(const struct task_graph *g, struct known *k, struct units *u, int *next) {
  for (int r = g->nresources; r-- > 0;) {
    const int above = g->resources[r].parent;
    k[r].count += k[r].around == r;
    if (above >= 0)
      k[above].count += k[r].count;
  }
  for (int r = 0; r < g->nresources; r++) {
    const int above = g->resources[r].parent, around = k[r].around;
    int *from = above >= 0 ? &next[above] : &u->count;
    const int at = *from;
    *from += k[r].count;
    next[r] = at;
    u->begin[r] = around >= 0 && around != r ? u->begin[around] : at;
    u->end[r] = around >= 0 && around != r ? u->end[around] : at + k[r].count;
    if (around == r) {
      u->resource[at] = r;
      u->bytes[at] = g->more[r].bytes;
    }
  }
}

int units_find(const struct task_graph *g, struct units *u, struct error *err) {
  const size_t n = (size_t)g->nresources;
  struct known *k = array_new(n, sizeof *k);
  int *next = array_new(n, sizeof *next);
  units_free(u);
  u->resource = array_new(n, sizeof *u->resource);
  u->begin = array_new(n, sizeof *u->begin);
  u->end = array_new(n, sizeof *u->end);
  u->bytes = array_new(n, sizeof *u->bytes);
  u->owner = array_new(n, sizeof *u->owner);
  int code = OP_OK;
  if (!k || !next || !u->resource || !u->begin || !u->end || !u->bytes || !u->owner)
    code = error_memory_of(err, "the resources of graph", g->name, n * sizeof *k);
  if (!code)
    code = look_at_memory(g, k, err);
  if (!code)
    number(g, k, u, next);
  free(k);
  free(next);
  return code;
}
