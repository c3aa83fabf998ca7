/* op2jit mesh: what is in a file of HDF5, and whether it is sound. python3 -m op2jit.mesh has the other formats. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/mesh_file.h"
#include "files/io.h"

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

static void say_bad(struct text *out, const struct mesh_file *m, const struct mesh_table *t,
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
  json_fields(
      out,
      "name:t from:t to:t arity:n guessed:b degree_min:i degree_mean:d degree_max:i bandwidth:i unused:i "
      "repeated:i bad:i",
      t->name, set_name(m, t->set), set_name(m, t->to), t->columns, t->guessed, i->degree_min, i->degree_mean,
      i->degree_max, i->bandwidth, i->unused, i->repeated, i->bad.count);
  if (i->bad.count)
    json_object(out, "first_bad", "element:i entry:n value:i", i->bad.row, i->bad.column, i->bad.value);
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
        say_bad(&cli->out, m, t, &info.bad);
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
    if (cli->json)
      json_object(out, NULL, "name:t set:t dim:n type:t", t->name, set_name(m, t->set), t->columns, type);
    else
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
    if (cli->json && constants)
      json_object(out, NULL, "name:t dim:i type:t", o->name, o->dim, o->words);
    else if (cli->json)
      json_object(out, NULL, "name:t holds:t", o->name, o->words);
    else if (constants)
      text_addf(out, "const %-16s %lld %s\n", o->name, o->dim, o->words);
    else
      text_addf(out, "other %-16s %s, on no set\n", o->name, o->words);
  }
}

static void each_set(struct cli *cli, const struct mesh_file *m) {
  for (int i = 0; i < m->nsets; i++)
    if (cli->json)
      json_object(&cli->out, NULL, "name:t size:i", m->sets[i].name, m->sets[i].size);
    else
      text_addf(&cli->out, "set   %-16s %lld\n", m->sets[i].name, m->sets[i].size);
}

/* A list of JSON ends here, if its brackets are open, and one of this name begins; the plain form has no lists. */
static void next_list(struct cli *cli, bool open, const char *name) {
  if (cli->json && open)
    json_close(&cli->out, ']');
  if (cli->json && name)
    json_open(&cli->out, name, '[');
}

static int print_info(struct cli *cli, struct mesh_file *m, struct error *err) {
  struct text *out = &cli->out;
  long long parts = 0;
  int code = mesh_components(m, &parts, err);
  if (cli->json) {
    json_open(out, NULL, '{');
    json_fields(out, "format:t", "HDF5");
  } else
    text_addf(out, "%s: HDF5\n", cli->words[0]);
  next_list(cli, false, "sets");
  each_set(cli, m);
  next_list(cli, true, "maps");
  if (!code)
    code = each_map(cli, m, err);
  next_list(cli, true, "dats");
  each_dat(cli, m);
  next_list(cli, true, "constants");
  each_other(cli, m, true);
  next_list(cli, true, "others");
  each_other(cli, m, false);
  next_list(cli, true, NULL);
  if (cli->json) {
    json_fields(out, "components:i", parts);
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
    json_bytes(&cli->out, NULL, words_of_it, strlen(words_of_it));
  else
    text_addf(&cli->out, "%s\n", words_of_it);
}

static int check_table(struct cli *cli, const struct mesh_file *m, const struct mesh_table *t,
                       long long *findings, struct error *err) {
  struct text words_of_it = {0};
  struct mesh_map_info info = {0};
  int code = t->to >= 0 ? mesh_map_look(m, t, &info, err) : OP_OK;
  if (!code && info.bad.count) {
    say_bad(&words_of_it, m, t, &info.bad);
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

/* An error without words: there are findings, which are printed. */
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
    json_fields(&cli->out, "count:i", findings);
    json_close(&cli->out, '}');
  } else
    text_addf(&cli->out, "%d set%s and %d table%s checked, %lld finding%s\n", m->nsets, plural(m->nsets),
              m->ntables, plural(m->ntables), findings, plural(findings));
  return code ? code : findings ? OP_ERR_MAP_RANGE : OP_OK;
}

/* ---- the commands ---- */

/* The eight bytes that HDF5's files begin with. A file that cannot be read is left to the reader's message. */
static bool is_other(const char *path) {
  static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char bytes[8] = {0};
  FILE *file = fopen(path, "rb");
  const bool other = file && (fread(bytes, 1, 8, file) < 8 || memcmp(bytes, mark, 8) != 0) && !ferror(file);
  if (file)
    fclose(file);
  return other;
}

static int read_mesh(struct cli *cli, struct mesh_file *m, const char *path, struct error *err) {
  struct file_plugin plugin = {0};
  if (is_other(path))
    return error_set(err, OP_ERR_FILE,
                     "%s: this is not HDF5; python3 -m op2jit.mesh convert makes it of OP2's airfoil text, "
                     "Gmsh, VTK and other formats",
                     path);
  const int code = file_plugin_open(&plugin, env_value(&cli->env, ENV_PLUGINS), err);
  return code ? code : mesh_read_hdf5(m, plugin.table, path, err);
}

static int run(struct cli *cli, int (*print)(struct cli *cli, struct mesh_file *m, struct error *err)) {
  struct mesh_file m = {0};
  int code = read_mesh(cli, &m, cli->words[0], &cli->err);
  if (!code)
    code = print(cli, &m, &cli->err);
  mesh_file_free(&m);
  return cli_status(code);
}

static int run_info(struct cli *cli) {
  return run(cli, print_info);
}

static int run_check(struct cli *cli) {
  return run(cli, print_check);
}

const struct command cli_mesh[] = {{.group = "mesh",
                                    .name = "info",
                                    .arguments = "FILE",
                                    .help = "Say what is in a mesh file",
                                    .run = run_info},
                                   {.group = "mesh",
                                    .name = "check",
                                    .arguments = "FILE",
                                    .help = "Find what is wrong in a mesh file",
                                    .run = run_check},
                                   {0}};
