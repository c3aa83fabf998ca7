/* The page: page.html with the JSON report in it. */
#include <string.h>

#include "report/forms.h"
#include "report/page.h"

/* Where the JSON goes in page.html. */
static const char mark[] = "@REPORT@";

/* In a script element nothing may look like its end. */
static void add_guarded(const char *json, struct text *out) {
  for (const char *p = json; *p; p++)
    if (*p == '<')
      text_add(out, "\\u003c");
    else
      text_add_char(out, *p);
}

void page_of_json(const char *json, struct text *out) {
  const char *at = strstr(page_html, mark);
  text_add_bytes(out, page_html, (size_t)(at - page_html));
  add_guarded(json, out);
  text_add(out, at + sizeof mark - 1);
}

void report_html(const struct report *r, struct text *out) {
  struct text json = {0};
  report_json(r, &json);
  page_of_json(text_str(&json), out);
  text_free(&json);
}
