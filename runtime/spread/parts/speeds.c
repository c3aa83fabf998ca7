#include "spread/parts/speeds.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/parts/partition.h"

/* Less than so many nanoseconds on a rank are noise; ranks that differ by less than a tenth are taken for alike. */
enum { LEAST_TIME = 10000000 };
static const double alike = 1.1, steps_per_octave = 16;

bool speeds_are_measured(const struct op_context *ctx) {
  const char *value = env_value(ctx->env, ENV_SPEEDS);
  return strcmp(value, "measured") == 0 ||
         (!*value && (ctx->peers || strcmp(env_value(ctx->env, ENV_BALANCE), "on") == 0));
}

/* With a point, whatever the program's locale has there; *end is behind it, or at the text where there is none. */
static double read_number(const char *text, const char **end) {
  const char *point = localeconv()->decimal_point;
  const int length = (int)strspn(text, "0123456789.+-eE"), whole = (int)strcspn(text, ".");
  const bool has_point = whole < length;
  char copy[64], *behind;
  const int written =
      snprintf(copy, sizeof copy, "%.*s%s%.*s", has_point ? whole : length, text, has_point ? point : "",
               has_point ? length - whole - 1 : 0, has_point ? text + whole + 1 : "");
  const double number = strtod(copy, &behind);
  *end = written > 0 && written < (int)sizeof copy && !*behind ? text + length : text;
  return number;
}

/* The speed that is given for a rank by its number on its machine; 0: none. Takes no memory, for all ranks go by the result. */
static double given(const char *list, int node_rank) {
  const char *word = list, *end;
  for (const char *next; node_rank > 0 && (next = strchr(word, ',')); node_rank--)
    word = next + 1;
  const double speed = read_number(word, &end);
  return end != word && (!*end || *end == ',') && speed >= 1e-3 && speed <= 1e6 ? speed : 0;
}

int speeds_check(const struct op_context *ctx, struct error *err) {
  const char *value = env_value(ctx->env, ENV_SPEEDS);
  int words = 1;
  bool good = true;
  for (const char *p = value; (p = strchr(p, ',')); p++)
    words++;
  for (int i = 0; i < words; i++)
    good &= given(value, i) > 0;
  if (!*value || good || strcmp(value, "measured") == 0 || strcmp(value, "equal") == 0)
    return OP_OK;
  return error_set(
      err, OP_ERR_ENV,
      "OP2_SPEEDS=%s: expected measured, equal, or numbers from 0.001 to 1000000 with ',' between "
      "them; correct or unset it",
      value);
}

double speeds_given(const struct op_context *ctx) {
  return given(env_value(ctx->env, ENV_SPEEDS), ctx->comm->node_rank);
}

/* The load of this rank, in costs. */
static double load_of(const struct partition_call *call, const struct share *share, const int *cost) {
  double load = cost ? 0 : (double)share->sets[call->prime->id].owned;
  for (int s = 0; cost && s < share->nsets; s++)
    load += (double)cost[s] * (double)share->sets[s].owned;
  return load;
}

/* The values that ranks tell: 0, not known; -1, without meaning, as the speed of a rank that has nothing to do. */
enum { GIVEN, MEASURED, RATE, SPEEDS, BUSY = SPEEDS, TOLD };

static void own_speeds(const struct op_context *ctx, const struct partition_call *call,
                       const struct share *share, const int *cost, double *out) {
  const double load = load_of(call, share, cost);
  out[GIVEN] = speeds_given(ctx);
  out[MEASURED] = load <= 0 ? -1 : call->busy > 0 ? load / (double)call->busy : 0;
  out[BUSY] = (double)call->busy;
  out[RATE] = call->rate;
}

/* A rank that says nothing gets the mean of the others. */
static void to_steps(const double (*all)[TOLD], int ranks, int which, int *speeds) {
  double most = 0, least = INFINITY, sum = 0;
  int known = 0;
  for (int r = 0; r < ranks; r++)
    if (all[r][which] > 0) {
      most = fmax(most, all[r][which]);
      least = fmin(least, all[r][which]);
      sum += all[r][which];
      known++;
    }
  for (int r = 0; r < ranks; r++) {
    const double share = (all[r][which] > 0 ? all[r][which] : sum / known) / most;
    const double step = which == GIVEN ? share
                        : most < alike * least
                            ? 1
                            : exp2(round(log2(share) * steps_per_octave) / steps_per_octave);
    speeds[r] = (int)fmax(1, round((double)MOST_SPEED * step));
  }
}

/* A rank that took little may be a fast one; if all did, it was chance. */
static bool all_know(const double (*all)[TOLD], int ranks, int which) {
  bool any = false;
  double most = 0;
  for (int r = 0; r < ranks; r++) {
    if (all[r][which] == 0)
      return false;
    any |= all[r][which] > 0;
    most = fmax(most, all[r][BUSY]);
  }
  return any && (which != MEASURED || most >= (double)LEAST_TIME);
}

static bool differ(const int *speeds, int ranks) {
  for (int r = 1; r < ranks; r++)
    if (speeds[r] != speeds[0])
      return true;
  return false;
}

static void tell(const struct op_context *ctx, const int *speeds, int which) {
  static const char *const from[] = {"as OP2_SPEEDS says", "by what their loops took", "by their memory"};
  enum { MOST_TOLD = 16 };
  struct text line = {0};
  for (int r = 0; r < ctx->comm->size && r < MOST_TOLD; r++)
    text_addf(&line, "%s%.3f", r ? ", " : "", (double)speeds[r] / (double)MOST_SPEED);
  log_line(ctx->log, LOG_INFO, "mesh", "op_partition takes ranks for so fast, %s: %s%s", from[which],
           text_str(&line), ctx->comm->size > MOST_TOLD ? ", ..." : "");
  text_free(&line);
}

int parts_speeds(struct op_context *ctx, const struct partition_call *call, const struct share *share,
                 const int *cost, int **speeds, struct error *err) {
  const int ranks = ctx->comm->size;
  double own[TOLD];
  *speeds = NULL;
  if (!speeds_are_measured(ctx) && speeds_given(ctx) <= 0)
    return OP_OK;
  own_speeds(ctx, call, share, cost, own);
  double(*all)[TOLD] = array_new((size_t)ranks, sizeof *all);
  int *found = array_new((size_t)ranks, sizeof *found);
  int code = all && found ? OP_OK : error_memory(err, "the speeds of ranks", (size_t)ranks * sizeof *all);
  code = agree_on_success(ctx->comm, code, err);
  if (!code)
    code = ctx->comm->table->gather_all(ctx->comm, own, sizeof own, all, err);
  const double(*known)[TOLD] = (const double(*)[TOLD])all;
  int which = GIVEN;
  while (!code && which < SPEEDS && !all_know(known, ranks, which))
    which++;
  if (!code && which < SPEEDS) {
    to_steps(known, ranks, which, found);
    if (differ(found, ranks)) {
      *speeds = found;
      found = NULL;
      if (ctx->comm->rank == 0)
        tell(ctx, *speeds, which);
    }
  }
  free(found);
  free(all);
  return code;
}
