/* op2jit history: how fast loops were, run by run. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

struct lines {
  struct cli *cli;
  const char *loop; /* of the line before; NULL: there is none */
  char name[128];
  int count;
};

static void show_time(double seconds, struct text *out) {
  static const struct {
    double unit;
    const char *name;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {0, "ns"}};
  int u = 0;
  while (seconds < units[u].unit)
    u++;
  text_addf(out, "%8.3g %-2s", seconds / (units[u].unit > 0 ? units[u].unit : 1e-9), units[u].name);
}

static void show_line(void *user, const struct store_speed *s) {
  struct lines *lines = user;
  struct text *out = &lines->cli->out;
  char when[32];
  lines->count++;
  if (lines->cli->json) {
    json_object(out, NULL,
                "loop:t time:i seconds:d calls:i elements:i threads:n variant:t version:t machine:t mesh:t "
                "signature:t",
                s->loop, s->time, s->seconds, s->calls, s->elements, s->threads, s->variant, s->version,
                s->machine, s->mesh, s->signature);
    return;
  }
  if (!lines->loop || strcmp(lines->name, s->loop) != 0)
    text_addf(out, "%s%s\n", lines->loop ? "\n" : "", s->loop);
  snprintf(lines->name, sizeof lines->name, "%s", s->loop);
  lines->loop = lines->name;
  text_addf(out, "  %s", cli_time(s->time, when));
  show_time(s->seconds, out);
  text_addf(out, "  %lld elements, %d thread%s, %s, version %s, %s\n", s->elements, s->threads,
            s->threads == 1 ? "" : "s", s->variant, s->version, s->machine);
}

static int run_history(struct cli *cli) {
  struct lines lines = {.cli = cli};
  if (cli->json)
    json_open(&cli->out, NULL, '[');
  store_speeds(cli->store, cli->nwords ? cli->words[0] : NULL, show_line, &lines);
  if (cli->json)
    json_close(&cli->out, ']');
  else if (!lines.count)
    text_add(&cli->out,
             "nothing yet: programs note loops of ten calls or more at op_exit, unless OP2_TUNE is off "
             "or use\n");
  return CLI_OK;
}

const struct command cli_history[] = {{.group = "",
                                       .name = "history",
                                       .arguments = "[LOOP]",
                                       .least = 0,
                                       .most = 1,
                                       .access = CLI_LOOK,
                                       .help = "List how fast loops were, the last runs first",
                                       .more = "A line for each run: its date, the fastest call, what it ran "
                                               "over, how, with which version and on which "
                                               "machine.\nThe last 50 of each loop are kept.\n",
                                       .run = run_history},
                                      {0}};
