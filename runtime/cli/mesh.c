/* op2jit mesh: what is in a file, whether it is sound, and the same in another format. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/mesh_look.h"
#include "files/plugin.h"

/* ---- formats ---- */

static int open_hdf5(struct cli *cli, struct file_plugin *plugin, struct error *err) {
  return file_plugin_open(plugin, "serial", env_value(&cli->env, ENV_PLUGINS), err);
}

static int write_hdf5(struct cli *cli, const struct mesh_file *m, const char *path, struct error *err) {
  struct file_plugin plugin = {0};
  const int code = open_hdf5(cli, &plugin, err);
  return code ? code : mesh_write_hdf5(m, plugin.table, path, err);
}

static int write_airfoil(struct cli *cli, const struct mesh_file *m, const char *path, struct error *err) {
  (void)cli;
  return mesh_write_airfoil(m, path, err);
}

struct mesh_format {
  const char *word;        /* of --to */
  const char *suffixes[3]; /* of files */
  int (*write)(struct cli *cli, const struct mesh_file *m, const char *path, struct error *err);
  bool (*holds)(const struct mesh_file *m, int table); /* NULL: everything */
};

static const struct mesh_format formats[] = {
    {"hdf5", {".h5", ".hdf5", ".hdf"}, write_hdf5, NULL},
    {"airfoil", {".dat", ".txt"}, write_airfoil, mesh_airfoil_holds}};
enum { FORMATS = sizeof formats / sizeof *formats };

/* NULL: there is none. */
static const struct mesh_format *by_word(const char *word) {
  for (int i = 0; i < FORMATS; i++)
    if (strcmp(formats[i].word, word) == 0)
      return &formats[i];
  return NULL;
}

static const struct mesh_format *by_suffix(const char *path) {
  const char *dot = strrchr(path, '.');
  for (int i = 0; dot && dot > path && i < FORMATS; i++)
    for (int s = 0; s < 3 && formats[i].suffixes[s]; s++)
      if (strcmp(dot, formats[i].suffixes[s]) == 0)
        return &formats[i];
  return NULL;
}

/* The eight bytes that HDF5's files begin with. */
static bool looks_like_hdf5(const char *path) {
  static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char bytes[8] = {0};
  FILE *file = fopen(path, "rb");
  const bool same = file && fread(bytes, 1, 8, file) == 8 && memcmp(bytes, mark, 8) == 0;
  if (file)
    fclose(file);
  return same;
}

/* *text is the caller's to free, and has a NUL behind its `length` bytes. */
static int read_whole(const char *path, char **text, size_t *length, struct error *err) {
  struct stat status;
  FILE *file = fopen(path, "rb");
  if (!file || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) {
    int code = error_set(err, OP_ERR_FILE, "the file %s cannot be read: %s", path,
                         file ? "it is not a file" : strerror(errno));
    if (file)
      fclose(file);
    return code;
  }
  const size_t size = (size_t)status.st_size;
  int code = OP_OK;
  *text = malloc(size + 1);
  if (!*text)
    code = error_memory(err, "a file", size);
  else if ((*length = fread(*text, 1, size, file)) != size)
    code = error_set(err, OP_ERR_FILE, "the file %s cannot be read: %s", path,
                     ferror(file) ? strerror(errno) : "it becomes shorter while it is read");
  else
    (*text)[size] = '\0';
  fclose(file);
  return code;
}

/* airfoil's text begins with a number. */
static bool may_be_airfoil(const char *text) {
  text += strspn(text, " \t\r\n");
  return !*text || strchr("+-.0123456789", *text);
}

static int read_text(struct mesh_file *m, const char *path, struct error *err) {
  char *text = NULL;
  size_t length = 0;
  int code = read_whole(path, &text, &length, err);
  if (!code && !may_be_airfoil(text))
    code =
        error_set(err, OP_ERR_FILE,
                  "%s: this is neither HDF5 in OP2's layout nor OP2's airfoil text, which begins with four "
                  "numbers; python3 -m op2jit.mesh convert reads Gmsh, VTK and other formats",
                  path);
  if (!code)
    code = mesh_parse_airfoil(m, path, text, length, err);
  free(text);
  return code;
}

/* What a file is, is seen from what it holds. */
static int read_mesh(struct cli *cli, struct mesh_file *m, const char *path, struct error *err) {
  struct file_plugin plugin = {0};
  if (!looks_like_hdf5(path))
    return read_text(m, path, err);
  const int code = open_hdf5(cli, &plugin, err);
  return code ? code : mesh_read_hdf5(m, plugin.table, path, err);
}

/* ---- convert ---- */

/* Its options, in the order of the table. */
enum { CONVERT_TO, CONVERT_COORDINATES };

/* NULL: nothing says the format. */
static const struct mesh_format *target(const struct cli *cli) {
  const char *to = cli->values[CONVERT_TO];
  return to ? by_word(to) : by_suffix(cli->words[1]);
}

static int no_bad_entries(const struct mesh_file *m, const char *path, struct error *err) {
  int code = OP_OK;
  for (int i = 0; i < m->ntables && !code; i++) {
    struct mesh_map_info info = {0};
    struct text words_of_it = {0};
    if (m->tables[i].to >= 0)
      code = mesh_map_look(m, &m->tables[i], &info, err);
    if (info.bad.count) {
      mesh_say_bad(&words_of_it, m, &m->tables[i], &info.bad);
      code = error_set(err, OP_ERR_MAP_RANGE, "%s: %s", path, text_str(&words_of_it));
    }
    text_free(&words_of_it);
  }
  return code;
}

static bool holds_table(const struct mesh_file *m, const struct mesh_format *format, int table) {
  return !format->holds || format->holds(m, table);
}

/* A text format has no sizes of sets beside their tables. */
static bool holds_set(const struct mesh_file *m, const struct mesh_format *format, int set) {
  bool holds = !format->holds;
  for (int i = 0; i < m->ntables && !holds; i++)
    holds = m->tables[i].set == set && holds_table(m, format, i);
  return holds;
}

struct lost {
  struct cli *cli; /* NULL: only counted */
  int count;
};

static void left_out(struct lost *lost, const char *kind, const char *name) {
  struct cli *cli = lost->cli;
  lost->count++;
  if (!cli)
    return;
  if (cli->json)
    json_object(&cli->out, NULL, "kind:t name:t", kind, name);
  else
    fprintf(stderr, "op2jit: warning: %s %s is not in %s: the format has no place for it\n", kind, name,
            cli->words[1]);
}

/* What the new file lacks. */
static void tell_left_out(struct lost *lost, const struct mesh_file *m, const struct mesh_format *format) {
  for (int i = 0; i < m->nsets; i++)
    if (!holds_set(m, format, i))
      left_out(lost, "set", m->sets[i].name);
  for (int i = 0; i < m->ntables; i++)
    if (!holds_table(m, format, i))
      left_out(lost, m->tables[i].to >= 0 ? "map" : "dat", m->tables[i].name);
  for (int i = 0; i < m->nothers && format->holds; i++)
    left_out(lost, m->others[i].constant ? "constant" : "dataset", m->others[i].name);
}

static bool is_same_file(const char *one, const char *other) {
  struct stat a, b;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* What is left out of a file that takes the place of the one it is from is gone. */
static int keeps_all(const struct cli *cli, const struct mesh_file *m, const struct mesh_format *format,
                     struct error *err) {
  struct lost lost = {NULL, 0};
  if (is_same_file(cli->words[0], cli->words[1]))
    tell_left_out(&lost, m, format);
  return !lost.count
             ? OP_OK
             : error_set(err, OP_ERR_FILE,
                         "%s: the new format has no place for all that is in the file, which would be "
                         "lost; name another file",
                         cli->words[0]);
}

static void say_converted(struct cli *cli, const struct mesh_file *m, const struct mesh_format *format) {
  const char *path = cli->words[1];
  struct lost lost = {cli, 0};
  int sets = 0, tables = 0;
  if (cli->json) {
    json_open(&cli->out, NULL, '{');
    json_fields(&cli->out, "from:t file:t", m->format, path);
    json_open(&cli->out, "left_out", '[');
  }
  tell_left_out(&lost, m, format);
  for (int i = 0; i < m->nsets; i++)
    sets += holds_set(m, format, i);
  for (int i = 0; i < m->ntables; i++)
    tables += holds_table(m, format, i);
  if (cli->json) {
    json_close(&cli->out, ']');
    json_fields(&cli->out, "sets:n tables:n others:n", sets, tables, format->holds ? 0 : m->nothers);
    json_close(&cli->out, '}');
    return;
  }
  text_addf(&cli->out, "%s: %d of %d set%s and %d of %d table%s written, from %s", path, sets, m->nsets,
            mesh_plural(m->nsets), tables, m->ntables, mesh_plural(m->ntables), m->format);
  if (m->nothers && !format->holds)
    text_addf(&cli->out, "; %d other dataset%s copied", m->nothers, mesh_plural(m->nothers));
  text_add_char(&cli->out, '\n');
}

static int print_convert(struct cli *cli, struct mesh_file *m, struct error *err) {
  const char *path = cli->words[1];
  const struct mesh_format *format = target(cli);
  int code = no_bad_entries(m, cli->words[0], err);
  m->coordinates = cli->values[CONVERT_COORDINATES];
  if (!code)
    code = keeps_all(cli, m, format, err);
  if (!code)
    code = format->write(cli, m, path, err);
  if (!code)
    say_converted(cli, m, format);
  return code;
}

/* ---- the commands ---- */

static int run(struct cli *cli, int (*print)(struct cli *cli, struct mesh_file *m, struct error *err)) {
  struct mesh_file m = {0};
  struct error err = {0};
  int code = read_mesh(cli, &m, cli->words[0], &err);
  if (!code)
    code = print(cli, &m, &err);
  if (error_message(&err)[0])
    cli_fail(CLI_FAILED, "%s", error_message(&err));
  error_free(&err);
  mesh_file_free(&m);
  return code ? CLI_FAILED : CLI_OK;
}

static int run_info(struct cli *cli) {
  return run(cli, mesh_print_info);
}

static int run_check(struct cli *cli) {
  return run(cli, mesh_print_check);
}

static int run_convert(struct cli *cli) {
  const char *to = cli->values[CONVERT_TO];
  const struct mesh_format *format = target(cli);
  if (to && !format)
    return cli_fail(CLI_USAGE, "--to %s: expected hdf5 or airfoil", to);
  if (!format)
    return cli_fail(CLI_USAGE,
                    "%s: the name does not say the format; end it in .h5 or .dat, or give --to; python3 -m "
                    "op2jit.mesh convert writes Gmsh, VTK and other formats",
                    cli->words[1]);
  return run(cli, print_convert);
}

const struct command cli_mesh[] = {
    {.group = "mesh",
     .name = "info",
     .arguments = "FILE",
     .least = 1,
     .most = 1,
     .help = "Say what is in a mesh file",
     .more = "Sets, maps with arity, degree of their targets, bandwidth and bad entries, dats, constants and "
             "other datasets, and into how many parts the maps connect all that. Reads HDF5 in OP2's layout "
             "and OP2's airfoil text; python3 -m op2jit.mesh convert makes the first of other formats. Where "
             "an HDF5 file does not say which sets a table is of, that is guessed from sizes.",
     .run = run_info},
    {.group = "mesh",
     .name = "check",
     .arguments = "FILE",
     .least = 1,
     .most = 1,
     .help = "Find what is wrong in a mesh file",
     .more = "Entries outside their set, elements that name a target twice, values that are not finite. "
             "Status 1 if there is any.",
     .run = run_check},
    {.group = "mesh",
     .name = "convert",
     .arguments = "FILE NEW",
     .least = 2,
     .most = 2,
     .help = "Write a mesh in another format",
     .more =
         "The name of the new file says which: .h5 HDF5 in OP2's layout, .dat OP2's airfoil text. A file "
         "that is there is replaced when the new one is whole. From HDF5 to HDF5 everything goes along. "
         "What airfoil's text has no place for is left out, with a warning, or is an error if the new file "
         "takes the place of the old one. Its coordinates are the dat of 2 reals on the set that the "
         "maps of the cells lead to; where more than one can be them, --coordinates says which. Other "
         "formats, edges of cells and drawings: python3 -m op2jit.mesh --help.",
     .run = run_convert,
     .options = {{"--to", "FORMAT", "hdf5 or airfoil, whatever the name says"},
                 {"--coordinates", "DAT", "the dat that holds the coordinates of the nodes"}}},
    {0}};
