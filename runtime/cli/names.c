/* Loops that somebody names and the cache does not have. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/size.h"
#include "cli/cli.h"

static bool has_name(const struct text *names, const char *name) {
  for (size_t at = 0; at < names->length; at += strlen(names->data + at) + 1)
    if (strcmp(names->data + at, name) == 0)
      return true;
  return false;
}

void cli_note_name(struct text *names, const char *name) {
  if (!has_name(names, name))
    text_add_bytes(names, name, strlen(name) + 1);
}

int cli_check_name(struct text *names, const char *what, const char *said, const char *lister) {
  const char **list = array_new(names->length, sizeof *list);
  int n = 0, status = CLI_OK;
  for (size_t at = 0; list && at < names->length; at += strlen(names->data + at) + 1)
    list[n++] = names->data + at;
  const int near = said ? nearest_name(said, list, n) : -1;
  if (said && !has_name(names, said))
    status = near >= 0 ? cli_fail(CLI_FAILED, "%s a loop named %s; did you mean %s?", what, said, list[near])
                       : cli_fail(CLI_FAILED, "%s a loop named %s; %s lists the names", what, said, lister);
  free(list);
  text_free(names);
  return status;
}
