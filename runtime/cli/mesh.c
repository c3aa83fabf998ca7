/* op2jit mesh: what is in a file of HDF5, and whether it is sound. python3 -m op2jit.mesh has the other formats. */
#include <stdio.h>
#include <string.h>

#include "cli/mesh_look.h"
#include "files/plugin.h"

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
  const int code = file_plugin_open(&plugin, "serial", env_value(&cli->env, ENV_PLUGINS), err);
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
  return run(cli, mesh_print_info);
}

static int run_check(struct cli *cli) {
  return run(cli, mesh_print_check);
}

const struct command cli_mesh[] = {
    {.group = "mesh",
     .name = "info",
     .arguments = "FILE",
     .help = "Say what is in a mesh file",
     .more = "Sets, maps with arity, degree of their targets, bandwidth and bad entries, dats, constants and "
             "other datasets, and into how many parts the maps connect all that. Reads HDF5 in OP2's layout; "
             "python3 -m op2jit.mesh convert makes it of other formats. Where a file does not say which sets "
             "a table is of, that is guessed from sizes.",
     .run = run_info},
    {.group = "mesh",
     .name = "check",
     .arguments = "FILE",
     .help = "Find what is wrong in a mesh file",
     .more = "Entries outside their set, elements that name a target twice, values that are not finite. "
             "Status 1 if there is any.",
     .run = run_check},
    {0}};
