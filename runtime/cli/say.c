/* The output of commands: errors, sizes, times; and numbers among their arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/aside.h"
#include "base/list.h"
#include "base/text.h"
#include "cli/cli.h"

int cli_fail(int status, const char *format, ...) {
  va_list args;
  fputs("op2jit: ", stderr);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  return status;
}

int cli_write(struct cli *cli, const char *path, const struct text *words) {
  return cli_status(text_ok(words) ? aside_whole(path, text_str(words), words->length, &cli->err)
                                   : error_memory(&cli->err, "a file", words->length));
}

bool cli_number(const char *text, long long most, long long *out) {
  long long value = 0;
  for (const char *c = text; *c; c++) {
    const int digit = *c - '0';
    if (digit < 0 || digit > 9 || value > (most - digit) / 10)
      return false;
    value = 10 * value + digit;
  }
  *out = value;
  return *text != '\0';
}

const char *cli_bytes(long long bytes, char out[32]) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = (double)bytes;
  int unit = 0;
  while (value >= 1024.0 && unit < 4) {
    value /= 1024.0;
    unit++;
  }
  snprintf(out, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return out;
}

const char *cli_time(long long seconds, char out[32]) {
  time_t t = (time_t)seconds;
  struct tm tm;
  if (!localtime_r(&t, &tm) || !strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm))
    snprintf(out, 32, "%lld", seconds);
  return out;
}

void cli_wrap(struct text *out, size_t begin, int indent) {
  size_t line = begin, space = 0;
  for (size_t i = begin; i < out->length && !out->failed; i++) {
    const char c = out->data[i];
    if (c == ' ' && i > line + (size_t)indent)
      space = i;
    if (c == '\n') {
      line = i + 1;
      space = 0;
    } else if (i - line >= CLI_COLUMNS && space > line) {
      /* The words of a line stand one space apart behind its first ones: that space becomes the break. */
      struct text rest = {0};
      text_add(&rest, out->data + space + 1);
      out->length = space;
      out->data[space] = '\0';
      text_addf(out, "\n%*s%s", indent, "", text_str(&rest));
      out->failed |= rest.failed;
      text_free(&rest);
      line = i = space + 1;
      space = 0;
    }
  }
}

/* ---- loops that somebody names and the cache does not have ---- */
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
