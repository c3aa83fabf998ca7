/* How fast loops were in earlier runs on this machine: kept in the store at op_exit, and compared with this run. */
#ifndef OP2JIT_REPORT_SPEED_H
#define OP2JIT_REPORT_SPEED_H

#include "base/error.h"
#include "report/forms.h"

struct loop_site;
struct op_context;

/* Finds the loop's earlier runs on this machine with as many threads, and puts a line into `slower` if it was faster then by
 * more than times vary. Without a store it finds nothing. */
void speeds_find(const struct op_context *ctx, const struct loop_site *site, struct report_detail *out);
/* Put this run's into the store, of the loops that ran often enough, if it keeps what it measures (OP2_TUNE). */
void speeds_keep(const struct op_context *ctx);

/* Details of one loop beside its times: its arguments, its plan, the variants that were tried. */

struct loop_site;
struct store;

/* `store`: whose history is told; NULL: none. */
int detail_fill(struct report_detail *out, const struct loop_site *site, struct store *store,
                struct error *err);
void detail_free(struct report_detail *detail);

#endif
