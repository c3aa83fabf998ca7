/* A loop's arguments as a user types them, for `op2jit check`. One text per argument:
 *
 *   dat TYPE DIM ACCESS              a dat on the loop's own set
 *   dat TYPE DIM MAP[IDX] ACCESS     through one column of a map
 *   dat TYPE DIM MAP[0..N] ACCESS    through all columns, as a vector of N+1
 *   dat TYPE DIM MAP[] ACCESS        through a ragged map; MAP[entries] for a dat on its entries
 *   gbl TYPE DIM ACCESS
 *   idx, idx MAP[IDX]
 *   info TYPE DIM REF                the payload of argument REF, counted from 1
 *
 * TYPE is a type of op_decl_dat, ACCESS is OP_READ, READ or read and so on, MAP any name. */
#ifndef OP2JIT_CLI_ARGUMENTS_H
#define OP2JIT_CLI_ARGUMENTS_H

#include "jit/kernel/kernel.h"

/* A description of the loop without a kernel; desc_free releases it. OP_ERR_ARGUMENT and the like name the
 * argument and the word. */
int arguments_parse(struct desc *d, char *const texts[], int count, struct error *err);
/* "NAME TYPE DIM", separated by ','; they become the description's constants. */
int constants_parse(struct desc *d, const char *text, struct error *err);

#endif
