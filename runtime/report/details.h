/* What a report says of one loop beside its times: its arguments, its plan, the variants that were tried. */
#ifndef OP2JIT_REPORT_DETAILS_H
#define OP2JIT_REPORT_DETAILS_H

#include "base/error.h"
#include "report/forms.h"

struct loop_site;

int detail_fill(struct report_detail *out, const struct loop_site *site, struct error *err);
void detail_free(struct report_detail *detail);

#endif
