/* Numbers that programs have, and names for messages. A number is the graph's serial number, the kind, and the index,
 * which is below 2^31. */
#include "tasks/inner.h"
#include "tasks/ranks.h"

long long tasks_number(const struct task_graph *g, enum number_kind kind, int index) {
  return ((long long)g->serial * 4 + kind) << 32 | index;
}

static const char *const kinds[] = {
    [NUMBER_TYPE] = "type", [NUMBER_TASK] = "task", [NUMBER_RESOURCE] = "resource"};

int tasks_index(const struct task_graph *g, long long number, enum number_kind kind, struct error *err) {
  const int counts[] = {
      [NUMBER_TYPE] = g->ntypes, [NUMBER_TASK] = g->ntasks, [NUMBER_RESOURCE] = g->nresources};
  const long long top = number >> 32;
  const unsigned low = (unsigned)(number & 0xffffffff);
  const char *what = number == 0 ? "none; the call that was to make it failed" : "no number of a graph";
  if (number > 0 && top / 4 == g->serial && top % 4 == (long long)kind && low < (unsigned)counts[kind])
    return (int)low;
  if (number > 0 && top / 4 > 0 && top % 4 <= NUMBER_RESOURCE)
    what = top / 4 != g->serial ? "of another graph" : top % 4 != (long long)kind ? "of another kind" : what;
  error_set(err, OP_ERR_HANDLE,
            "graph \"%s\": the %s is %s; expected what op_graph_%s returned for this graph", g->name,
            kinds[kind], what, kinds[kind]);
  return -1;
}

int tasks_refuse(const struct task_graph *g, int code, struct text *words, struct error *err) {
  error_set(err, code, "graph \"%s\": %s", g->name, text_str(words));
  text_free(words);
  return code;
}

void tasks_task_words(const struct task_graph *g, const struct task *task, struct text *out) {
  if (g->of && !task->is_added) {
    const int origin = g->origins[task - g->tasks];
    if (origin >= 0)
      tasks_task_words(g->of, &g->of->tasks[origin], out);
    else
      text_addf(out, "a message (%s)", g->types[task->type].name);
    return;
  }
  if (!task->is_added && ranks_task_words(g, (int)(task - g->tasks), out))
    return;
  if (task->is_added)
    text_addf(out, "an added task (%s)", g->types[task->type].name);
  else
    text_addf(out, "task %ld (%s)", (long)(task - g->tasks), g->types[task->type].name);
}

void tasks_resource_words(const struct task_graph *g, int resource, struct text *out) {
  if (g->of)
    g = g->of;
  const char *name = g->more[resource].name;
  if (name)
    text_addf(out, "resource \"%s\"", name);
  else if (!ranks_resource_words(g, resource, out))
    text_addf(out, "resource %d", resource);
}
