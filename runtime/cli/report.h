/* Reports of OP2_TIMING=json: SQLite reads them. */
#ifndef OP2JIT_CLI_REPORT_H
#define OP2JIT_CLI_REPORT_H

#include <sqlite3.h>

#include "cli/cli.h"

/* A database in memory, for its JSON functions. NULL after a message. */
sqlite3 *reports_open(void);
/* The text of a file that is a report. CLI_FAILED after a message. */
int reports_read(struct cli *cli, sqlite3 *db, const char *path, struct text *out);
/* The texts are ?1 and ?2; `second` may be NULL. NULL after a message. */
sqlite3_stmt *reports_ask(sqlite3 *db, const char *sql, const struct text *first, const struct text *second);

#endif
