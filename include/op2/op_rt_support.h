/* Under OP2's name: programs need nothing of it. */
#ifndef OP_RT_SUPPORT_H
#define OP_RT_SUPPORT_H

#include "op_lib_c.h"

#endif
