/* Figures of a graph, for programs and reports. */
#include <string.h>

#include "tasks/inner.h"
#include "tasks/ranks_messages.h"

static long long bytes_on_ranks(const struct graph_ranks *k) {
  long long bytes = 0;
  if (k->whole)
    bytes += tasks_bytes(k->whole);
  if (k->local)
    bytes += tasks_bytes(k->local);
  if (k->local && k->local->messages)
    bytes += k->local->messages->count * (long long)sizeof(struct message);
  return bytes;
}

long long tasks_bytes(const struct task_graph *g) {
  size_t bytes = sizeof *g + (size_t)g->ntasks * (sizeof *g->tasks + (g->order ? sizeof *g->order : 0)) +
                 (size_t)g->nresources * (sizeof *g->resources + sizeof *g->more) +
                 relation_bytes(&g->after) + relation_bytes(&g->locks) + relation_bytes(&g->uses) +
                 relation_bytes(&g->touched);
  for (const struct piece *p = g->pieces; p; p = p->next)
    bytes += sizeof *p + p->size;
  if (g->ranks)
    bytes += (size_t)bytes_on_ranks(g->ranks);
  for (int i = 0; g->run && i < g->run->threads; i++)
    bytes += sizeof *g->run->workers + (size_t)g->run->workers[i].ready.most * sizeof(struct entry);
  return (long long)bytes;
}

void tasks_tell(struct task_graph *g, op_graph_facts_t *facts) {
  if (g->past) {
    *facts = g->last;
    return;
  }
  /* On ranks: the part of this one. */
  struct task_graph *ran = g->ranks ? g->ranks->local : g;
  *facts = (op_graph_facts_t){.tasks = g->ntasks,
                              .dependencies = (long long)(g->after.count + g->after.nadded),
                              .resources = g->nresources,
                              .locks = (long long)(g->locks.count + g->locks.nadded),
                              .builds = g->builds,
                              .runs = g->runs + g->device.runs,
                              .threads = g->device.threads            ? g->device.threads
                                         : g->runs && ran && ran->run ? ran->run->threads
                                                                      : 0,
                              .executed = g->executed,
                              .stolen = g->stolen,
                              .refused = g->refused,
                              .bytes = tasks_bytes(g),
                              .seconds = g->seconds,
                              .busy = g->busy,
                              .idle = g->idle,
                              .critical = g->runs && ran && ran->sorted ? tasks_critical(ran) : 0,
                              .ranks = 1,
                              .groups = g->device.groups,
                              .device_bytes = g->device.bytes,
                              .copying = g->device.copies};
  if (g->ranks) {
    facts->ranks = g->ranks->size;
    facts->messages = g->ranks->messages;
    facts->message_bytes = g->ranks->bytes;
    facts->waited = g->ranks->waited;
  }
}

bool tasks_tell_type(const struct task_graph *g, int index, struct tasks_type_facts *facts) {
  if (index >= g->ntypes)
    return false;
  const struct task_type *type = &g->types[index];
  *facts = (struct tasks_type_facts){.name = type->name, .count = type->count, .seconds = type->seconds};
  return true;
}

struct tasks_sums tasks_sums(const struct task_graph *g) {
  return g->sums;
}
