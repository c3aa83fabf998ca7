/* Finds the elements that explain a sum which only the file has wrong: a row of them that was overlooked, or came twice. A run
 * in which the sum is a dat shows what each element adds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "check/shadow.h"
#include "cli/replay.h"

/* Elements of the call, by their places in it. */
struct block {
  long long begin, end;
  bool twice;
};

/* The one argument that adds to it; NULL: none, or several. */
static struct capture_arg *find_sum(struct capture *c, int data, struct capture_call **call) {
  struct capture_arg *found = NULL;
  int count = 0;
  for (int i = 0; i < c->ncalls; i++)
    for (int a = 0; a < c->calls[i].nargs; a++)
      if (c->calls[i].args[a].data == data) {
        found = &c->calls[i].args[a];
        *call = &c->calls[i];
        count++;
      }
  return count == 1 && found->form == DESC_GBL && found->access == OP_INC ? found : NULL;
}

/* A run of a copy in which each element of the call has a row of its own. */
static int run_each(struct judge *j, const struct capture *c, int number, struct capture *each,
                    struct outcome *ran, struct error *err) {
  struct capture_call *call;
  int code = capture_copy(c, each, err);
  if (code)
    return code;
  struct capture_arg *arg = find_sum(each, number, &call);
  struct capture_data *data = &each->data[number];
  arg->form = DESC_DAT;
  data->kind = CAPTURE_DAT;
  data->set = call->set;
  free(data->before);
  free(data->after);
  data->after = NULL;
  data->before = array_new(capture_rows(each, data), capture_row(data));
  return data->before ? rerun(&j->wanted, each, ran, err) : error_memory(err, "a capture", 0);
}

static const unsigned char *values_of(const struct outcome *ran, int number) {
  for (int p = 0; ran->end == RERUN_RAN && p < ran->places.count; p++)
    if (ran->places.items[p].number == number)
      return ran->values + ran->places.items[p].offset;
  return NULL;
}

/* The shortest row of elements whose sum is missing, or there once more. */
static bool find_block(const double *sums, long long count, double missing, double tolerance,
                       struct block *out) {
  const long long work = 1LL << 28;
  double best = tolerance;
  bool found = false;
  for (long long n = 1; !found && n <= count && n * count < work; n++)
    for (long long i = 0; i + n <= count; i++) {
      const double sum = sums[i + n] - sums[i], less = fabs(sum - missing), more = fabs(sum + missing);
      if (!(fmin(less, more) <= best)) /* NaN is none */
        continue;
      best = fmin(less, more);
      *out = (struct block){i, i + n, more < less};
      found = true;
    }
  return found;
}

static bool explain(const struct capture *c, const struct capture_call *call, const struct fault *f,
                    const unsigned char *each, struct block *out) {
  const struct capture_data *data = &c->data[f->data];
  const size_t size = type_info(data->type)->size;
  double *sums = array_new((size_t)call->count + 1, sizeof *sums);
  for (long long i = 0; sums && i < call->count; i++)
    sums[i + 1] =
        sums[i] + type_number(data->type,
                              each + (size_t)(capture_element(call, i) * data->dim) * size + f->value * size);
  const double start = type_number(data->type, data->before + f->value * size);
  const double tolerance =
      values_allowed(data->type, (double)call->count) * fmax(fabs(start), fmax(fabs(f->is), fabs(f->other)));
  const bool found = sums && isfinite(f->is) && isfinite(f->other) &&
                     find_block(sums, call->count, f->is - f->other, tolerance, out);
  free(sums);
  return found;
}

/* The kept sum becomes what the program would have of the elements that are left: those of the block count not at all, or
 * twice. */
static void add_kept(const struct capture_call *call, const struct capture_data *data,
                     const unsigned char *each, const unsigned char *runs, const struct block *block,
                     unsigned char *kept) {
  const size_t row = capture_row(data), size = type_info(data->type)->size;
  for (long long i = 0; i < call->count; i++) {
    const long long e = capture_element(call, i);
    const bool inside = i >= block->begin && i < block->end;
    const int times = !runs[e] ? 0 : !inside ? 1 : block->twice ? 2 : 0;
    for (size_t at = 0; at < row; at += size)
      for (int n = 0; n < times; n++)
        type_combine(data->type, OP_INC, kept + at, each + (size_t)e * row + at);
  }
}

/* Only they are left, with what they need. */
static int take_block(struct judge *j, struct capture *c, const struct capture_call *call, int number,
                      const unsigned char *each, const struct block *block, struct error *err) {
  const struct capture_data *data = &c->data[number];
  const int nsets = c->nsets;
  unsigned char **runs = capture_flags(c), *kept = malloc(capture_row(data));
  int code = runs && kept ? OP_OK : error_memory(err, "a capture", capture_row(data));
  for (long long i = block->begin; !code && i < block->end; i++)
    runs[call->set][capture_element(call, i)] = 1;
  if (!code)
    code = reduce_needs(c, runs, err);
  if (!code) {
    memcpy(kept, data->before, capture_row(data));
    add_kept(call, data, each, runs[call->set], block, kept);
    code = capture_select(c, (const unsigned char *const *)runs, &number, NULL, err);
  }
  if (!code)
    code = reduce_keep(j, c, number, 0, kept, err);
  capture_flags_free(runs, nsets);
  free(kept);
  return code;
}

int reduce_sum(struct judge *j, struct capture *c, struct error *err) {
  struct capture each = {0};
  struct outcome ran = {0};
  struct capture_call *call = NULL;
  struct fault f;
  struct block block;
  int code = fault_find(j, c, FAULT_KEPT, &f, err);
  if (!code && f.kind && find_sum(c, f.data, &call)) {
    code = run_each(j, c, f.data, &each, &ran, err);
    const unsigned char *values = code ? NULL : values_of(&ran, f.data);
    if (values && explain(c, call, &f, values, &block))
      code = take_block(j, c, call, f.data, values, &block, err);
  }
  outcome_free(&ran);
  capture_free(&each);
  fault_free(&f);
  return code;
}

/* A kept value depends on earlier calls too: adds their elements that changed what the wanted elements read. */

/* By data and row: the number of the last call that reads it, from 1; 0: none does. */
struct needs {
  const struct capture *c;
  unsigned char **runs;
  int **last;
  bool more;
};

static struct capture_reach rows_of(const struct needs *n, const struct capture_arg *arg, long long element) {
  return arg->form == DESC_DAT ? capture_reach(n->c, arg, element) : (struct capture_reach){0, 1, NULL};
}

/* True if the element changes in that call what a later one reads. */
static bool is_needed(const struct needs *n, int number, long long element) {
  const struct capture_call *call = &n->c->calls[number];
  bool needed = false;
  for (int a = 0; !needed && a < call->nargs; a++) {
    const struct capture_arg *arg = &call->args[a];
    if (arg->data < 0 || !capture_arg_changes(arg))
      continue;
    const struct capture_reach reach = rows_of(n, arg, element);
    for (long long k = reach.begin; k < reach.end && !needed; k++)
      needed = n->last[arg->data][capture_place(&reach, k)] > number + 1;
  }
  return needed;
}

static void need(struct needs *n, int number, long long element) {
  const struct capture_call *call = &n->c->calls[number];
  for (int a = 0; a < call->nargs; a++) {
    const struct capture_arg *arg = &call->args[a];
    if (arg->data < 0 || !arg->present || !access_reads((int)arg->access))
      continue;
    const struct capture_reach reach = rows_of(n, arg, element);
    for (long long k = reach.begin; k < reach.end; k++) {
      int *last = &n->last[arg->data][capture_place(&reach, k)];
      n->more |= *last < number + 1;
      *last = *last < number + 1 ? number + 1 : *last;
    }
  }
}

static void look_at_call(struct needs *n, int number) {
  const struct capture_call *call = &n->c->calls[number];
  for (long long i = 0; i < call->count; i++) {
    const long long element = capture_element(call, i);
    unsigned char *run = &n->runs[call->set][element];
    if (!*run && is_needed(n, number, element)) {
      *run = 1;
      n->more = true;
    }
    if (*run)
      need(n, number, element);
  }
}

int reduce_needs(const struct capture *c, unsigned char **runs, struct error *err) {
  struct needs n = {.c = c, .runs = runs, .more = true};
  n.last = array_new((size_t)c->ndata, sizeof *n.last);
  bool good = n.last;
  for (int d = 0; good && d < c->ndata; d++)
    good = (n.last[d] = array_new(capture_rows(c, &c->data[d]), sizeof **n.last));
  while (good && n.more) {
    n.more = false;
    for (int i = c->ncalls - 1; i >= 0; i--)
      look_at_call(&n, i);
  }
  for (int d = 0; n.last && d < c->ndata; d++)
    free(n.last[d]);
  free(n.last);
  return good ? OP_OK : error_memory(err, "a capture", 0);
}
