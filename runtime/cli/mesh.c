/* op2jit mesh: what is in a file, whether it is sound, and the same in another format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/mesh/mesh_file.h"
#include "cli/mesh/whole.h"
#include "files/plugin.h"

enum format { FORMAT_NONE, FORMAT_HDF5, FORMAT_AIRFOIL, FORMAT_GMSH };

static const struct {
  const char *word;
  enum format format;
} words[] = {{"hdf5", FORMAT_HDF5}, {"airfoil", FORMAT_AIRFOIL}, {"gmsh", FORMAT_GMSH}},
  suffixes[] = {{".h5", FORMAT_HDF5},     {".hdf5", FORMAT_HDF5},   {".hdf", FORMAT_HDF5},
                {".dat", FORMAT_AIRFOIL}, {".txt", FORMAT_AIRFOIL}, {".msh", FORMAT_GMSH}};

static enum format format_by_word(const char *word) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i].word, word) == 0)
      return words[i].format;
  return FORMAT_NONE;
}

static enum format format_by_suffix(const char *path) {
  const size_t length = strlen(path);
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    const size_t n = strlen(suffixes[i].word);
    if (length > n && strcmp(path + length - n, suffixes[i].word) == 0)
      return suffixes[i].format;
  }
  return FORMAT_NONE;
}

/* ---- reading ---- */

static int open_hdf5(struct cli *cli, struct file_plugin *plugin, struct error *err) {
  struct text folder = {0};
  int code = file_plugin_open(plugin, "serial", env_value(&cli->env, ENV_PLUGINS), err);
  if (code == OP_ERR_NOT_BUILT && cli_plugins(&folder)) {
    struct error second = {0};
    if (file_plugin_open(plugin, "serial", text_str(&folder), &second) == OP_OK) {
      error_clear(err);
      code = OP_OK;
    }
    error_free(&second);
  }
  text_free(&folder);
  return code;
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

/* Text of Gmsh says what it is, airfoil's begins with a number. */
static bool may_be_known(const char *text) {
  text += strspn(text, " \t\r\n");
  return mesh_looks_like_gmsh(text) || !*text || strchr("+-.0123456789", *text);
}

static int read_text(struct mesh_file *m, const char *path, struct error *err) {
  char *text = NULL;
  size_t length = 0;
  int code = whole_read(path, &text, &length, err);
  if (code)
    return code;
  if (!may_be_known(text)) {
    free(text);
    return error_set(err, OP_ERR_FILE,
                     "%s: this is no mesh of a known format; expected HDF5 in OP2's layout, Gmsh's .msh, "
                     "which begins with "
                     "$MeshFormat, or OP2's airfoil text, which begins with four numbers",
                     path);
  }
  struct progress progress = progress_begin("reading", path, (double)length, true);
  code = mesh_looks_like_gmsh(text) ? mesh_parse_gmsh(m, path, text, length, &progress, err)
                                    : mesh_parse_airfoil(m, path, text, length, &progress, err);
  progress_end(&progress);
  free(text);
  return code;
}

static int read_mesh(struct cli *cli, struct mesh_file *m, const char *path, struct error *err) {
  struct file_plugin plugin = {0};
  if (!looks_like_hdf5(path))
    return read_text(m, path, err);
  int code = open_hdf5(cli, &plugin, err);
  return code ? code : mesh_read_hdf5(m, plugin.table, path, true, err);
}

/* ---- info ---- */

static const char *plural(long long count) {
  return count == 1 ? "" : "s";
}

static const char *set_name(const struct mesh_file *m, int set) {
  return m->sets[set].name;
}

static void info_map(struct text *out, const struct mesh_file *m, const struct mesh_table *t,
                     const struct mesh_map_info *i) {
  text_addf(out, "map   %-16s %s -> %s, arity %d%s\n", t->name, set_name(m, t->set), set_name(m, t->to),
            t->columns, t->guessed ? " (by its numbers)" : "");
  text_addf(out, "      degree %lld .. %lld, mean %.3g; bandwidth %lld", i->degree_min, i->degree_max,
            i->degree_mean, i->bandwidth);
  if (i->unused)
    text_addf(out, "; %lld of %s are named by no row", i->unused, set_name(m, t->to));
  text_add_char(out, '\n');
}

static void bad_entry(struct text *out, const struct mesh_file *m, const struct mesh_table *t,
                      const struct mesh_bad *bad) {
  text_addf(out,
            "map %s: %lld %s outside; the first is entry %d of element %lld of %s: %lld, expected 0 "
            ".. %lld",
            t->name, bad->count, bad->count == 1 ? "entry is" : "entries are", bad->column, bad->row,
            set_name(m, t->set), bad->value, m->sets[t->to].size - 1);
}

static void json_map(struct text *out, const struct mesh_file *m, const struct mesh_table *t,
                     const struct mesh_map_info *i) {
  json_open(out, NULL, '{');
  json_text(out, "name", t->name);
  json_text(out, "from", set_name(m, t->set));
  json_text(out, "to", set_name(m, t->to));
  json_number(out, "arity", t->columns);
  json_bool(out, "guessed", t->guessed);
  json_number(out, "degree_min", i->degree_min);
  json_real(out, "degree_mean", i->degree_mean);
  json_number(out, "degree_max", i->degree_max);
  json_number(out, "bandwidth", i->bandwidth);
  json_number(out, "unused", i->unused);
  json_number(out, "repeated", i->repeated);
  json_number(out, "bad", i->bad.count);
  if (i->bad.count) {
    json_open(out, "first_bad", '{');
    json_number(out, "element", i->bad.row);
    json_number(out, "entry", i->bad.column);
    json_number(out, "value", i->bad.value);
    json_close(out, '}');
  }
  json_close(out, '}');
}

static int each_map(struct cli *cli, const struct mesh_file *m, struct error *err) {
  int code = OP_OK;
  for (int i = 0; i < m->ntables && !code; i++) {
    const struct mesh_table *t = &m->tables[i];
    struct mesh_map_info info;
    if (t->to < 0)
      continue;
    code = mesh_map_look(m, t, &info, err);
    if (code)
      break;
    if (cli->json)
      json_map(&cli->out, m, t, &info);
    else {
      info_map(&cli->out, m, t, &info);
      if (info.bad.count) {
        text_add(&cli->out, "      bad: ");
        bad_entry(&cli->out, m, t, &info.bad);
        text_add_char(&cli->out, '\n');
      }
    }
  }
  return code;
}

static void each_dat(struct cli *cli, const struct mesh_file *m) {
  struct text *out = &cli->out;
  for (int i = 0; i < m->ntables; i++) {
    const struct mesh_table *t = &m->tables[i];
    if (t->to >= 0)
      continue;
    const char *type = type_info(t->type)->name;
    if (cli->json) {
      json_open(out, NULL, '{');
      json_text(out, "name", t->name);
      json_text(out, "set", set_name(m, t->set));
      json_number(out, "dim", t->columns);
      json_text(out, "type", type);
      json_close(out, '}');
    } else
      text_addf(out, "dat   %-16s %d %s on %s%s\n", t->name, t->columns, type, set_name(m, t->set),
                t->guessed ? " (by its size)" : "");
  }
}

static void each_other(struct cli *cli, const struct mesh_file *m, bool constants) {
  struct text *out = &cli->out;
  for (int i = 0; i < m->nothers; i++) {
    const struct mesh_other *o = &m->others[i];
    if (o->constant != constants)
      continue;
    if (cli->json) {
      json_open(out, NULL, '{');
      json_text(out, "name", o->name);
      if (constants)
        json_number(out, "dim", o->dim);
      json_text(out, constants ? "type" : "holds", o->words);
      json_close(out, '}');
    } else if (constants)
      text_addf(out, "const %-16s %lld %s\n", o->name, o->dim, o->words);
    else
      text_addf(out, "other %-16s %s, on no set\n", o->name, o->words);
  }
}

static int print_info(struct cli *cli, struct mesh_file *m, struct error *err) {
  struct text *out = &cli->out;
  long long parts = 0;
  int code = mesh_components(m, &parts, err);
  if (cli->json) {
    json_open(out, NULL, '{');
    json_text(out, "format", m->format);
    json_open(out, "sets", '[');
  } else
    text_addf(out, "%s: %s\n", cli->words[0], m->format);
  for (int i = 0; i < m->nsets; i++)
    if (cli->json) {
      json_open(out, NULL, '{');
      json_text(out, "name", m->sets[i].name);
      json_number(out, "size", m->sets[i].size);
      json_close(out, '}');
    } else
      text_addf(out, "set   %-16s %lld\n", m->sets[i].name, m->sets[i].size);
  if (cli->json) {
    json_close(out, ']');
    json_open(out, "maps", '[');
  }
  if (!code)
    code = each_map(cli, m, err);
  if (cli->json) {
    json_close(out, ']');
    json_open(out, "dats", '[');
  }
  each_dat(cli, m);
  if (cli->json) {
    json_close(out, ']');
    json_open(out, "constants", '[');
  }
  each_other(cli, m, true);
  if (cli->json) {
    json_close(out, ']');
    json_open(out, "others", '[');
  }
  each_other(cli, m, false);
  if (cli->json) {
    json_close(out, ']');
    json_number(out, "components", parts);
    json_close(out, '}');
  } else if (parts == 1)
    text_add(out, "1 part: maps connect all elements\n");
  else
    text_addf(out, "%lld parts, which no map connects with one another\n", parts);
  return code;
}

/* ---- check ---- */

/* A finding, in both forms. */
static void found(struct cli *cli, long long *findings, const char *words_of_it) {
  ++*findings;
  if (cli->json)
    json_text(&cli->out, NULL, words_of_it);
  else
    text_addf(&cli->out, "%s\n", words_of_it);
}

static int check_table(struct cli *cli, const struct mesh_file *m, const struct mesh_table *t,
                       long long *findings, struct error *err) {
  struct text words_of_it = {0};
  struct mesh_map_info info = {0};
  int code = t->to >= 0 ? mesh_map_look(m, t, &info, err) : OP_OK;
  if (!code && info.bad.count) {
    bad_entry(&words_of_it, m, t, &info.bad);
    found(cli, findings, text_str(&words_of_it));
  }
  if (!code && info.repeated) {
    text_clear(&words_of_it);
    text_addf(&words_of_it, "map %s: %lld element%s of %s name%s a target twice", t->name, info.repeated,
              plural(info.repeated), set_name(m, t->set), info.repeated == 1 ? "s" : "");
    found(cli, findings, text_str(&words_of_it));
  }
  const long long strange = t->to < 0 ? mesh_not_finite(m, t) : 0;
  if (strange) {
    text_clear(&words_of_it);
    text_addf(&words_of_it, "dat %s: %lld value%s not finite", t->name, strange,
              strange == 1 ? " is" : "s are");
    found(cli, findings, text_str(&words_of_it));
  }
  text_free(&words_of_it);
  return code;
}

static int print_check(struct cli *cli, struct mesh_file *m, struct error *err) {
  long long findings = 0;
  int code = OP_OK;
  if (cli->json) {
    json_open(&cli->out, NULL, '{');
    json_open(&cli->out, "findings", '[');
  }
  for (int i = 0; i < m->ntables && !code; i++)
    code = check_table(cli, m, &m->tables[i], &findings, err);
  if (cli->json) {
    json_close(&cli->out, ']');
    json_number(&cli->out, "count", findings);
    json_close(&cli->out, '}');
  } else
    text_addf(&cli->out, "%d set%s and %d table%s checked, %lld finding%s\n", m->nsets, plural(m->nsets),
              m->ntables, plural(m->ntables), findings, plural(findings));
  return code ? code : findings ? OP_ERR_MAP_RANGE : OP_OK;
}

/* ---- convert ---- */

/* Its options, in the order of the table. */
enum { CONVERT_TO, CONVERT_EDGES, CONVERT_COORDINATES };

static int no_bad_entries(const struct mesh_file *m, const char *path, struct error *err) {
  int code = OP_OK;
  for (int i = 0; i < m->ntables && !code; i++) {
    struct mesh_map_info info = {0};
    struct text words_of_it = {0};
    if (m->tables[i].to >= 0)
      code = mesh_map_look(m, &m->tables[i], &info, err);
    if (info.bad.count) {
      bad_entry(&words_of_it, m, &m->tables[i], &info.bad);
      code = error_set(err, OP_ERR_MAP_RANGE, "%s: %s", path, text_str(&words_of_it));
    }
    text_free(&words_of_it);
  }
  return code;
}

static int write_mesh(struct cli *cli, const struct mesh_file *m, const char *path, enum format format,
                      struct error *err) {
  struct file_plugin plugin = {0};
  if (format == FORMAT_AIRFOIL)
    return mesh_write_airfoil(m, path, err);
  if (format == FORMAT_GMSH)
    return mesh_write_gmsh(m, path, err);
  int code = open_hdf5(cli, &plugin, err);
  return code ? code : mesh_write_hdf5(m, plugin.table, path, true, err);
}

static bool holds_table(const struct mesh_file *m, enum format format, int table) {
  return format == FORMAT_AIRFOIL ? mesh_airfoil_holds(m, table)
         : format == FORMAT_GMSH  ? mesh_gmsh_holds(m, table)
                                  : true;
}

/* A text format has no sizes of sets beside their tables. */
static bool holds_set(const struct mesh_file *m, enum format format, int set) {
  bool holds = format == FORMAT_HDF5;
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
  if (cli->json) {
    json_open(&cli->out, NULL, '{');
    json_text(&cli->out, "kind", kind);
    json_text(&cli->out, "name", name);
    json_close(&cli->out, '}');
  } else if (strcmp(kind, "section") == 0)
    fprintf(stderr, "op2jit: warning: the names of the groups (%s) are not in %s; their numbers are\n", name,
            cli->words[1]);
  else
    fprintf(stderr, "op2jit: warning: %s %s is not in %s: the format has no place for it\n", kind, name,
            cli->words[1]);
}

/* What the new file lacks. */
static void tell_left_out(struct lost *lost, const struct mesh_file *m, enum format format) {
  for (int i = 0; i < m->nsets; i++)
    if (!holds_set(m, format, i))
      left_out(lost, "set", m->sets[i].name);
  for (int i = 0; i < m->ntables; i++)
    if (!holds_table(m, format, i))
      left_out(lost, m->tables[i].to >= 0 ? "map" : "dat", m->tables[i].name);
  for (int i = 0; i < m->nothers && format != FORMAT_HDF5; i++)
    left_out(lost, m->others[i].constant ? "constant" : "dataset", m->others[i].name);
  if (m->names_groups)
    left_out(lost, "section", "$PhysicalNames");
}

static bool is_same_file(const char *one, const char *other) {
  struct stat a, b;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* What is left out of a file that takes the place of the one it is from is gone. */
static int keeps_all(const struct cli *cli, const struct mesh_file *m, enum format format,
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

static void say_converted(struct cli *cli, const struct mesh_file *m, enum format format) {
  const char *path = cli->words[1];
  struct lost lost = {cli, 0};
  int sets = 0, tables = 0;
  if (cli->json) {
    json_open(&cli->out, NULL, '{');
    json_text(&cli->out, "from", m->format);
    json_text(&cli->out, "file", path);
    json_open(&cli->out, "left_out", '[');
  }
  tell_left_out(&lost, m, format);
  for (int i = 0; i < m->nsets; i++)
    sets += holds_set(m, format, i);
  for (int i = 0; i < m->ntables; i++)
    tables += holds_table(m, format, i);
  if (cli->json) {
    json_close(&cli->out, ']');
    json_number(&cli->out, "sets", sets);
    json_number(&cli->out, "tables", tables);
    json_number(&cli->out, "others", format == FORMAT_HDF5 ? m->nothers : 0);
    json_close(&cli->out, '}');
    return;
  }
  text_addf(&cli->out, "%s: %d of %d set%s and %d of %d table%s written, from %s", path, sets, m->nsets,
            plural(m->nsets), tables, m->ntables, plural(m->ntables), m->format);
  if (m->nothers && format == FORMAT_HDF5)
    text_addf(&cli->out, "; %d other dataset%s copied", m->nothers, plural(m->nothers));
  text_add_char(&cli->out, '\n');
}

static int print_convert(struct cli *cli, struct mesh_file *m, struct error *err) {
  const char *path = cli->words[1], *to = cli->values[CONVERT_TO];
  const enum format format = to ? format_by_word(to) : format_by_suffix(path);
  int code = no_bad_entries(m, cli->words[0], err);
  m->coordinates = cli->values[CONVERT_COORDINATES];
  if (!code && m->coordinates && mesh_find_points(m) < 0) {
    mesh_points_error(m, err);
    code = error_prefix(err, "%s: ", cli->words[0]);
  }
  if (!code && cli->values[CONVERT_EDGES] && (code = mesh_add_sides(m, err)))
    error_prefix(err, "%s: ", cli->words[0]);
  if (!code)
    code = keeps_all(cli, m, format, err);
  if (!code)
    code = write_mesh(cli, m, path, format, err);
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
  return run(cli, print_info);
}

static int run_check(struct cli *cli) {
  return run(cli, print_check);
}

static int run_convert(struct cli *cli) {
  const char *to = cli->values[CONVERT_TO];
  if (to && !format_by_word(to))
    return cli_fail(CLI_USAGE, "--to %s: expected hdf5, airfoil or gmsh", to);
  if (!to && !format_by_suffix(cli->words[1]))
    return cli_fail(CLI_USAGE,
                    "%s: the name does not say the format; end it in .h5, .dat or .msh, or give --to",
                    cli->words[1]);
  if (cli->values[CONVERT_EDGES] &&
      (to ? format_by_word(to) : format_by_suffix(cli->words[1])) == FORMAT_GMSH)
    return cli_fail(
        CLI_USAGE,
        "--edges: files of Gmsh have no place for edges between cells; name a file of HDF5 or airfoil");
  return run(cli, print_convert);
}

const struct command cli_mesh[] = {
    {"mesh",
     "info",
     "FILE",
     1,
     1,
     "Say what is in a mesh file",
     "Sets, maps with arity, degree of their targets, bandwidth and bad entries, dats, constants and other "
     "datasets, and into how many "
     "parts the maps connect all that. "
     "Reads HDF5 in OP2's layout, OP2's airfoil text, and Gmsh's files of versions 2, 4.0 and 4.1, in text "
     "or "
     "binary. Where an HDF5 file does not say "
     "which sets a table is of, that is guessed from sizes.",
     run_info,
     {{0}},
     false},
    {"mesh",
     "check",
     "FILE",
     1,
     1,
     "Find what is wrong in a mesh file",
     "Entries outside their set, elements that name a target twice, values that are not finite. Status 1 if "
     "there is "
     "any.",
     run_check,
     {{0}},
     false},
    {"mesh",
     "convert",
     "FILE NEW",
     2,
     2,
     "Write a mesh in another format",
     "The name of the new file says which: .h5 HDF5 in OP2's layout, .dat OP2's airfoil text, .msh Gmsh 2.2. "
     "A file that is "
     "there is replaced when the new one is whole. From HDF5 to HDF5 everything goes along. What a format "
     "has "
     "no place for is left out, with a "
     "warning, or is an error if the new file takes the place of the old one. With --edges the edges of the "
     "cells (in space the faces) are made and "
     "written too, with the cells on their two sides, and those of the boundary with the group of the "
     "element that lies "
     "there: the format of airfoil needs them, and files of Gmsh do not have them. The coordinates are the "
     "dat of 2 or 3 reals on the set that the maps of the cells lead to; where more than one can be them, "
     "--coordinates says which.",
     run_convert,
     {{"--to", "FORMAT", "hdf5, airfoil or gmsh, whatever the name says"},
      {"--edges", NULL, "make edges and boundary edges of the cells"},
      {"--coordinates", "DAT", "the dat that holds the coordinates of the nodes"}},
     false},
};
const int cli_mesh_count = (int)(sizeof cli_mesh / sizeof *cli_mesh);
