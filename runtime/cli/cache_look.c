/* op2jit cache: the subcommands that only look. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "jit/key/signature.h"

/* ---- ls ----------------------------------------------------------------------------------------*/

struct listing {
  struct cli *cli;
  int count;
};

static bool is_named(const struct cli *cli, const char *loop) {
  bool named = cli->nwords == 0;
  for (int i = 0; i < cli->nwords; i++)
    named |= strcmp(cli->words[i], loop) == 0;
  return named;
}

static void list_row(void *user, const struct store_row *row) {
  struct listing *l = user;
  if (!is_named(l->cli, row->loop))
    return;
  struct text *out = &l->cli->out;
  char size[32], made[32];
  if (l->cli->json) {
    json_object(out, NULL,
                "loop:t hash:t shape:t file:t bytes:i stored_bytes:i compile_seconds:d made:i used:i",
                row->loop, row->hash, row->shape, row->origin, row->size, row->stored, row->seconds,
                row->made, row->used);
  } else {
    if (l->count == 0)
      text_addf(out, "%-24s %-12s %10s %10s  %-19s  %s\n", "loop", "hash", "size", "compiled", "on", "shape");
    text_addf(out, "%-24s %.12s %10s %7.0f ms  %s  %s\n", row->loop, row->hash, cli_bytes(row->size, size),
              row->seconds * 1e3, cli_time(row->made, made), row->shape);
  }
  l->count++;
}

static void note_row(void *user, const struct store_row *row) {
  cli_note_name(user, row->loop);
}

static void note_event(void *user, const struct store_event *e) {
  cli_note_name(user, e->loop);
}

static void count_row(void *user, const struct store_row *row) {
  (void)row;
  ++*(int *)user;
}

int cli_check_loop(const struct cli *cli, const char *said) {
  struct text names = {0};
  store_list(cli->store, NULL, note_row, &names);
  store_history(cli->store, NULL, 0, note_event, &names);
  return cli_check_name(&names, "nothing is known of", said, "op2jit cache ls");
}

/* Names without a binary; those whose binaries are gone are known all the same. */
static int check_names(const struct cli *cli) {
  int status = CLI_OK;
  for (int i = 0; i < cli->nwords; i++) {
    int count = 0;
    store_list(cli->store, cli->words[i], count_row, &count);
    if (count)
      continue;
    status = cli_check_loop(cli, cli->words[i]);
    if (status == CLI_OK)
      status = cli_fail(CLI_FAILED,
                        "there is no binary of loop %s any more; op2jit cache why %s says what became of it",
                        cli->words[i], cli->words[i]);
  }
  return status;
}

static int run_ls(struct cli *cli) {
  struct listing l = {cli, 0};
  store_list(cli->store, NULL, list_row, &l);
  if (!cli->json && l.count == 0 && cli->nwords == 0)
    text_add(&cli->out, "no binaries\n");
  return check_names(cli);
}

/* ---- show --------------------------------------------------------------------------------------*/

static void newest_hash(void *user, const struct store_row *row) {
  struct text *hash = user;
  if (hash->length == 0) /* the list begins with the newest */
    text_add(hash, row->hash);
}

static void add_indented(struct text *out, const char *value, size_t length) {
  text_add(out, "    ");
  for (size_t i = 0; i < length; i++) {
    text_add_char(out, value[i] ? value[i] : '?');
    if (value[i] == '\n' && i + 1 < length)
      text_add(out, "    ");
  }
  if (length == 0 || value[length - 1] != '\n')
    text_add_char(out, '\n');
}

static void show_key(struct cli *cli, const struct store_key *key, const struct text *source) {
  struct text *out = &cli->out;
  if (cli->json) {
    json_open(out, NULL, '{');
    json_fields(out, "loop:t hash:t", key->loop, key->hash);
    json_open(out, "columns", '{');
    for (int i = 0; i < key->ncolumns; i++)
      json_bytes(out, key->columns[i].name, key->columns[i].value, key->columns[i].length);
    json_close(out, '}');
    json_fields(out, "names:t", key->names);
    if (cli->values[0])
      json_fields(out, "source:t", text_str(source));
    json_close(out, '}');
    return;
  }
  if (cli->values[0]) {
    text_add(out, text_str(source));
    return;
  }
  text_addf(out, "loop %s, hash %s\n", key->loop, key->hash);
  for (int i = 0; i < key->ncolumns; i++) {
    const struct store_column *c = &key->columns[i];
    if (c->length && memchr(c->value, '\n', c->length)) {
      text_addf(out, "  %s:\n", c->name);
      add_indented(out, c->value, c->length);
    } else
      text_addf(out, "  %-16s %.*s\n", c->name, (int)c->length, c->length ? c->value : "");
  }
  if (key->names && *key->names) {
    text_add(out, "  names, which do not count:\n");
    add_indented(out, key->names, strlen(key->names));
  }
}

static int run_show(struct cli *cli) {
  struct store *store = cli->store;
  struct store_key key;
  struct text hash = {0}, source = {0};
  int status = CLI_OK;
  store_list(store, cli->words[0], newest_hash, &hash); /* a loop's name first */
  int found = store_find_key(store, hash.length ? text_str(&hash) : cli->words[0], &key);
  if (found == 1) {
    store_get_source(store, key.hash, &source);
    show_key(cli, &key, &source);
    store_key_free(&key);
  } else
    status = cli_fail(CLI_FAILED,
                      found ? "several hashes begin with %s; give more of it"
                            : "there is no loop and no hash %s; op2jit cache ls lists them",
                      cli->words[0]);
  text_free(&hash);
  text_free(&source);
  return status;
}

/* ---- why ---------------------------------------------------------------------------------------*/

static void why_row(void *user, const struct store_event *e) {
  struct listing *l = user;
  struct text *out = &l->cli->out;
  char when[32];
  l->count++;
  if (l->cli->json) {
    json_object(out, NULL, "time:i loop:t event:t reason:t hash:t seconds:d host:t pid:n", e->time, e->loop,
                e->event, e->reason, e->hash, e->seconds, e->host, e->pid);
    return;
  }
  const size_t begin = out->length;
  text_addf(out, "%s %s %s", cli_time(e->time, when), e->loop, e->event);
  if (e->seconds > 0)
    text_addf(out, " in %.0f ms", e->seconds * 1e3);
  text_addf(out, ": %s\n", e->reason);
  cli_wrap(out, begin, 6);
}

static int run_why(struct cli *cli) {
  long long limit = 20;
  if (cli->values[0] && !cli_number(cli->values[0], INT_MAX, &limit))
    return cli_fail(CLI_USAGE, "--limit \"%s\": expected a whole number, 0 for all", cli->values[0]);
  struct listing l = {cli, 0};
  store_history(cli->store, cli->nwords ? cli->words[0] : NULL, (int)limit, why_row, &l);
  return l.count || !cli->nwords ? CLI_OK : cli_check_loop(cli, cli->words[0]);
}

/* ---- stats, path -------------------------------------------------------------------------------*/

static int run_stats(struct cli *cli) {
  struct store *store = cli->store;
  struct store_stats s;
  struct text *out = &cli->out;
  char a[32], b[32], c[32];
  store_stats(store, &s);
  if (cli->json) {
    json_object(
        out, NULL,
        "file:t binaries:i loops:i binary_bytes:i stored_bytes:i file_bytes:i free_bytes:i cap_bytes:i "
        "tunings:i verdicts:i facts:i events:i damaged:i leases:i layers:n "
        "compile_seconds:d file_system:t",
        store_path(store), s.binaries, s.loops, s.binary_bytes, s.stored_bytes, s.file_bytes, s.free_bytes,
        s.cap, s.tunings, s.verdicts, s.facts, s.events, s.damaged, s.leases, s.layers, s.seconds,
        s.file_system);
  } else {
    text_addf(out, "%s on %s\n", store_path(store), s.file_system);
    text_addf(out, "%lld binaries of %lld loops, %s, stored in %s; compiling them took %.2f s\n", s.binaries,
              s.loops, cli_bytes(s.binary_bytes, a), cli_bytes(s.stored_bytes, b), s.seconds);
    text_addf(out, "file %s of at most %s, %s of it free\n", cli_bytes(s.file_bytes, a), cli_bytes(s.cap, b),
              cli_bytes(s.free_bytes, c));
    text_addf(out,
              "%lld tunings, %lld verdicts, %lld facts, %lld events, %lld leases, %lld set aside as "
              "damaged, %d layers\n",
              s.tunings, s.verdicts, s.facts, s.events, s.leases, s.damaged, s.layers);
  }
  return CLI_OK;
}

static int run_path(struct cli *cli) {
  struct text path = {0};
  if (!cli_cache_path(cli, &path))
    return cli_fail(CLI_FAILED, "there is no cache: " CLI_NO_PLACE);
  if (cli->json)
    json_object(&cli->out, NULL, "path:t", text_str(&path));
  else
    text_addf(&cli->out, "%s\n", text_str(&path));
  text_free(&path);
  return CLI_OK;
}

const struct command cli_cache_look[] = {
    {.group = "cache",
     .name = "ls",
     .arguments = "[LOOP...]",
     .access = CLI_LOOK,
     .lists = true,
     .help = "List the binaries",
     .run = run_ls},
    {.group = "cache",
     .name = "show",
     .arguments = "LOOP|HASH",
     .access = CLI_LOOK,
     .help = "Show the key of a binary",
     .run = run_show,
     .options = {{"--source", NULL, "the generated source instead"}}},
    {.group = "cache",
     .name = "why",
     .arguments = "[LOOP]",
     .access = CLI_LOOK,
     .lists = true,
     .help = "Say why loops were compiled",
     .run = run_why,
     .options = {{"--limit", "N", "at most N lines (20; 0: all)"}}},
    {.group = "cache", .name = "stats", .access = CLI_LOOK, .help = "Count what is there", .run = run_stats},
    {.group = "cache", .name = "path", .help = "Print the file's name", .run = run_path},
    {0}};

/* ---- the file of kernels that this environment names ---- */
bool cli_cache_path(const struct cli *cli, struct text *path) {
  const char *given = env_value(&cli->env, ENV_CACHE);
  if (!*given)
    return store_default_path(path, cli->env.cache_home, NULL);
  text_add(path, given);
  return true;
}

int cli_open_store(struct cli *cli, enum cli_access wanted) {
  struct text path = {0};
  const char *given = env_value(&cli->env, ENV_CACHE);
  if (!cli_cache_path(cli, &path))
    return cli_fail(CLI_FAILED, "there is no cache: " CLI_NO_PLACE);
  struct store_options options = {.path = text_str(&path),
                                  .layers = env_value(&cli->env, ENV_CACHE_RO),
                                  .log = &cli->log,
                                  .read_only = wanted == CLI_LOOK ||
                                               (wanted == CLI_CHANGE && access(text_str(&path), F_OK) != 0),
                                  .own = !*given,
                                  .home = !*given && cli->env.cache_in_home ? cli->env.home : NULL,
                                  .sentence = signature_difference,
                                  .kind = signature_kind};
  int status = CLI_OK;
  if (strcmp(given, "off") == 0)
    status = cli_fail(CLI_FAILED, "OP2_CACHE=off: there is no cache to look at");
  else if (store_open(&cli->store, &options, &cli->err) != OP_OK)
    status = CLI_FAILED;
  else if (!store_path(cli->store)) {
    status = CLI_FAILED;
    if (!store_trouble(cli->store)[0])
      cli_fail(status, "there is no cache yet: %s is made by the first program that runs a loop",
               text_str(&path));
  }
  text_free(&path);
  return status;
}
