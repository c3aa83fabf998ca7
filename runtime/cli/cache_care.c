/* op2jit cache: the subcommands that check and change. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static void say_count(struct cli *cli, const char *name, long long count, const char *words) {
  if (cli->json) {
    json_open(&cli->out, NULL, '{');
    json_number(&cli->out, name, count);
    json_close(&cli->out, '}');
  } else
    text_addf(&cli->out, "%lld binaries %s\n", count, words);
}

static int run_verify(struct cli *cli) {
  struct store *store = cli_open_store(cli, CLI_CHANGE);
  if (!store)
    return CLI_FAILED;
  struct text report = {0}, *out = &cli->out;
  long long checked = 0;
  /* A file that was set aside when it was opened is the worst finding of all. */
  int findings = *store_trouble(store) != 0;
  if (findings)
    text_addf(&report, "%s\n", store_trouble(store));
  findings += store_verify(store, &report, &checked);
  if (cli->json) {
    json_open(out, NULL, '{');
    json_number(out, "checked", checked);
    json_number(out, "findings", findings);
    json_text(out, "report", text_str(&report));
    json_close(out, '}');
  } else
    text_addf(out, "%s%lld binar%s checked, %d finding%s\n", text_str(&report), checked,
              checked == 1 ? "y" : "ies", findings, findings == 1 ? "" : "s");
  text_free(&report);
  store_close(store);
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
  struct store *store = cli_open_store(cli, CLI_CHANGE);
  if (!store)
    return CLI_FAILED;
  say_count(cli, "evicted", store_gc(store, cap), "evicted");
  store_close(store);
  return CLI_OK;
}

static int run_clear(struct cli *cli) {
  struct store *store = cli_open_store(cli, CLI_CHANGE);
  if (!store)
    return CLI_FAILED;
  int status = CLI_OK;
  for (int i = 0; i < cli->nwords && status == CLI_OK; i++) /* all names first: a wrong one changes nothing */
    status = cli_check_loop(store, cli->words[i]);
  if (status != CLI_OK) {
    store_close(store);
    return status;
  }
  long long gone = cli->nwords ? 0 : store_clear(store, NULL);
  for (int i = 0; i < cli->nwords; i++)
    gone += store_clear(store, cli->words[i]);
  say_count(cli, "cleared", gone, "cleared");
  store_close(store);
  return CLI_OK;
}

typedef int transfer(struct store *store, const char *path, const char *const loops[], int count,
                     long long *rows, struct error *err);

static int run_transfer(struct cli *cli, transfer *function, enum cli_access wanted, const char *name,
                        const char *words) {
  struct store *store = cli_open_store(cli, wanted);
  if (!store)
    return CLI_FAILED;
  struct error err = {0};
  long long rows = 0;
  int status = CLI_OK;
  if (function(store, cli->words[0], (const char *const *)(cli->words + 1), cli->nwords - 1, &rows, &err) !=
      OP_OK)
    status = cli_fail(CLI_FAILED, "%s", error_message(&err));
  else
    say_count(cli, name, rows, words);
  error_free(&err);
  store_close(store);
  return status;
}

static int run_export(struct cli *cli) {
  return run_transfer(cli, store_export, CLI_LOOK, "exported", "exported");
}

static int run_import(struct cli *cli) {
  return run_transfer(cli, store_import, CLI_MAKE, "imported", "imported");
}

const struct command cli_cache_care[] = {
    {"cache",
     "verify",
     "",
     0,
     0,
     "Read and check everything",
     "SQLite's own check, and length and checksum of each binary; damaged ones are set aside. Status 1 if "
     "there were any.",
     run_verify,
     {{0}},
     false},
    {"cache",
     "gc",
     "",
     0,
     0,
     "Evict what was not used for the longest time",
     "Also forgets expired failures, dead leases and old history, and gives the space back.",
     run_gc,
     {{"--cap", "SIZE", "down to this size (512M)"}},
     false},
    {"cache",
     "clear",
     "[LOOP...]",
     0,
     -1,
     "Forget binaries and failures",
     "Of the named loops, or all of them. Tunings stay: op2jit tune clear.",
     run_clear,
     {{0}},
     false},
    {"cache",
     "export",
     "FILE [LOOP...]",
     1,
     -1,
     "Write a new file that is fit to be a layer",
     "All binaries or those of the named loops, with their tunings. Use it as OP2_CACHE_RO=FILE, or import "
     "it.",
     run_export,
     {{0}},
     false},
    {"cache",
     "import",
     "FILE [LOOP...]",
     1,
     -1,
     "Take over what a file has, all or nothing",
     "Every checksum is verified first.",
     run_import,
     {{0}},
     false},
};
const int cli_cache_care_count = (int)(sizeof cli_cache_care / sizeof *cli_cache_care);
