/* The forms of loops that OP2_CHECK and OP2_SHADOW ask for. */
#ifndef OP2JIT_CHECK_FORMS_H
#define OP2JIT_CHECK_FORMS_H

#include "loop/form.h"

/* For ctx->forms. */
extern const struct loop_form check_forms[];

#endif
