#include "base/access.h"

/* clang-format off */
const struct access_row access_rows[ACCESSES] = {
    [OP_READ] = {"OP_READ", "read", .reads = true, .of_dats = true},
    [OP_WRITE] = {"OP_WRITE", "write", .changes = true, .assigns = true, .of_dats = true},
    [OP_RW] = {"OP_RW", "rw", .reads = true, .changes = true, .assigns = true, .of_dats = true},
    [OP_INC] = {"OP_INC", "inc", .changes = true, .reduces = true, .of_dats = true},
    [OP_MIN] = {"OP_MIN", "min", .changes = true, .reduces = true, .is_extremum = true, .of_dats = true},
    [OP_MAX] = {"OP_MAX", "max", .changes = true, .reduces = true, .is_extremum = true, .of_dats = true},
    [OP_WORK] = {"OP_WORK", "work"}};
/* clang-format on */
