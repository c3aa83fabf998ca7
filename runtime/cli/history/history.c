/* op2jit history: how fast loops were, run by run. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "report/forms.h"

struct lines {
  struct cli *cli;
  char loop[128]; /* of the line before */
  int count;
};

static void show_line(void *user, const struct store_speed *s) {
  struct lines *lines = user;
  struct text *out = &lines->cli->out;
  char when[32], took[48];
  if (lines->cli->json) {
    json_object(out, NULL,
                "loop:t time:i seconds:d calls:i elements:i threads:n variant:t version:t machine:t mesh:t "
                "signature:t",
                s->loop, s->time, s->seconds, s->calls, s->elements, s->threads, s->variant, s->version,
                s->machine, s->mesh, s->signature);
    return;
  }
  if (!lines->count || strcmp(lines->loop, s->loop) != 0)
    text_addf(out, "%s%s\n", lines->count ? "\n" : "", s->loop);
  snprintf(lines->loop, sizeof lines->loop, "%s", s->loop);
  lines->count++;
  report_time(took, sizeof took, s->seconds);
  text_addf(out, "  %s %10s  %lld elements, %d thread%s, %s, version %s, %s\n", cli_time(s->time, when), took,
            s->elements, s->threads, s->threads == 1 ? "" : "s", s->variant, s->version, s->machine);
}

static int run_history(struct cli *cli) {
  struct lines lines = {.cli = cli};
  store_speeds(cli->store, cli->nwords ? cli->words[0] : NULL, show_line, &lines);
  if (!cli->json && !lines.count)
    text_add(&cli->out,
             "nothing yet: programs note loops of ten calls or more at op_exit, unless OP2_TUNE is off "
             "or use\n");
  return CLI_OK;
}

const struct command cli_history[] = {{.name = "history",
                                       .arguments = "[LOOP]",
                                       .access = CLI_LOOK,
                                       .lists = true,
                                       .help = "List how fast loops were, the last runs first",
                                       .more = "A line for each run: its date, the fastest call, what it ran "
                                               "over, how, with which version and on which "
                                               "machine.\nThe last 50 of each loop are kept.\n",
                                       .run = run_history},
                                      {0}};
