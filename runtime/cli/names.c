/* Loops that somebody names and the cache does not have. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/size.h"
#include "cli/cli.h"

void cli_note_name(struct text *names, const char *name) {
  for (size_t at = 0; at < names->length; at += strlen(names->data + at) + 1)
    if (strcmp(names->data + at, name) == 0)
      return;
  text_add_bytes(names, name, strlen(name) + 1);
}

static const char *nearest_of(const struct text *names, const char *said) {
  size_t count = 0, n = 0;
  for (size_t at = 0; at < names->length; at += strlen(names->data + at) + 1)
    count++;
  const char **list = array_new(count, sizeof *list);
  for (size_t at = 0; list && at < names->length; at += strlen(names->data + at) + 1)
    list[n++] = names->data + at;
  const int near = list ? nearest_name(said, list, (int)n) : -1;
  const char *found = near >= 0 ? list[near] : NULL;
  free(list);
  return found;
}

int cli_no_loop(const struct text *names, const char *what, const char *said, const char *lister) {
  const char *near = nearest_of(names, said);
  if (near)
    return cli_fail(CLI_FAILED, "%s a loop named %s; did you mean %s?", what, said, near);
  return cli_fail(CLI_FAILED, "%s a loop named %s; %s lists the names", what, said, lister);
}
