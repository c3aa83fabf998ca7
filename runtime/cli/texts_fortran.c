/* op2jit texts of a source in Fortran: what becomes of its subroutines, or the sources themselves for a program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "cli/cli.h"
#include "jit/front/fortran/fortran.h"
#include "jit/front/unit/unit.h"
#include "jit/key/elf_note.h"
#include "jit/texts/texts.h"

struct looking {
  struct cli *cli;
  struct text text, folders, defines; /* of the source; of -I, with ':' between; of -D, one a line */
  struct shared shared;
  struct fortran_source source;
  struct fortran_made made;
};

static bool read_whole(const char *path, struct text *out) {
  struct mapped file;
  if (!mapped_open(path, &file))
    return false;
  text_add_bytes(out, file.bytes, file.size);
  mapped_close(&file);
  return text_ok(out);
}

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

/* The texts of all files, in the place of kernels: jit/texts keeps them, and a program's loops translate them. */
static int embed(const struct looking *l, const char *path, const char *as) {
  struct text contents[64] = {{0}}, from = {0};
  struct read_kernel files[64];
  const char *names[64] = {l->cli->words[0]};
  char *all = strdup(text_str(&l->made.files)), *rest = NULL;
  int count = 1;
  for (char *name = all ? strtok_r(all, "\n", &rest) : NULL; name && count < 64;
       name = strtok_r(NULL, "\n", &rest))
    names[count++] = name;
  bool good = all != NULL;
  for (int i = 0; i < count && good; i++) {
    good = read_whole(names[i], &contents[i]);
    files[i] = (struct read_kernel){.function = names[i],
                                    .spelled = "",
                                    .file = "",
                                    .text = text_str(&contents[i]),
                                    .why = "",
                                    .doubt = ""};
  }
  text_addf(&from, "fortran\n%s", text_str(&l->defines));
  const struct texts_unit unit = {.why = "", .from = text_str(&from), .kernels = files, .nkernels = count};
  const int status = good ? texts_embed(path, unit, as ? as : l->cli->words[0])
                          : cli_fail(CLI_FAILED, "a file that %s needs cannot be read", l->cli->words[0]);
  for (int i = 0; i < count; i++)
    text_free(&contents[i]);
  text_free(&from);
  free(all);
  return status;
}

/* A line for each, or the C text of one. */
static int show_all(struct looking *l, const char *wanted) {
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

int texts_of_fortran(struct cli *cli, const char *embedded, const char *wanted, const char *as) {
  struct looking l = {.cli = cli};
  struct error err = {0};
  read_flags(&l);
  l.shared.folders = text_str(&l.folders);
  int status = read_whole(cli->words[0], &l.text)
                   ? CLI_OK
                   : cli_fail(CLI_FAILED, "%s cannot be read, or is empty", cli->words[0]);
  l.source = (struct fortran_source){.text = text_str(&l.text),
                                     .length = l.text.length,
                                     .file = cli->words[0],
                                     .line = 1,
                                     .kernel = "",
                                     .defines = text_str(&l.defines)};
  if (status == CLI_OK && fortran_look(&l.shared, &l.source, &l.made, &err))
    status = cli_fail(CLI_FAILED, "%s", error_message(&err));
  if (status == CLI_OK)
    status = embedded ? embed(&l, embedded, as) : show_all(&l, wanted);
  fortran_free(&l.made);
  shared_free(&l.shared);
  text_free(&l.text);
  text_free(&l.folders);
  text_free(&l.defines);
  error_free(&err);
  return status;
}
