/* op2jit replay FILE */
#include <string.h>

#include "cli/replay.h"

enum { OPTION_RUN, OPTION_REDUCE, OPTION_TIMES, OPTION_BITS };

/* ---- what a file is of ---- */

static void show_arg(const struct capture *c, const struct capture_arg *a, struct text *out) {
  static const char *const forms[] = {
      [DESC_DAT] = "dat", [DESC_GBL] = "gbl", [DESC_IDX] = "idx", [DESC_INFO] = "info"};
  text_addf(out, "    %s", forms[a->form]);
  if (a->form == DESC_DAT && a->data >= 0)
    text_addf(out, " %s", c->data[a->data].name);
  text_addf(out, " %s %lld", type_info(a->type)->name, a->dim);
  if (a->map >= 0 && a->idx == OP_ALL)
    text_addf(out, " %s[]", c->maps[a->map].name);
  else if (a->map >= 0)
    text_addf(out, " %s[%lld]", c->maps[a->map].name, a->idx);
  text_addf(out, " %s\n", access_name((int)a->access));
}

static void show(struct cli *cli, const struct capture *c) {
  struct text *out = &cli->out;
  for (int i = 0; i < c->nfacts; i++)
    text_addf(out, "%-14s %s\n", c->facts[i].name, c->facts[i].words);
  for (int s = 0; s < c->nsets; s++)
    text_addf(out, "set %-10s %lld elements%s\n", c->sets[s].name, c->sets[s].size,
              c->sets[s].owned < c->sets[s].size ? ", some of other ranks" : "");
  for (int i = 0; i < c->ncalls; i++) {
    const struct capture_call *call = &c->calls[i];
    text_addf(out, "loop %s, ", call->name);
    if (*call->file)
      text_addf(out, "called at %s:%lld: ", call->file, call->line);
    text_addf(out, "%lld elements of set %s", call->count, c->sets[call->set].name);
    if (*call->variant)
      text_addf(out, ", %s, %.3g s", call->variant, call->seconds);
    text_add_char(out, '\n');
    for (int a = 0; a < call->nargs; a++)
      show_arg(c, &call->args[a], out);
  }
}

static void open_json(struct cli *cli, const struct capture *c) {
  struct text *out = &cli->out;
  json_open(out, NULL, '{');
  json_fields(out, "version:t machine:t backend:t", capture_fact(c, "version"), capture_fact(c, "machine"),
              capture_fact(c, "backend"));
  json_open(out, "loops", '[');
  for (int i = 0; i < c->ncalls; i++)
    json_object(out, NULL, "name:t file:t line:i elements:i variant:t seconds:d", c->calls[i].name,
                c->calls[i].file, c->calls[i].line, c->calls[i].count, c->calls[i].variant,
                c->calls[i].seconds);
  json_close(out, ']');
}

static int only_show(struct cli *cli, const struct capture *c) {
  if (cli->json) {
    open_json(cli, c);
    json_close(&cli->out, '}');
    return CLI_OK;
  }
  show(cli, c);
  text_add(&cli->out,
           "--run-code runs it. The code is that of whoever made the file, and may do what you may.\n");
  return CLI_OK;
}

/* ---- running it ---- */

static const char *const kinds[] = {[FAULT_OF_NOTHING] = "same",
                                    [FAULT_CHECK] = "check",
                                    [FAULT_REFUSED] = "refused",
                                    [FAULT_DIFFERS] = "differs",
                                    [FAULT_KEPT] = "kept"};

/* Plain code by one thread is what others are compared with. */
static int make_judge(const struct cli *cli, const struct capture *c, struct judge *j, struct error *err) {
  static const char *const quiet[] = {"OP2_LOG", "error", NULL};
  static const char *const plain[] = {"OP2_BACKEND", "seq",      "OP2_VARIANT", "scalar",     "OP2_FP",
                                      "strict",      "OP2_LAZY", "off",         "OP2_SHADOW", "",
                                      "OP2_LOG",     "error",    NULL};
  static const char *const checked[] = {"OP2_BACKEND", "seq", "OP2_CHECK",  "on", "OP2_VARIANT", "",
                                        "OP2_LAZY",    "off", "OP2_SHADOW", "",   "OP2_LOG",     "error",
                                        NULL};
  int code = rerun_make(&j->wanted, cli, c, cli->values[OPTION_REDUCE] ? quiet : NULL, err);
  if (!code)
    code = rerun_make(&j->plain, cli, c, plain, err);
  return code ? code : rerun_make(&j->checked, cli, c, checked, err);
}

static void free_judge(struct judge *j) {
  rerun_free(&j->wanted);
  rerun_free(&j->plain);
  rerun_free(&j->checked);
}

static double kept_seconds(const struct capture *c) {
  double seconds = 0;
  for (int i = 0; i < c->ncalls; i++)
    seconds += c->calls[i].seconds;
  return seconds;
}

static void tell_json(struct cli *cli, const struct capture *c, const struct fault *f,
                      const struct outcome *ran) {
  open_json(cli, c);
  json_fields(&cli->out, "result:t words:t variant:t first:d best:d kept:d", kinds[f->kind],
              text_str(&f->words), ran->variant, ran->first, ran->best, kept_seconds(c));
  json_close(&cli->out, '}');
}

static void tell(struct cli *cli, const struct capture *c, const struct fault *f, const struct outcome *ran) {
  struct text *out = &cli->out;
  if (cli->json) {
    tell_json(cli, c, f, ran);
    return;
  }
  if (f->kind == FAULT_OF_NOTHING)
    text_addf(out, "the results are those of the file\n");
  else
    text_addf(out, "%s\n", text_str(&f->words));
  if (ran->end != RERUN_RAN)
    return;
  if (ran->best > 0)
    text_addf(out, "best of %s: %.4g s; the first took %.4g s with compiling (%s)\n",
              cli->values[OPTION_TIMES], ran->best, ran->first, ran->variant);
  else
    text_addf(out, "it took %.4g s with compiling (%s)\n", ran->first, ran->variant);
  if (kept_seconds(c) > 0)
    text_addf(out, "in the program it took %.4g s (%s)\n", kept_seconds(c), c->calls[0].variant);
}

static int compare(struct cli *cli, struct judge *j, const struct capture *c, struct error *err) {
  struct outcome ran = {0};
  struct fault f = {0};
  const int code = rerun(&j->wanted, c, &ran, err);
  if (!code) {
    fault_of(j, c, &ran, &f);
    tell(cli, c, &f, &ran);
  }
  outcome_free(&ran);
  fault_free(&f);
  return cli_status(code || f.kind);
}

static int make_smaller(struct cli *cli, struct judge *j, struct capture *c, struct error *err) {
  enum { SECONDS = 60 };
  struct fault f = {0}, now = {0};
  j->wanted.seconds = j->plain.seconds = j->checked.seconds = SECONDS;
  int code = fault_find(j, c, FAULT_OF_NOTHING, &f, err);
  const bool shows = f.kind && f.kind != FAULT_KEPT;
  if (!code && shows)
    code = reduce(j, c, &f, err);
  if (!code && shows) /* the numbers of elements are others now */
    code = fault_find(j, c, FAULT_OF_NOTHING, &now, err);
  if (!code && shows)
    program_print(c, &j->wanted, now.kind == f.kind ? &now : &f, &cli->out);
  else if (!code && f.kind)
    text_addf(&cli->out, "%s; all ways to run it agree here, so that no smaller program shows it\n",
              text_str(&f.words));
  else if (!code)
    text_add(&cli->out, "nothing is wrong with it here\n");
  fault_free(&f);
  fault_free(&now);
  return cli_status(code || f.kind);
}

static int run_code(struct cli *cli, struct capture *c, struct error *err) {
  struct judge j = {.bits = cli->values[OPTION_BITS]};
  long long times = 0;
  if (cli->values[OPTION_TIMES] && !cli_number(cli->values[OPTION_TIMES], 1000000, &times))
    return cli_fail(CLI_USAGE, "--times %s: expected a whole number", cli->values[OPTION_TIMES]);
  if (strcmp(env_value(&cli->env, ENV_BACKEND), "native") == 0)
    return cli_fail(CLI_USAGE,
                    "OP2_BACKEND=native calls functions of the program, which no capture has; name another "
                    "backend (op2jit info lists those here)");
  int status = CLI_FAILED;
  const bool made = make_judge(cli, c, &j, err) == OP_OK;
  if (made && cli->values[OPTION_REDUCE])
    status = make_smaller(cli, &j, c, err);
  else if (made) {
    j.wanted.times = (int)times;
    status = compare(cli, &j, c, err);
  }
  free_judge(&j);
  return status;
}

static int run_replay(struct cli *cli) {
  struct capture c = {0};
  int status = CLI_FAILED;
  if (!cli->values[OPTION_RUN] && (cli->values[OPTION_REDUCE] || cli->values[OPTION_TIMES]))
    return cli_fail(CLI_USAGE, "that runs the file's code: say --run-code too, if you know who made it");
  if (capture_load(&c, cli->words[0], &cli->err) == OP_OK)
    status = cli->values[OPTION_RUN] ? run_code(cli, &c, &cli->err) : only_show(cli, &c);
  capture_free(&c);
  types_forget();
  return status;
}

const struct command cli_replay[] = {
    {.name = "replay",
     .arguments = "FILE",
     .help = "Run calls of loops that OP2_CAPTURE has kept",
     .run = run_replay,
     .options = {{"--run-code", NULL, "run the file's code: know who made it"},
                 {"--reduce", NULL, "make it smaller while it stays wrong, and print a program in C"},
                 {"--times", "N", "run it N times more, and say the best time"},
                 {"--bits", NULL, "compare bits; else what rounding may change is the same"}}},
    {0}};
