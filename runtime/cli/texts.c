/* op2jit texts: the texts of the kernels of a program of OP2, as its source gives them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/whereami.h"
#include "cli/cli.h"
#include "jit/front/fortran/fortran.h"
#include "jit/jit.h"
#include "jit/texts/read.h"

/* Where op_seq.h is: beside the installed library. */
static void find_headers(struct text *out) {
  struct text path = {0};
  struct error ignored = {0};
  if (whereami(&path, &ignored) == OP_OK) {
    for (int up = 0; up < 2 && strrchr(text_str(&path), '/'); up++)
      *strrchr(path.data, '/') = '\0';
    text_addf(out, "%s/include/op2jit-op2", text_str(&path));
  }
  text_free(&path);
  error_free(&ignored);
}

static int read_source(struct cli *cli, const char *headers, struct texts_unit *out) {
  struct jit *jit = NULL;
  struct error err = {0};
  struct text flags = {0}, beside = {0};
  if (!headers)
    find_headers(&beside);
  for (int i = 1; i < cli->nwords; i++)
    text_addf(&flags, "'%s' ", cli->words[i]);
  const struct texts_wish wish = {.unit = cli->words[0],
                                  .flags = cli->nwords > 1 ? text_str(&flags) : "",
                                  .program = "",
                                  .headers = headers ? headers : text_str(&beside),
                                  .when = "",
                                  .standard = 201703,
                                  .is_gcc = true};
  const struct jit_options options = {
      .mode = JIT_ON, .plugins = env_value(&cli->env, ENV_PLUGINS), .log = &cli->log};
  int code = jit_open(&jit, &options, &err);
  if (!code)
    code = jit_read(jit, &wish, out, &err);
  jit_close(jit);
  const int status = code ? cli_fail(CLI_FAILED, "%s", error_message(&err)) : CLI_OK;
  text_free(&flags);
  text_free(&beside);
  error_free(&err);
  return status;
}

/* C that has the texts in the section where op_seq.h looks for them. Who has them in the program asks for no source. */
int texts_embed(const char *path, struct texts_unit unit, const char *name) {
  struct text body = {0}, blob = {0};
  unit.unit = name;
  unit.nfiles = 0;
  texts_print(&unit, &body);
  text_addf(&blob, "%zu:", body.length);
  text_add_bytes(&blob, text_str(&body), body.length);
  FILE *file = text_ok(&blob) ? fopen(path, "w") : NULL;
  if (file) {
    fputs("__attribute__((section(\"op2jit_texts\"), used)) static const unsigned char texts[] = {", file);
    for (size_t i = 0; i < blob.length; i++)
      fprintf(file, "%s%u,", i % 32 ? "" : "\n", (unsigned char)blob.data[i]);
    fputs("\n};\n", file);
  }
  const bool good = file && !ferror(file);
  const bool closed = file && fclose(file) == 0;
  text_free(&body);
  text_free(&blob);
  return good && closed ? CLI_OK : cli_fail(CLI_FAILED, "%s cannot be written", path);
}

/* What the program that runs would say too, as far as this unit shows it. */
static void add_verdict(const struct read_kernel *k, struct text *out) {
  const struct read_variable *other = NULL;
  for (int i = 0; *k->text && i < k->nvariables; i++) {
    const struct read_variable *v = &k->variables[i];
    if (v->declared < 0 || (!v->declared && !v->external)) {
      text_addf(out, "it names the variable '%s', which is not declared by op_decl_const", v->name);
      return;
    }
    if (!v->declared)
      other = v;
  }
  text_add(out, *k->text ? "text" : k->why);
  if (other)
    text_addf(out, ", if another unit declares the variable '%s' by op_decl_const", other->name);
  if (*k->text && *k->doubt)
    text_addf(out, ", in doubt:\n  %s", k->doubt);
}

static void list_kernels(struct cli *cli, const struct texts_unit *unit) {
  for (int i = 0; i < unit->nkernels; i++) {
    const struct read_kernel *k = &unit->kernels[i];
    text_addf(&cli->out, "%s:%d %s: ", k->file, k->line, *k->spelled ? k->spelled : "a kernel");
    add_verdict(k, &cli->out);
    text_add_char(&cli->out, '\n');
  }
}

static const char *last_part(const char *name) {
  const char *colon = strrchr(name, ':');
  return colon ? colon + 1 : name;
}

static int show(struct cli *cli, const struct texts_unit *unit, const char *wanted) {
  struct text names = {0};
  const struct read_kernel *found = NULL;
  for (int i = 0; i < unit->nkernels && !found; i++) {
    const struct read_kernel *k = &unit->kernels[i];
    if (strcmp(k->spelled, wanted) == 0 || strcmp(k->function, wanted) == 0 ||
        strcmp(last_part(k->function), wanted) == 0)
      found = k;
    text_addf(&names, "%s%s", i ? ", " : "", k->spelled);
  }
  int status = CLI_OK;
  if (!found)
    status = cli_fail(CLI_FAILED, "%s has no op_par_loop of a kernel '%s'; it has %s", cli->words[0], wanted,
                      names.length ? text_str(&names) : "none at all");
  else if (!*found->text)
    status = cli_fail(CLI_FAILED, "%s has no text: %s", wanted, found->why);
  else
    text_add(&cli->out, found->text);
  text_free(&names);
  return status;
}

int cli_run_texts(struct cli *cli) {
  enum { HEADERS, EMBED, SHOW, AS };
  if (fortran_is(cli->words[0], "", 0))
    return texts_of_fortran(cli, cli->values[EMBED], cli->values[SHOW], cli->values[AS]);
  struct texts_unit unit = {0};
  int status = read_source(cli, cli->values[HEADERS], &unit);
  if (status == CLI_OK && *unit.why)
    status = cli_fail(CLI_FAILED, "%s: %s", cli->words[0], unit.why);
  if (status == CLI_OK && cli->values[EMBED])
    status = texts_embed(cli->values[EMBED], unit, cli->values[AS] ? cli->values[AS] : cli->words[0]);
  else if (status == CLI_OK && cli->values[SHOW])
    status = show(cli, &unit, cli->values[SHOW]);
  else if (status == CLI_OK)
    list_kernels(cli, &unit);
  texts_free(&unit);
  return status;
}
