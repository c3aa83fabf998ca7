/* The page that shows a report: one file, which needs nothing else. */
#ifndef OP2JIT_REPORT_JSON_H
#define OP2JIT_REPORT_JSON_H

#include "base/text.h"

/* page.html as text, made when the library is built (base/embed.py). */
extern const char page_html[];

/* The page of a JSON report; beside it that of a run before, or NULL. */
void page_of_json(const char *json, const char *before, struct text *out);

#endif
