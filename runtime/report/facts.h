/* What reports say of the mesh and its data: found in a context, told by forms.h. */
#ifndef OP2JIT_REPORT_FACTS_H
#define OP2JIT_REPORT_FACTS_H

#include "report/forms.h"

struct op_context;

struct report_facts {
  struct report_view *views;
  struct report_order *orders;
  struct report_unread *unread;
  struct report_moved *moved;
  int nmoved;
};

/* Fills the report's members, as far as there is memory: one without them is still a report. The rows and the
 * size of the caches are there. */
void facts_find(const struct op_context *ctx, struct report *r, struct report_facts *out);
void facts_free(struct report_facts *facts);

#endif
