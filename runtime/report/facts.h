/* What reports say of the mesh and its data. */
#ifndef OP2JIT_REPORT_FACTS_H
#define OP2JIT_REPORT_FACTS_H

#include "report/forms.h"

struct op_context;

/* Fills the report's members, as far as there is memory: one without them is still a report. The rows and the
 * size of the caches are there. */
void facts_find(const struct op_context *ctx, struct report *r);

#endif
