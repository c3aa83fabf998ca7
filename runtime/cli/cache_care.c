/* op2jit cache: the subcommands that check and change. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* Says what was done with how many binaries. */
static int say_count(struct cli *cli, const char *done, long long count) {
  if (cli->json)
    text_addf(&cli->out, "{\"%s\":%lld}", done, count);
  else
    text_addf(&cli->out, "%lld binaries %s\n", count, done);
  return CLI_OK;
}

static int run_verify(struct cli *cli) {
  struct text report = {0}, *out = &cli->out;
  long long checked = 0;
  /* A file that was set aside when it was opened is the worst finding of all. */
  int findings = *store_trouble(cli->store) != 0;
  if (findings)
    text_addf(&report, "%s\n", store_trouble(cli->store));
  findings += store_verify(cli->store, &report, &checked);
  if (cli->json)
    json_object(out, NULL, "checked:i findings:n report:t", checked, findings, text_str(&report));
  else
    text_addf(out, "%s%lld binar%s checked, %d finding%s\n", text_str(&report), checked,
              checked == 1 ? "y" : "ies", findings, findings == 1 ? "" : "s");
  text_free(&report);
  return findings ? CLI_FAILED : CLI_OK;
}

/* "200M"; -1: it is none. */
static long long parse_size(const char *text) {
  static const char units[] = "KMGT";
  char digits[16];
  long long value;
  const size_t length = strspn(text, "0123456789");
  const char last = text[length];
  const char *unit = last ? strchr(units, last >= 'a' ? last - 'a' + 'A' : last) : NULL;
  if (length >= sizeof digits || (last && (!unit || text[length + 1])))
    return -1;
  snprintf(digits, sizeof digits, "%.*s", (int)length, text);
  if (!cli_number(digits, 1LL << 40, &value) || value == 0)
    return -1;
  /* The largest of the largest unit is beyond any disk, and beyond the type. */
  const int bits = unit ? 10 * (int)(unit - units + 1) : 0;
  return value <= LLONG_MAX >> bits ? value << bits : -1;
}

static int run_gc(struct cli *cli) {
  long long cap = cli->values[0] ? parse_size(cli->values[0]) : 0;
  if (cap < 0)
    return cli_fail(CLI_USAGE, "--cap \"%s\": expected a size such as 200M", cli->values[0]);
  return say_count(cli, "evicted", store_gc(cli->store, cap));
}

static int run_clear(struct cli *cli) {
  for (int i = 0; i < cli->nwords; i++) /* all names first: a wrong one changes nothing */
    if (cli_check_loop(cli, cli->words[i]) != CLI_OK)
      return CLI_FAILED;
  long long gone = cli->nwords ? 0 : store_clear(cli->store, NULL);
  for (int i = 0; i < cli->nwords; i++)
    gone += store_clear(cli->store, cli->words[i]);
  return say_count(cli, "cleared", gone);
}

typedef int transfer(struct store *store, const char *path, const char *const loops[], int count,
                     long long *rows, struct error *err);

static int run_transfer(struct cli *cli, transfer *function, const char *done) {
  long long rows = 0;
  const int code = function(cli->store, cli->words[0], (const char *const *)(cli->words + 1), cli->nwords - 1,
                            &rows, &cli->err);
  return code ? CLI_FAILED : say_count(cli, done, rows);
}

static int run_export(struct cli *cli) {
  return run_transfer(cli, store_export, "exported");
}

static int run_import(struct cli *cli) {
  return run_transfer(cli, store_import, "imported");
}

const struct command cli_cache_care[] = {{.group = "cache",
                                          .name = "verify",
                                          .access = CLI_CHANGE,
                                          .help = "Read and check everything",
                                          .run = run_verify},
                                         {.group = "cache",
                                          .name = "gc",
                                          .access = CLI_CHANGE,
                                          .help = "Evict what was not used for the longest time",
                                          .run = run_gc,
                                          .options = {{"--cap", "SIZE", "down to this size (512M)"}}},
                                         {.group = "cache",
                                          .name = "clear",
                                          .arguments = "[LOOP...]",
                                          .access = CLI_CHANGE,
                                          .help = "Forget binaries",
                                          .run = run_clear},
                                         {.group = "cache",
                                          .name = "export",
                                          .arguments = "FILE [LOOP...]",
                                          .access = CLI_LOOK,
                                          .help = "Write a new file that is fit to be a layer",
                                          .run = run_export},
                                         {.group = "cache",
                                          .name = "import",
                                          .arguments = "FILE [LOOP...]",
                                          .access = CLI_MAKE,
                                          .help = "Take over what a file has, all or nothing",
                                          .run = run_import},
                                         {0}};
