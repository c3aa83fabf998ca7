/* op2jit tune: what was measured, and what was chosen. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static void json_row(struct text *out, const struct store_tuning *t) {
  json_open(out, NULL, '{');
  json_text(out, "loop", t->loop);
  json_text(out, "signature", t->signature);
  json_text(out, "target", t->target);
  json_number(out, "threads", t->threads);
  json_text(out, "mesh", t->mesh);
  json_text(out, "variant", t->variant);
  json_real(out, "median_seconds", t->median);
  json_real(out, "default_seconds", t->baseline);
  json_number(out, "measurements", t->count);
  json_bool(out, "chosen", t->chosen);
  json_number(out, "made", t->made);
  json_close(out, '}');
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

/* What tells two lines of one loop apart comes last, since it is long: the kernel and its arguments, the class of the mesh, the
 * machine or device. */
static void plain_rows(struct text *out, const struct store_tuning *rows, int n) {
  enum { SIGNATURE = 8 };
  char when[32];
  int loop = 0, variant = 0, signature = 0, mesh = 0;
  widen(&loop, "loop");
  widen(&variant, "variant");
  widen(&signature, "signature");
  widen(&mesh, "mesh");
  for (int i = 0; i < n; i++) {
    const int length = shown(rows[i].signature, SIGNATURE);
    widen(&loop, rows[i].loop);
    widen(&variant, rows[i].variant);
    signature = length > signature ? length : signature;
    widen(&mesh, rows[i].mesh);
  }
  if (n)
    text_addf(out, "  %-*s %-*s %7s %12s %6s  %-19s  %-*s  %-*s  %s\n", loop, "loop", variant, "variant",
              "threads", "median", "count", "on", signature, "signature", mesh, "mesh", "machine");
  for (int i = 0; i < n; i++) {
    const struct store_tuning *t = &rows[i];
    text_addf(out, "%c %-*s %-*s %7d ", t->chosen ? '*' : ' ', loop, t->loop, variant, t->variant,
              t->threads);
    plain_median(out, t);
    text_addf(out, " %6d  %-19s  %-*.*s  %-*s  %s\n", t->count, cli_time(t->made, when), signature,
              shown(t->signature, SIGNATURE), t->signature, mesh, t->mesh, t->target);
  }
}

static bool same_place(const struct store_tuning *a, const struct store_tuning *b) {
  return a->threads == b->threads && strcmp(a->signature, b->signature) == 0 &&
         strcmp(a->target, b->target) == 0 && strcmp(a->mesh, b->mesh) == 0;
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
    if (i == 0 || !same_place(t, &rows[i - 1]))
      text_addf(out, "%s, signature %.*s\n  target %s, %d threads\n  mesh %s\n    %-*s %12s %11s %6s  %s\n",
                t->loop, shown(t->signature, SIGNATURE), t->signature, t->target, t->threads, t->mesh,
                variant, "variant", "median", "of default", "count", "on");
    text_addf(out, "  %c %-*s ", t->chosen ? '*' : ' ', variant, t->variant);
    plain_median(out, t);
    if (t->median > 0 && t->baseline > 0)
      text_addf(out, " %9.0f %%", 100 * t->median / t->baseline);
    else
      text_addf(out, " %11s", "");
    text_addf(out, " %6d  %s\n", t->count, cli_time(t->made, when));
  }
}

/* CLI_OK if something was measured of the loop that the command names, or if it names none. */
static int check_loop(struct cli *cli, struct store *store) {
  struct store_tuning *rows;
  const struct store_tuning_filter all = {0};
  const char *said = cli->nwords ? cli->words[0] : NULL;
  struct text names = {0};
  bool known = !said;
  const int n = store_get_tunings(store, &all, &rows);
  for (int i = 0; i < n; i++) {
    cli_note_name(&names, rows[i].loop);
    known |= said && strcmp(rows[i].loop, said) == 0;
  }
  const int status = known ? CLI_OK : cli_no_loop(&names, "nothing was measured of", said, "op2jit tune ls");
  text_free(&names);
  store_tunings_free(rows, n);
  return status;
}

static int print_rows(struct cli *cli, struct text *out, bool chosen_only, bool details, bool json) {
  struct store *store = cli_open_store(cli, CLI_LOOK);
  if (!store)
    return -1;
  struct store_tuning *rows;
  struct store_tuning_filter filter = {.loop = cli->nwords ? cli->words[0] : NULL,
                                       .chosen_only = chosen_only};
  if (check_loop(cli, store) != CLI_OK) {
    store_close(store);
    return -1;
  }
  int n = store_get_tunings(store, &filter, &rows);
  if (json)
    json_open(out, NULL, '[');
  if (!json && details)
    plain_details(out, rows, n);
  if (!json && !details)
    plain_rows(out, rows, n);
  for (int i = 0; i < n && json; i++)
    json_row(out, &rows[i]);
  if (json)
    json_close(out, ']');
  store_tunings_free(rows, n);
  store_close(store);
  return n;
}

static int run_ls(struct cli *cli) {
  int n = print_rows(cli, &cli->out, true, false, cli->json);
  if (n == 0 && !cli->json)
    text_add(&cli->out, "no variant is chosen yet\n");
  return n < 0 ? CLI_FAILED : CLI_OK;
}

static int run_show(struct cli *cli) {
  return print_rows(cli, &cli->out, false, true, cli->json) < 0 ? CLI_FAILED : CLI_OK;
}

static int run_clear(struct cli *cli) {
  struct store *store = cli_open_store(cli, CLI_CHANGE);
  if (!store)
    return CLI_FAILED;
  if (check_loop(cli, store) != CLI_OK) {
    store_close(store);
    return CLI_FAILED;
  }
  struct store_tuning_filter filter = {.loop = cli->nwords ? cli->words[0] : NULL};
  int gone = store_clear_tunings(store, &filter);
  if (cli->json) {
    json_open(&cli->out, NULL, '{');
    json_number(&cli->out, "cleared", gone);
    json_close(&cli->out, '}');
  } else
    text_addf(&cli->out, "%d measurements cleared\n", gone);
  store_close(store);
  return CLI_OK;
}

static int run_export(struct cli *cli) {
  const char *path = cli->words[0];
  struct text json = {0};
  int status = CLI_OK;
  cli->words++;
  cli->nwords--;
  int n = print_rows(cli, &json, false, false, true);
  cli->words--;
  cli->nwords++;
  text_add_char(&json, '\n');
  FILE *f = n < 0 || !text_ok(&json) ? NULL : strcmp(path, "-") == 0 ? stdout : fopen(path, "wx");
  if (n < 0)
    status = CLI_FAILED;
  else if (!f)
    status = cli_fail(CLI_FAILED, "%s cannot be made: %s", path, strerror(errno));
  else {
    bool written = fputs(text_str(&json), f) >= 0 && fflush(f) == 0;
    if (f != stdout)
      written = fclose(f) == 0 && written;
    if (!written) {
      status = cli_fail(CLI_FAILED, "%s cannot be written: %s", path, strerror(errno));
      if (f != stdout) /* it was made here, and would be in the way of the next try */
        unlink(path);
    } else if (f != stdout)
      text_addf(&cli->out, cli->json ? "{\"exported\":%d}" : "%d measurements exported\n", n);
  }
  text_free(&json);
  return status;
}

const struct command cli_tune[] = {
    {"tune",
     "ls",
     "[LOOP]",
     0,
     1,
     "List the variants that were chosen",
     "With what tells lines of one loop apart: when it was measured, the signature of kernel and arguments, "
     "the class of the "
     "mesh, and the machine or device.",
     run_ls,
     {{0}},
     false},
    {"tune",
     "show",
     "LOOP",
     1,
     1,
     "Show every measurement of a loop",
     "By machine, threads and mesh; a star marks what was chosen. Of several runs what counts is the part of "
     "the default's time in the same run (of default). count: measurements behind the median.",
     run_show,
     {{0}},
     false},
    {"tune",
     "clear",
     "[LOOP]",
     0,
     1,
     "Forget measurements",
     "The next run measures again.",
     run_clear,
     {{0}},
     false},
    {"tune",
     "export",
     "FILE [LOOP]",
     1,
     2,
     "Write the measurements as JSON",
     "FILE - is the standard output.",
     run_export,
     {{0}},
     false},
};
const int cli_tune_count = (int)(sizeof cli_tune / sizeof *cli_tune);
