/* op2jit mesh info, op2jit mesh check. An error without words: there are findings, which are printed. */
#ifndef OP2JIT_CLI_MESH_LOOK_H
#define OP2JIT_CLI_MESH_LOOK_H

#include "cli/cli.h"
#include "cli/mesh_file.h"

int mesh_print_info(struct cli *cli, struct mesh_file *m, struct error *err);
int mesh_print_check(struct cli *cli, struct mesh_file *m, struct error *err);

#endif
