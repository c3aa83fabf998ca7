/* op2jit texts: the texts of the kernels of a program of OP2, as its source gives them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/aside.h"
#include "base/whereami.h"
#include "cli/cli.h"
#include "jit/jit.h"
#include "jit/kernel/fortran/fortran.h"
#include "jit/kernel/unit.h"
#include "jit/texts.h"

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
  struct text flags = {0}, beside = {0};
  if (!headers)
    find_headers(&beside);
  for (int i = 1; i < cli->nwords; i++)
    text_addf(&flags, "'%s' ", cli->words[i]);
  const struct read_request wish = {.unit = cli->words[0],
                                    .flags = cli->nwords > 1 ? text_str(&flags) : "",
                                    .program = "",
                                    .headers = headers ? headers : text_str(&beside),
                                    .when = "",
                                    .standard = 201703,
                                    .is_gcc = true};
  const struct jit_options options = {
      .mode = JIT_ON, .plugins = env_value(&cli->env, ENV_PLUGINS), .log = &cli->log};
  int code = jit_open(&jit, &options, &cli->err);
  if (!code)
    code = jit_read(jit, &wish, out, &cli->err);
  jit_close(jit);
  text_free(&flags);
  text_free(&beside);
  return cli_status(code);
}

/* C that has the texts in the section where op_seq.h looks for them. Who has them in the program asks for no source. */
static int write_embedded(const char *path, struct texts_unit unit, const char *name) {
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

/* The verdict that the running program would give, as far as this unit shows it. */
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

/* ---- sources in Fortran: what becomes of their subroutines, or the sources themselves for a program ---- */

struct looking {
  struct cli *cli;
  struct text text, folders, defines; /* of the source; of -I, with ':' between; of -D, one a line */
  struct shared shared;
  struct fortran_source source;
  struct fortran_made made;
};

static void read_flags(struct looking *l) {
  for (int i = 1; i < l->cli->nwords; i++) {
    const char *word = l->cli->words[i];
    const bool alone = (strcmp(word, "-I") == 0 || strcmp(word, "-D") == 0) && i + 1 < l->cli->nwords;
    const char *value = alone ? l->cli->words[++i] : word + 2;
    if (strncmp(word, "-I", 2) == 0)
      text_addf(&l->folders, "%s%s", l->folders.length ? ":" : "", value);
    else if (strncmp(word, "-D", 2) == 0)
      text_addf(&l->defines, "%s\n", value);
  }
}

/* The texts of all files, in the place of kernels: jit/texts.c keeps them, and a program's loops translate them. */
static int embed_sources(const struct looking *l, const char *path, const char *as) {
  struct text contents[64] = {{0}}, from = {0};
  struct read_kernel files[64];
  const char *names[64] = {l->cli->words[0]};
  char *all = strdup(text_str(&l->made.files)), *rest = NULL;
  int count = 1;
  for (char *name = all ? strtok_r(all, "\n", &rest) : NULL; name && count < 64;
       name = strtok_r(NULL, "\n", &rest))
    names[count++] = name;
  struct error err = {0};
  bool good = all != NULL;
  for (int i = 0; i < count && good; i++) {
    good = file_read(names[i], &contents[i], &err) == OP_OK;
    files[i] = (struct read_kernel){.function = names[i],
                                    .spelled = "",
                                    .file = "",
                                    .text = text_str(&contents[i]),
                                    .why = "",
                                    .doubt = ""};
  }
  text_addf(&from, "fortran\n%s", text_str(&l->defines));
  const struct texts_unit unit = {.why = "", .from = text_str(&from), .kernels = files, .nkernels = count};
  const int status =
      good ? write_embedded(path, unit, as ? as : l->cli->words[0])
           : cli_fail(CLI_FAILED, "a file that %s needs: %s", l->cli->words[0], error_message(&err));
  error_free(&err);
  for (int i = 0; i < count; i++)
    text_free(&contents[i]);
  text_free(&from);
  free(all);
  return status;
}

/* A line for each, or the C text of one. */
static int show_subroutines(struct looking *l, const char *wanted) {
  char *names = strdup(text_str(&l->made.text)), *rest = NULL;
  int status = names ? CLI_OK : cli_fail(CLI_FAILED, "there is no memory");
  for (char *name = names ? strtok_r(names, "\n", &rest) : NULL; name; name = strtok_r(NULL, "\n", &rest)) {
    struct error err = {0};
    struct fortran_made made = {0};
    if (wanted && strcmp(wanted, name) != 0)
      continue;
    l->source.kernel = name;
    const int code = fortran_translate(&l->shared, &l->source, &made, &err);
    if (wanted && code)
      status = cli_fail(CLI_FAILED, "%s has no text: %s", name, error_message(&err));
    else if (wanted)
      text_add(&l->cli->out, text_str(&made.text));
    else
      text_addf(&l->cli->out, "%s: %s: %s\n", l->cli->words[0], name, code ? error_message(&err) : "text");
    fortran_free(&made);
    error_free(&err);
  }
  free(names);
  return status;
}

static int texts_of_fortran(struct cli *cli, const char *embedded, const char *wanted, const char *as) {
  struct looking l = {.cli = cli};
  read_flags(&l);
  l.shared.folders = text_str(&l.folders);
  int status = cli_status(file_read(cli->words[0], &l.text, &cli->err));
  l.source = (struct fortran_source){.text = text_str(&l.text),
                                     .length = l.text.length,
                                     .file = cli->words[0],
                                     .line = 1,
                                     .kernel = "",
                                     .defines = text_str(&l.defines)};
  if (status == CLI_OK)
    status = cli_status(fortran_translate(&l.shared, &l.source, &l.made, &cli->err));
  if (status == CLI_OK)
    status = embedded ? embed_sources(&l, embedded, as) : show_subroutines(&l, wanted);
  fortran_free(&l.made);
  shared_free(&l.shared);
  text_free(&l.text);
  text_free(&l.folders);
  text_free(&l.defines);
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
    status = write_embedded(cli->values[EMBED], unit, cli->values[AS] ? cli->values[AS] : cli->words[0]);
  else if (status == CLI_OK && cli->values[SHOW])
    status = show(cli, &unit, cli->values[SHOW]);
  else if (status == CLI_OK)
    list_kernels(cli, &unit);
  texts_free(&unit);
  return status;
}
