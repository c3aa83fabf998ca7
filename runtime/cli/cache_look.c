/* op2jit cache: the subcommands that only look. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

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
    json_open(out, NULL, '{');
    json_text(out, "loop", row->loop);
    json_text(out, "hash", row->hash);
    json_text(out, "shape", row->shape);
    json_text(out, "file", row->origin);
    json_number(out, "bytes", row->size);
    json_number(out, "stored_bytes", row->stored);
    json_real(out, "compile_seconds", row->seconds);
    json_number(out, "made", row->made);
    json_number(out, "used", row->used);
    json_close(out, '}');
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

static void count_event(void *user, const struct store_event *e) {
  (void)e;
  ++*(int *)user;
}

static void count_row(void *user, const struct store_row *row) {
  (void)row;
  ++*(int *)user;
}

int cli_check_loop(struct store *store, const char *said) {
  int known = 0;
  struct text names = {0};
  store_list(store, said, count_row, &known);
  store_history(store, said, 1, count_event, &known);
  if (known)
    return CLI_OK;
  store_list(store, NULL, note_row, &names);
  store_history(store, NULL, 0, note_event, &names);
  const int status = cli_no_loop(&names, "nothing is known of", said, "op2jit cache ls");
  text_free(&names);
  return status;
}

/* Names without a binary; those whose binaries are gone are known all the same. */
static int check_names(const struct cli *cli, struct store *store) {
  int status = CLI_OK;
  for (int i = 0; i < cli->nwords; i++) {
    int count = 0;
    store_list(store, cli->words[i], count_row, &count);
    if (count)
      continue;
    status = cli_check_loop(store, cli->words[i]);
    if (status == CLI_OK)
      status = cli_fail(CLI_FAILED,
                        "there is no binary of loop %s any more; op2jit cache why %s says what became of it",
                        cli->words[i], cli->words[i]);
  }
  return status;
}

static int run_ls(struct cli *cli) {
  struct store *store = cli_open_store(cli, CLI_LOOK);
  if (!store)
    return CLI_FAILED;
  struct listing l = {cli, 0};
  if (cli->json)
    json_open(&cli->out, NULL, '[');
  store_list(store, NULL, list_row, &l);
  if (cli->json)
    json_close(&cli->out, ']');
  else if (l.count == 0 && cli->nwords == 0)
    text_add(&cli->out, "no binaries\n");
  const int status = check_names(cli, store);
  store_close(store);
  return status;
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
    json_text(out, "loop", key->loop);
    json_text(out, "hash", key->hash);
    json_open(out, "columns", '{');
    for (int i = 0; i < key->ncolumns; i++)
      json_bytes(out, key->columns[i].name, key->columns[i].value, key->columns[i].length);
    json_close(out, '}');
    json_text(out, "names", key->names);
    if (cli->values[0])
      json_text(out, "source", text_str(source));
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
  struct store *store = cli_open_store(cli, CLI_LOOK);
  if (!store)
    return CLI_FAILED;
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
  store_close(store);
  return status;
}

/* ---- why ---------------------------------------------------------------------------------------*/

static void why_row(void *user, const struct store_event *e) {
  struct listing *l = user;
  struct text *out = &l->cli->out;
  char when[32];
  l->count++;
  if (l->cli->json) {
    json_open(out, NULL, '{');
    json_number(out, "time", e->time);
    json_text(out, "loop", e->loop);
    json_text(out, "event", e->event);
    json_text(out, "reason", e->reason);
    json_text(out, "hash", e->hash);
    json_real(out, "seconds", e->seconds);
    json_text(out, "host", e->host);
    json_number(out, "pid", e->pid);
    json_close(out, '}');
    return;
  }
  text_addf(out, "%s %s %s", cli_time(e->time, when), e->loop, e->event);
  if (e->seconds > 0)
    text_addf(out, " in %.0f ms", e->seconds * 1e3);
  text_addf(out, ": %s\n", e->reason);
}

static int run_why(struct cli *cli) {
  long long limit = 20;
  if (cli->values[0] && !cli_number(cli->values[0], INT_MAX, &limit))
    return cli_fail(CLI_USAGE, "--limit \"%s\": expected a whole number, 0 for all", cli->values[0]);
  struct store *store = cli_open_store(cli, CLI_LOOK);
  if (!store)
    return CLI_FAILED;
  struct listing l = {cli, 0};
  if (cli->json)
    json_open(&cli->out, NULL, '[');
  store_history(store, cli->nwords ? cli->words[0] : NULL, (int)limit, why_row, &l);
  if (cli->json)
    json_close(&cli->out, ']');
  const int status = l.count || !cli->nwords ? CLI_OK : cli_check_loop(store, cli->words[0]);
  store_close(store);
  return status;
}

/* ---- stats, path -------------------------------------------------------------------------------*/

static int run_stats(struct cli *cli) {
  struct store *store = cli_open_store(cli, CLI_LOOK);
  if (!store)
    return CLI_FAILED;
  struct store_stats s;
  struct text *out = &cli->out;
  char a[32], b[32], c[32];
  store_stats(store, &s);
  if (cli->json) {
    const struct {
      const char *name;
      long long value;
    } numbers[] = {{"binaries", s.binaries},
                   {"loops", s.loops},
                   {"binary_bytes", s.binary_bytes},
                   {"stored_bytes", s.stored_bytes},
                   {"file_bytes", s.file_bytes},
                   {"free_bytes", s.free_bytes},
                   {"cap_bytes", s.cap},
                   {"failures", s.failures},
                   {"tunings", s.tunings},
                   {"verdicts", s.verdicts},
                   {"facts", s.facts},
                   {"events", s.events},
                   {"damaged", s.damaged},
                   {"leases", s.leases},
                   {"layers", s.layers}};
    json_open(out, NULL, '{');
    json_text(out, "file", store_path(store));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
      json_number(out, numbers[i].name, numbers[i].value);
    json_real(out, "compile_seconds", s.seconds);
    json_text(out, "file_system", s.file_system);
    json_close(out, '}');
  } else {
    text_addf(out, "%s on %s\n", store_path(store), s.file_system);
    text_addf(out, "%lld binaries of %lld loops, %s, stored in %s; compiling them took %.2f s\n", s.binaries,
              s.loops, cli_bytes(s.binary_bytes, a), cli_bytes(s.stored_bytes, b), s.seconds);
    text_addf(out, "file %s of at most %s, %s of it free\n", cli_bytes(s.file_bytes, a), cli_bytes(s.cap, b),
              cli_bytes(s.free_bytes, c));
    text_addf(
        out,
        "%lld failures, %lld tunings, %lld verdicts, %lld facts, %lld events, %lld leases, %lld set aside as "
        "damaged, %d layers\n",
        s.failures, s.tunings, s.verdicts, s.facts, s.events, s.leases, s.damaged, s.layers);
  }
  store_close(store);
  return CLI_OK;
}

static int run_path(struct cli *cli) {
  struct text path = {0};
  const char *given = env_value(&cli->env, ENV_CACHE);
  if (*given)
    text_add(&path, given);
  else if (!store_default_path(&path, cli->env.cache_home, NULL))
    return cli_fail(CLI_FAILED, "there is no cache: neither XDG_CACHE_HOME nor HOME is an absolute path; "
                                "name the file with OP2_CACHE");
  if (cli->json) {
    json_open(&cli->out, NULL, '{');
    json_text(&cli->out, "path", text_str(&path));
    json_close(&cli->out, '}');
  } else
    text_addf(&cli->out, "%s\n", text_str(&path));
  text_free(&path);
  return CLI_OK;
}

const struct command cli_cache_look[] = {
    {"cache",
     "ls",
     "[LOOP...]",
     0,
     -1,
     "List the binaries",
     "All of them, or those of the named loops, newest first, and those of OP2_CACHE_RO behind the others. "
     "The "
     "shape tells the kernels of one loop apart, and the hash those of one shape.",
     run_ls,
     {{0}},
     false},
    {"cache",
     "show",
     "LOOP|HASH",
     1,
     1,
     "Show the key of a binary",
     "The newest binary of a loop, or the one whose hash begins with HASH: all columns of its key.",
     run_show,
     {{"--source", NULL, "the generated source instead"}},
     false},
    {"cache",
     "why",
     "[LOOP]",
     0,
     1,
     "Say why loops were compiled",
     "What was compiled, evicted or set aside, newest first, with the part of the key that had changed.",
     run_why,
     {{"--limit", "N", "at most N lines (20; 0: all)"}},
     false},
    {"cache", "stats", "", 0, 0, "Count what is there", "", run_stats, {{0}}, false},
    {"cache", "path", "", 0, 0, "Print the file's name", "Whether it exists or not.", run_path, {{0}}, false},
};
const int cli_cache_look_count = (int)(sizeof cli_cache_look / sizeof *cli_cache_look);
