/* op2jit tune: what was measured, and what was chosen. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static void json_row(struct text *out, const struct store_tuning *t) {
  json_object(out, NULL,
              "loop:t signature:t target:t threads:n mesh:t variant:t median_seconds:d default_seconds:d "
              "measurements:n chosen:b made:i",
              t->loop, t->signature, t->target, t->threads, t->mesh, t->variant, t->median, t->baseline,
              t->count, t->chosen, t->made);
}

static void plain_median(struct text *out, const struct store_tuning *t) {
  if (t->median > 0)
    text_addf(out, "%9.4f ms", t->median * 1e3);
  else
    text_addf(out, "%12s", "failed");
}

/* How much of a signature is shown: of a hash its begin, of words all. */
static int shown(const char *signature, int most) {
  const int length = (int)strlen(signature);
  const bool hash = length > most && (int)strspn(signature, "0123456789abcdef") == length;
  return hash ? most : length;
}

static void widen(int *width, const char *word) {
  const int length = (int)strlen(word);
  *width = length > *width ? length : *width;
}

/* Where a row was measured is said where rows of one loop must be told apart, and of what is no loop's. */
static bool says_where(const struct store_tuning *rows, int n, int i, int signature) {
  bool says = shown(rows[i].signature, signature) > signature || strcmp(rows[i].target, rows[0].target) != 0;
  for (int k = 0; k < n && !says; k++)
    says = k != i && strcmp(rows[k].loop, rows[i].loop) == 0;
  return says;
}

/* In 100 columns. */
static void plain_rows(struct text *out, const struct store_tuning *rows, int n) {
  enum { SIGNATURE = 8, FIXED = 49, MINUTES = 16, LEAST = 12 };
  char when[32];
  int loop = 0, variant = 0;
  widen(&loop, "loop");
  widen(&variant, "variant");
  for (int i = 0; i < n; i++) {
    widen(&loop, rows[i].loop);
    widen(&variant, rows[i].variant);
  }
  const int room = CLI_COLUMNS - FIXED - loop;
  variant = variant <= room ? variant : room > LEAST ? room : LEAST;
  if (n)
    text_addf(out, "  %-*s %-*s %7s %12s %6s  on\n", loop, "loop", variant, "variant", "threads", "median",
              "count");
  for (int i = 0; i < n; i++) {
    const struct store_tuning *t = &rows[i];
    text_addf(out, "%c %-*s ", t->chosen ? '*' : ' ', loop, t->loop);
    if ((int)strlen(t->variant) > variant)
      text_addf(out, "%s\n  %*s %*s ", t->variant, loop, "", variant, "");
    else
      text_addf(out, "%-*s ", variant, t->variant);
    text_addf(out, "%7d ", t->threads);
    plain_median(out, t);
    text_addf(out, " %6d  %.*s\n", t->count, MINUTES, cli_time(t->made, when));
    if (says_where(rows, n, i, SIGNATURE)) {
      const size_t begin = out->length;
      text_addf(out, "      signature %.*s, mesh %s, machine %s\n", shown(t->signature, SIGNATURE),
                t->signature, t->mesh, t->target);
      cli_wrap(out, begin, 6);
    }
  }
  if (n)
    text_addf(out, "on %s; op2jit tune show LOOP has all of a loop\n", rows[0].target);
}

bool cli_same_place(const struct store_tuning *a, const struct store_tuning *b) {
  return a->threads == b->threads && strcmp(a->signature, b->signature) == 0 &&
         strcmp(a->target, b->target) == 0 && strcmp(a->mesh, b->mesh) == 0;
}

static const struct store_tuning *chosen_of(const struct store_tuning *rows, int n,
                                            const struct store_tuning *place) {
  for (int i = 0; i < n; i++)
    if (rows[i].chosen && cli_same_place(&rows[i], place))
      return &rows[i];
  return NULL;
}

/* Rows of different runs are compared by what the default took in each. */
static double relative(const struct store_tuning *t) {
  return t->baseline > 0 ? t->median / t->baseline : t->median;
}

static bool is_fastest(const struct store_tuning *rows, int n, const struct store_tuning *t) {
  for (int i = 0; i < n; i++)
    if (cli_same_place(&rows[i], t) && rows[i].median > 0 && relative(&rows[i]) < relative(t))
      return false;
  return true;
}

/* Why this row has the star, or has none though it looks better. The default keeps its place unless another one is
 * faster by more than the noise, and two runs of one are too few to be compared. Rows with one time of the default
 * are of one run. */
static const char *why(const struct store_tuning *rows, int n, const struct store_tuning *t) {
  enum { COMPARED = 3 };
  const struct store_tuning *chosen = chosen_of(rows, n, t);
  if (t->median <= 0)
    return "it could not be used";
  if (!chosen)
    return "";
  const bool is_default = chosen->median == chosen->baseline, fastest = is_fastest(rows, n, chosen);
  if (t == chosen)
    return t->provisional ? "used: the best so far, not all were tried"
           : fastest      ? "used: the fastest"
           : is_default   ? "used: the default, as none is faster by more than the noise"
                          : "used: the fastest of its run";
  if (relative(t) >= relative(chosen))
    return "slower";
  return t->count < COMPARED               ? "too few runs to be compared"
         : t->baseline != chosen->baseline ? "of another run"
         : is_default                      ? "faster than the default by less than the noise"
                                           : "";
}

/* Each candidate under the place where it was measured. */
static void plain_details(struct text *out, const struct store_tuning *rows, int n) {
  enum { SIGNATURE = 12 };
  char when[32];
  int variant = 0;
  widen(&variant, "variant");
  for (int i = 0; i < n; i++)
    widen(&variant, rows[i].variant);
  for (int i = 0; i < n; i++) {
    const struct store_tuning *t = &rows[i];
    if (i == 0 || !cli_same_place(t, &rows[i - 1]))
      text_addf(out,
                "%s, signature %.*s\n  target %s, %d threads\n  mesh %s\n    %-*s %12s %11s %6s  %-19s  %s\n",
                t->loop, shown(t->signature, SIGNATURE), t->signature, t->target, t->threads, t->mesh,
                variant, "variant", "median", "of default", "count", "on", "why");
    text_addf(out, "  %c %-*s ", t->chosen ? '*' : ' ', variant, t->variant);
    plain_median(out, t);
    if (t->median > 0 && t->baseline > 0)
      text_addf(out, " %9.0f %%", 100 * t->median / t->baseline);
    else
      text_addf(out, " %11s", "");
    text_addf(out, " %6d  %s  %s\n", t->count, cli_time(t->made, when), why(rows, n, t));
  }
}

/* CLI_OK if something was measured of this loop, or if it is NULL. */
static int check_loop(const struct cli *cli, const char *said) {
  struct store_tuning *rows;
  const struct store_tuning_filter all = {0};
  struct text names = {0};
  const int n = store_get_tunings(cli->store, &all, &rows);
  for (int i = 0; i < n; i++)
    cli_note_name(&names, rows[i].loop);
  store_tunings_free(rows, n);
  return cli_check_name(&names, "nothing was measured of", said,
                        "op2jit warm PROGRAM measures its loops, whatever it costs; op2jit tune ls");
}

typedef void print_rows(struct text *out, const struct store_tuning *rows, int n);

static void json_rows(struct text *out, const struct store_tuning *rows, int n) {
  json_open(out, NULL, '[');
  for (int i = 0; i < n; i++)
    json_row(out, &rows[i]);
  json_close(out, ']');
}

/* The number of rows; -1 after a message: there is no such loop. */
static int print(const struct cli *cli, const char *loop, bool chosen_only, print_rows *how,
                 struct text *out) {
  struct store_tuning *rows;
  const struct store_tuning_filter filter = {.loop = loop, .chosen_only = chosen_only};
  if (check_loop(cli, loop) != CLI_OK)
    return -1;
  const int n = store_get_tunings(cli->store, &filter, &rows);
  how(out, rows, n);
  store_tunings_free(rows, n);
  return n;
}

static int run_ls(struct cli *cli) {
  const int n = print(cli, cli->words[0], true, cli->json ? json_rows : plain_rows, &cli->out);
  if (n == 0 && !cli->json)
    text_add(&cli->out, "no variant is chosen yet\n");
  return n < 0 ? CLI_FAILED : CLI_OK;
}

static int run_show(struct cli *cli) {
  const int n = print(cli, cli->words[0], false, cli->json ? json_rows : plain_details, &cli->out);
  return n < 0 ? CLI_FAILED : CLI_OK;
}

static int run_clear(struct cli *cli) {
  if (check_loop(cli, cli->words[0]) != CLI_OK)
    return CLI_FAILED;
  const struct store_tuning_filter filter = {.loop = cli->words[0]};
  const int gone = store_clear_tunings(cli->store, &filter);
  text_addf(&cli->out, cli->json ? "{\"cleared\":%d}" : "%d measurements cleared\n", gone);
  return CLI_OK;
}

static int run_export(struct cli *cli) {
  const char *path = cli->words[0];
  const bool out = strcmp(path, "-") == 0;
  struct text json = {0};
  const int n = print(cli, cli->words[1], false, json_rows, &json);
  text_add_char(&json, '\n');
  int status = n < 0 ? CLI_FAILED : !text_ok(&json) ? cli_fail(CLI_FAILED, "out of memory") : CLI_OK;
  if (status == CLI_OK && out)
    fputs(text_str(&json), stdout);
  else if (status == CLI_OK && access(path, F_OK) == 0)
    status = cli_fail(CLI_FAILED, "%s cannot be made: %s", path, strerror(EEXIST));
  else if (status == CLI_OK && (status = cli_write(cli, path, &json)) == CLI_OK)
    text_addf(&cli->out, cli->json ? "{\"exported\":%d}" : "%d measurements exported\n", n);
  text_free(&json);
  return status;
}

const struct command cli_tune[] = {{.group = "tune",
                                    .name = "ls",
                                    .arguments = "[LOOP]",
                                    .access = CLI_LOOK,
                                    .help = "List the variants that were chosen",
                                    .run = run_ls},
                                   {.group = "tune",
                                    .name = "show",
                                    .arguments = "LOOP",
                                    .access = CLI_LOOK,
                                    .help = "Show every measurement of a loop",
                                    .run = run_show},
                                   {.group = "tune",
                                    .name = "clear",
                                    .arguments = "[LOOP]",
                                    .access = CLI_CHANGE,
                                    .help = "Forget measurements",
                                    .run = run_clear},
                                   {.group = "tune",
                                    .name = "export",
                                    .arguments = "FILE [LOOP]",
                                    .access = CLI_LOOK,
                                    .help = "Write the measurements as JSON",
                                    .run = run_export},
                                   {0}};
