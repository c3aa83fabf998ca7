/* The formats of mesh files that the op2jit command knows, and what it says of a mesh. */
#ifndef OP2JIT_CLI_MESH_FORMAT_H
#define OP2JIT_CLI_MESH_FORMAT_H

#include "cli/cli.h"
#include "cli/mesh/mesh_file.h"

struct mesh_format {
  const char *word;        /* of --to */
  const char *suffixes[3]; /* of files */
  int (*write)(struct cli *cli, const struct mesh_file *m, const char *path, struct error *err);
  bool (*holds)(const struct mesh_file *m, int table); /* NULL: everything */
};
/* NULL: there is none. */
const struct mesh_format *mesh_format_by_word(const char *word);
const struct mesh_format *mesh_format_by_suffix(const char *path);

/* What a file is, is seen from what it holds. */
int mesh_read(struct cli *cli, struct mesh_file *m, const char *path, struct error *err);

/* op2jit mesh info, op2jit mesh check. An error without words: there are findings, which are printed. */
int mesh_print_info(struct cli *cli, struct mesh_file *m, struct error *err);
int mesh_print_check(struct cli *cli, struct mesh_file *m, struct error *err);
/* What is wrong with the entries of a map, in words. */
void mesh_say_bad(struct text *out, const struct mesh_file *m, const struct mesh_table *t,
                  const struct mesh_bad *bad);
const char *mesh_plural(long long count);

#endif
