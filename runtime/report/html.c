/* The page: page.html with the JSON report in it. */
#include <string.h>

#include "report/forms.h"
#include "report/page.h"

/* Where the reports go in page.html, in this order. */
static const char *const marks[] = {"@REPORT@", "@BEFORE@"};

/* In a script element nothing may look like its end. */
static void add_guarded(const char *json, struct text *out) {
  for (const char *p = json; *p; p++)
    if (*p == '<')
      text_add(out, "\\u003c");
    else
      text_add_char(out, *p);
}

void page_of_json(const char *json, const char *before, struct text *out) {
  const char *const reports[] = {json, before ? before : "null"};
  const char *rest = page_html;
  for (int i = 0; i < 2; i++) {
    const char *at = strstr(rest, marks[i]);
    text_add_bytes(out, rest, (size_t)(at - rest));
    add_guarded(reports[i], out);
    rest = at + strlen(marks[i]);
  }
  text_add(out, rest);
}

void report_html(const struct report *r, struct text *out) {
  struct text json = {0};
  report_json(r, &json);
  page_of_json(text_str(&json), NULL, out);
  text_free(&json);
}
