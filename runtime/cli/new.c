/* op2jit new: a folder to begin a program in, made of samples/start, which is in the command. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

/* The files of samples/start as texts, made when the command is built (base/embed.py). */
extern const char start_program[], start_make[], start_cmake[], start_meson[];

enum { IN_CXX }; /* options */

/* Words that are replaced where they stand alone. */
struct change {
  const char *word, *by;
};

static bool is_part(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static void add_changed(const char *text, const struct change *changes, int count, struct text *out) {
  for (const char *p = text; *p;) {
    int i = 0;
    size_t length = 0;
    for (; i < count; i++) {
      length = strlen(changes[i].word);
      if (strncmp(p, changes[i].word, length) == 0 && (p == text || !is_part(p[-1])) && !is_part(p[length]))
        break;
    }
    if (i < count) {
      text_add(out, changes[i].by);
      p += length;
    } else {
      text_add_char(out, *p++);
    }
  }
}

static int write_file(struct cli *cli, const char *name, const struct text *content) {
  struct text path = {0};
  text_addf(&path, "%s/%s", cli->words[0], name);
  const int status =
      text_ok(&path) ? cli_write(cli, text_str(&path), content) : cli_fail(CLI_FAILED, "there is no memory");
  text_free(&path);
  return status;
}

/* A program's name is also a target of make, CMake and meson. */
static const char *program_name(const char *folder) {
  const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
  if (!isalpha((unsigned char)*name))
    return NULL;
  for (const char *p = name; *p; p++)
    if (!is_part(*p) && *p != '-')
      return NULL;
  return name;
}

static int write_all(struct cli *cli, const char *name, bool cxx) {
  char source[300];
  snprintf(source, sizeof source, "%s.%s", name, cxx ? "cpp" : "c");
  const struct change changes[] = {{"start.c", source},
                                   {"start", name},
                                   {"CC", cxx ? "CXX" : "CC"},
                                   {"CFLAGS", cxx ? "CXXFLAGS" : "CFLAGS"},
                                   {"clang", cxx ? "clang++" : "clang"},
                                   {"C", cxx ? "CXX" : "C"},
                                   {"'c'", cxx ? "'cpp'" : "'c'"}};
  const int count = (int)(sizeof changes / sizeof *changes);
  const struct {
    const char *file, *text;
  } files[] = {{"Makefile", start_make}, {"CMakeLists.txt", start_cmake}, {"meson.build", start_meson}};
  struct text out = {0};
  text_add(&out, start_program);
  int status = write_file(cli, source, &out);
  for (size_t i = 0; !status && i < sizeof files / sizeof *files; i++) {
    text_clear(&out);
    add_changed(files[i].text, changes, count, &out);
    status = write_file(cli, files[i].file, &out);
  }
  text_free(&out);
  return status;
}

static int run_new(struct cli *cli) {
  const char *folder = cli->words[0], *name = program_name(folder);
  const bool cxx = cli->values[IN_CXX];
  enum { MOST_NAME = 200 };
  if (!name || strlen(name) > MOST_NAME)
    return cli_fail(CLI_USAGE,
                    "\"%s\" is no name of a program: expected a letter, then letters, digits, _ and -",
                    folder);
  if (mkdir(folder, 0777) != 0)
    return cli_fail(CLI_FAILED, "%s: %s", folder,
                    errno == EEXIST ? "it is there already; choose another name" : strerror(errno));
  const int status = write_all(cli, name, cxx);
  if (!status)
    text_addf(&cli->out, "%s/%s.%s, with files for make, CMake and meson. Next: cd %s && make && ./%s\n",
              folder, name, cxx ? "cpp" : "c", folder, name);
  return status;
}

const struct command cli_new[] = {{.name = "new",
                                   .arguments = "NAME",
                                   .help = "Make a folder to begin a program in",
                                   .run = run_new,
                                   .options = {{"--cpp", NULL, "in C++"}}},
                                  {0}};
