/* The program's words on a graph of all ranks, beyond those on any graph; and the end of such a graph. */
#include <stdlib.h>

#include "base/list.h"
#include "tasks/ranks.h"

int ranks_size(struct task_graph *g, size_t bytes, struct error *err) {
  if (!g->ranks || g->ranks->form != OP_GRAPH_PARTS)
    return OP_OK;
  size_t *sizes = array_more(g->ranks->sizes, (size_t)g->ntasks - 1, sizeof *sizes);
  if (!sizes)
    return error_memory_of(err, "the data of tasks of graph", g->name, (size_t)g->ntasks * sizeof *sizes);
  g->ranks->sizes = sizes;
  sizes[g->ntasks - 1] = bytes;
  return OP_OK;
}

int ranks_add_keyed(const struct task_graph *g, struct keyed_list *list, struct keyed one,
                    struct error *err) {
  struct keyed *more = array_more(list->items, list->count, sizeof *more);
  if (!more)
    return error_memory_of(err, "the keys of graph", g->name, list->count * sizeof *more);
  list->items = more;
  more[list->count++] = one;
  return OP_OK;
}

void ranks_changed(struct task_graph *g) {
  if (g->ranks)
    g->ranks->changed = true;
}

bool ranks_task_words(const struct task_graph *g, int task, struct text *out) {
  if (!g->ranks || !g->ranks->first)
    return false;
  int rank = 0;
  while (rank < g->ranks->ranks - 1 && task >= g->ranks->first[rank + 1])
    rank++;
  text_addf(out, "task %d (%s) of rank %d", task - g->ranks->first[rank], g->types[g->tasks[task].type].name,
            rank);
  return true;
}

bool ranks_resource_words(const struct task_graph *g, int resource, struct text *out) {
  if (!g->ranks || !g->ranks->from)
    return false;
  const struct graph_ranks *k = g->ranks;
  int at = 0, rank = 0;
  while (k->resources[at] != resource)
    at++;
  while (at >= k->from[rank + 1])
    rank++;
  text_addf(out, "resource %d of rank %d", at - k->from[rank], rank);
  return true;
}

int ranks_resource(const struct task_graph *local, op_resource number, struct error *err) {
  const struct graph_ranks *k = local->of ? local->of->ranks : NULL;
  if (!k || !k->from)
    return tasks_index(local, number, NUMBER_RESOURCE, err);
  const struct task_graph own = {
      .name = local->name, .serial = local->serial, .nresources = k->from[k->me + 1] - k->from[k->me]};
  const int index = tasks_index(&own, number, NUMBER_RESOURCE, err);
  return index < 0 ? index : k->resources[k->from[k->me] + index];
}

void units_free(struct units *u) {
  arrays_free(&u->arrays);
  *u = (struct units){0};
}

/* All but its graphs. */
void ranks_free(struct graph_ranks *k) {
  units_free(&k->units);
  for (size_t i = 0; i < k->nrooms; i++)
    free(k->rooms[i].memory);
  free(k->rooms);
  for (int i = 0; i < KEYED; i++)
    free(k->said[i].items);
  free(k->sizes);
  arrays_free(&k->arrays);
  free(k->place);
  free(k->home);
  free(k);
}
