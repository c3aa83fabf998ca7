/* op2jit check: does a kernel do what its arguments say? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/aside.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "jit/found.h"
#include "jit/kernel/fortran/fortran.h"
#include "jit/kernel/kernel.h"
#include "jit/prove.h"

static const char *const verdicts[] = {[PROVE_PROVED] = "proved",
                                       [PROVE_C_ONLY] = "C only",
                                       [PROVE_UNKNOWN] = "unknown",
                                       [PROVE_VIOLATED] = "violated"};

/* A word that only programs have, and where; NULL: there is none. */
static const char *word_of_programs(const char *text, int *line) {
  static const char *const found_in[] = {"op2jit.h", "OP_KERNEL_DEF", "OP_KERNEL", "op_par_loop"};
  for (size_t i = 0; i < sizeof found_in / sizeof *found_in; i++) {
    const char *at = strstr(text, found_in[i]);
    if (!at)
      continue;
    *line = 0; /* the first line is not the file's */
    for (const char *c = text; c < at; c++)
      *line += *c == '\n';
    return found_in[i];
  }
  return NULL;
}

/* Whoever gives a program learns what to give before what is wrong with it as a kernel. In Fortran a program will do. */
static void explain_program(const struct cli *cli, const struct text *text, struct error *err) {
  int line = 0;
  const bool may = fortran_is(cli->words[0], text_str(text), text->length);
  const char *word = may ? NULL : word_of_programs(text_str(text), &line);
  if (word)
    error_prefix(
        err,
        "%s is a program (line %d: %s), but op2jit %s takes the kernel's text alone: put the function "
        "and its helpers in a file of their own, without op2jit.h and OP_KERNEL\n",
        cli->words[0], line, word, cli->command->name);
}

static int take_kernel(struct desc *d, const struct kernel *k, struct error *err) {
  d->kernel_name = strdup(k->name);
  d->text = strndup(k->text, k->length);
  d->fp = strdup("contract");
  bool good = origins_copy(&d->origins, &k->origins) && d->kernel_name && d->text && d->fp;
  return good ? OP_OK : error_memory(err, "a kernel text", k->length);
}

/* A proof of elements with targets, and one for each ragged map of elements without. */
struct proofs {
  struct proof items[1 + OP_MAX_ARGS];
  int count;
};

/* One of them; finding -1: nothing was found. */
struct found {
  const struct proof *proof;
  int finding;
};

static const struct prove_finding *finding_in(const struct found *f) {
  return f->finding < 0 ? NULL : &f->proof->result.findings[f->finding];
}

static struct found worst_of(const struct proofs *proofs, int argument) {
  struct found worst = {.proof = proofs->items, .finding = -1};
  for (int p = 0; p < proofs->count; p++) {
    const struct prove_result *result = &proofs->items[p].result;
    for (int i = 0; i < result->nfindings; i++) {
      const struct prove_finding *known = finding_in(&worst);
      if (result->findings[i].argument == argument &&
          result->findings[i].verdict > (known ? known->verdict : PROVE_PROVED))
        worst = (struct found){&proofs->items[p], i};
    }
  }
  return worst;
}

static void show_json(struct cli *cli, const struct desc *d, int number, const char *text,
                      const struct found *found) {
  const struct prove_finding *f = finding_in(found);
  struct text *out = &cli->out, reason = {0}, remedy = {0};
  json_open(out, NULL, '{');
  json_fields(out, "argument:n text:t verdict:t", number, text, verdicts[f ? f->verdict : PROVE_PROVED]);
  if (f) {
    text_add(&reason, prove_of(found->proof));
    found_reason(d, f, &reason);
    found_remedy(d, f, &remedy);
    json_fields(out, "reason:t remedy:t line:n column:n witness:t", text_str(&reason), text_str(&remedy),
                f->line, f->column, text_str(&found->proof->witnesses[found->finding]));
  }
  json_close(out, '}');
  text_free(&reason);
  text_free(&remedy);
}

/* Number 0: the kernel as a whole. */
static void show(struct cli *cli, const struct desc *d, int number, const struct found *found,
                 const struct generated *files) {
  const char *text = number ? cli->words[number] : "the kernel as a whole";
  const struct prove_finding *f = finding_in(found);
  struct text words = {0};
  if (cli->json) {
    show_json(cli, d, number, text, found);
    return;
  }
  text_addf(&cli->out, "%-8s  ", verdicts[f ? f->verdict : PROVE_PROVED]);
  if (number)
    text_addf(&cli->out, "argument %d: ", number);
  const bool ragged = number && desc_is_ragged(d, &d->args[number - 1]);
  text_addf(&cli->out, "%s%s\n", text, ragged && !f ? ", of an element with few targets" : "");
  if (f) {
    prove_tell(d, found->proof, found->finding, files->kernel_file, &words);
    text_addf(&cli->out, "%s\n%s", text_str(&words),
              found->proof->without_targets ? "it is right only where each element has a target\n" : "");
  }
  text_free(&words);
}

/* A line per argument, and one for the kernel if there is something to say of it. */
static int show_all(struct cli *cli, const struct desc *d, const struct generated *files,
                    const struct proofs *proofs) {
  bool violated = false;
  if (cli->json)
    json_open(&cli->out, NULL, '[');
  for (int i = -1; i < d->nargs; i++) {
    const struct found found = worst_of(proofs, i);
    violated |= found.finding >= 0 && finding_in(&found)->verdict == PROVE_VIOLATED;
    if (i >= 0 || found.finding >= 0)
      show(cli, d, i + 1, &found, files);
  }
  if (cli->json)
    json_close(&cli->out, ']');
  return violated ? CLI_FAILED : CLI_OK;
}

/* A mesh may have no element without targets: what is found of those is a doubt. */
static void ask_all(const struct plugin *plugin, struct desc *d, const struct generated *files,
                    struct proofs *proofs) {
  struct prove_length only;
  prove_ask(plugin, d, files, NULL, NULL, &proofs->items[proofs->count++]);
  for (int m = 0; m < d->nmaps; m++)
    d->maps[m].none = d->maps[m].ragged;
  for (int next = 0; (next = prove_next_length(d, next, &only)) > 0;) {
    struct proof *proof = &proofs->items[proofs->count++];
    prove_ask(plugin, d, files, &only, NULL, proof);
    for (int i = 0; i < proof->result.nfindings; i++)
      if (proof->result.findings[i].verdict == PROVE_VIOLATED)
        proof->result.findings[i].verdict = PROVE_UNKNOWN;
  }
}

/* Beside the JSON, as what people read. */
static void show_warnings(struct cli *cli, const struct desc *d, const struct generated *files,
                          const struct prove_result *result) {
  struct text warnings = {0};
  prove_warnings(d, result, files, &warnings);
  if (warnings.length && cli->json)
    fprintf(stderr, "%s\n", text_str(&warnings));
  else if (warnings.length)
    text_addf(&cli->out, "%s\n", text_str(&warnings));
  text_free(&warnings);
}

/* OP_ERR_KERNEL: OP_ROW is used for something else, and nothing more was looked at. */
static int misused(const struct desc *d, const struct proof *proof, const struct generated *files,
                   struct error *err) {
  for (int i = 0; i < proof->result.nfindings && !err->code; i++) {
    struct text words = {0};
    if (found_code(proof->result.findings[i].what) == OP_ERR_KERNEL) {
      prove_tell(d, proof, i, files->kernel_file, &words);
      error_set(err, OP_ERR_KERNEL, "%s", text_str(&words));
    }
    text_free(&words);
  }
  return err->code;
}

static int prove(struct cli *cli, struct desc *d, int *status, struct error *err) {
  struct plugin plugin = {0};
  struct generated files = {0};
  const struct shape scalar = {0};
  struct proofs proofs = {0};
  int code = plugin_find(&plugin, env_value(&cli->env, ENV_PLUGINS), err);
  if (!code)
    code = plugin_open(&plugin, err);
  if (!code)
    code = generate_c(d, &scalar, &files, err);
  if (!code) {
    ask_all(&plugin, d, &files, &proofs);
    const struct prove_result *first = &proofs.items[0].result;
    if ((code = misused(d, &proofs.items[0], &files, err)))
      *status = CLI_FAILED;
    else if (first->status != 0)
      code = prove_refuse(&plugin, d, &files, first->messages, first->nmessages, err);
    else {
      *status = show_all(cli, d, &files, &proofs);
      show_warnings(cli, d, &files, first);
    }
    for (int i = 0; i < proofs.count; i++)
      proof_free(&plugin, &proofs.items[i]);
  }
  generated_free(&files);
  plugin_free(&plugin);
  return code;
}

/* The arguments of the loop and the constants, as the command line has them. */
static int parse_words(struct cli *cli, const struct kernel *k, struct desc *d, struct error *err) {
  if (cli->nwords == 1)
    return error_set(
        err, OP_ERR_NARGS,
        "an argument is missing: kernel %s has %d parameter%s; say for each what the loop passes, "
        "for example \"dat double 4 pcell[0] OP_READ\"",
        k->name, k->nparameters, k->nparameters == 1 ? "" : "s");
  int code = arguments_parse(d, cli->words + 1, cli->nwords - 1, err);
  if (!code && cli->values[CLI_CONST])
    code = constants_parse(d, cli->values[CLI_CONST], err);
  return code;
}

int cli_with_kernel(struct cli *cli,
                    int (*run)(struct cli *cli, struct desc *d, int *status, struct error *err)) {
  struct desc d = {0};
  struct kernel k = {0};
  struct text text = {0};
  int status = CLI_FAILED;
  struct shared shared = {.folders = env_value(&cli->env, ENV_INCLUDE)};
  const char *name = cli->values[CLI_KERNEL];
  if (!name)
    return cli_fail(CLI_USAGE, "--kernel NAME is missing: which function of %s is the kernel?",
                    cli->words[0]);
  text_addf(&text, "#line 1 \"%s\"\n", cli->words[0]); /* as op_kernel_file makes it */
  int code = file_read(cli->words[0], &text, &cli->err);
  if (!code)
    code = kernel_parse_unit(&k, &shared, text_str(&text), name, &cli->err);
  if (!code && (code = parse_words(cli, &k, &d, &cli->err)))
    status = CLI_USAGE;
  if (!code)
    code = take_kernel(&d, &k, &cli->err);
  if (!code)
    code = kernel_check(&k, &d, &cli->err) ? cli->err.code : kernel_check_variables(&k, &d, &cli->err);
  if (!code)
    code = run(cli, &d, &status, &cli->err);
  if (code && status != CLI_USAGE && text.length)
    explain_program(cli, &text, &cli->err);
  kernel_free(&k);
  shared_free(&shared);
  desc_free(&d);
  text_free(&text);
  return status;
}

static int run_check(struct cli *cli) {
  return cli_with_kernel(cli, prove);
}

const struct command cli_check[] = {
    {.name = "check",
     .arguments = "FILE --kernel NAME ARGUMENT...",
     .help = "Prove that a kernel does what its access descriptors say",
     .run = run_check,
     .options = {{"--kernel", "NAME", "the kernel's function"},
                 {"--const", "LIST", "constants that the text uses: \"NAME TYPE DIM, ...\""},
                 {"--args", NULL, "may stand before the arguments"}}},
    {0}};
