/* op2jit checkpoint: what is in a file of OP2_CHECKPOINT. */
#include "checkpoint/inner.h"
#include "cli/cli.h"
#include "files/io.h"

static void print_dat(struct text *out, const struct table *t) {
  char bytes[32];
  text_addf(out, "dat       %-16s %lld x %d %s on %s, %s\n", t->dat, t->rows, t->dim, t->type, t->set,
            t->zeros ? "all zero" : cli_bytes(t->rows * (long long)t->width, bytes));
}

static void print(struct text *out, const struct past *past, const char *path) {
  char when[32], bytes[32];
  const long long *facts = past->facts;
  text_addf(out, "file      %s, whole\n", path);
  text_addf(out, "written   %s by op2jit %s on %s, %lld rank%s\n", cli_time(facts[FACT_TIME], when),
            past->version, past->backend, facts[FACT_RANKS], facts[FACT_RANKS] == 1 ? "" : "s");
  text_addf(out, "place     behind loop %lld and event %lld, after %lld seconds\n", facts[FACT_LOOPS],
            facts[FACT_EVENT], facts[FACT_SECONDS]);
  text_addf(out, "values    %s that left the library\n",
            cli_bytes(facts[FACT_VALUES] + facts[FACT_OWN] + facts[FACT_LEFT], bytes));
  text_addf(out, "globals   %s\n", cli_bytes(facts[FACT_GLOBALS], bytes));
  for (long long i = 0; i < facts[FACT_DATS]; i++)
    print_dat(out, &past->dats[i]);
  for (size_t i = 0; i < past->nkinds; i++)
    text_addf(out, "event     %s\n", past->kinds[i].line);
}

static void print_json(struct text *out, const struct past *past, const char *path) {
  const long long *facts = past->facts;
  json_open(out, NULL, '{');
  json_fields(
      out, "file:t version:t backend:t ranks:i written:i loops:i events:i seconds:i values:i globals:i", path,
      past->version, past->backend, facts[FACT_RANKS], facts[FACT_TIME], facts[FACT_LOOPS], facts[FACT_EVENT],
      facts[FACT_SECONDS], facts[FACT_VALUES] + facts[FACT_OWN] + facts[FACT_LEFT], facts[FACT_GLOBALS]);
  json_open(out, "dats", '[');
  for (long long i = 0; i < facts[FACT_DATS]; i++) {
    const struct table *t = &past->dats[i];
    json_object(out, NULL, "name:t set:t type:t dim:n rows:i bytes:i zeros:b", t->dat, t->set, t->type,
                t->dim, t->rows, t->zeros ? 0 : t->rows * (long long)t->width, t->zeros);
  }
  json_close(out, ']');
  json_open(out, "kinds", '[');
  for (size_t i = 0; i < past->nkinds; i++)
    json_object(out, NULL, "event:t", past->kinds[i].line);
  json_close(out, ']');
  json_close(out, '}');
  text_add_char(out, '\n');
}

static int run(struct cli *cli) {
  struct file_plugin plugin = {0};
  struct past *past = NULL;
  int code = file_plugin_open(&plugin, env_value(&cli->env, ENV_PLUGINS), &cli->err);
  if (!code)
    code = past_read(plugin.table, NULL, cli->words[0], &past, &cli->err);
  if (!code)
    (cli->json ? print_json : print)(&cli->out, past, cli->words[0]);
  past_free(past);
  return cli_status(code);
}

const struct command cli_checkpoint[] = {{.name = "checkpoint",
                                          .arguments = "FILE",
                                          .help = "Say what is in a file of OP2_CHECKPOINT",
                                          .run = run},
                                         {0}};
