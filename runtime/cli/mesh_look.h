/* op2jit mesh info, op2jit mesh check. An error without words: there are findings, which are printed. */
#ifndef OP2JIT_CLI_MESH_LOOK_H
#define OP2JIT_CLI_MESH_LOOK_H

#include "cli/cli.h"
#include "cli/mesh/mesh_file.h"

int mesh_print_info(struct cli *cli, struct mesh_file *m, struct error *err);
int mesh_print_check(struct cli *cli, struct mesh_file *m, struct error *err);
/* What is wrong with the entries of a map, in words. */
void mesh_say_bad(struct text *out, const struct mesh_file *m, const struct mesh_table *t,
                  const struct mesh_bad *bad);
const char *mesh_plural(long long count);

#endif
