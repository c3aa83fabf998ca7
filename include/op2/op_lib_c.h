/* Under OP2's name: everything is in op_lib_core.h. */
#ifndef OP_LIB_C_H
#define OP_LIB_C_H

#include "op_lib_core.h"

#ifndef __cplusplus
#define OP_ID (&op2jit_identity_map)
#endif

#endif
