/* Details of one loop beside its times: its arguments, its plan, the variants that were tried. */
#ifndef OP2JIT_REPORT_DETAILS_H
#define OP2JIT_REPORT_DETAILS_H

#include "base/error.h"
#include "report/forms.h"

struct loop_site;
struct store;

/* `store`: whose history is told; NULL: none. */
int detail_fill(struct report_detail *out, const struct loop_site *site, struct store *store,
                struct error *err);
void detail_free(struct report_detail *detail);

#endif
