/* The op2jit command: what its groups of subcommands share. All but `check` open the store and nothing else: no compiler, no MPI. */
#ifndef OP2JIT_CLI_H
#define OP2JIT_CLI_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "context/env.h"
#include "kernels-cache/store.h"

/* Exit statuses. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

struct cli_option {
  const char *name;     /* "--cap" */
  const char *argument; /* "SIZE", or NULL for a flag */
  const char *help;
};

struct cli {
  const struct command *command;
  struct env env;
  struct log log;
  bool json;
  char **words; /* what is left of the command line: no options, no OP2_NAME=VALUE */
  int nwords;
  const char *values[4]; /* by number of the command's options; NULL: not given, "" for a flag */
  struct text out;       /* written to stdout when the command ends */
};

struct command {
  const char *group, *name; /* group "" for commands of one word */
  const char *arguments;    /* "[LOOP...]" */
  int least, most;          /* words; most -1: any number */
  const char *help;         /* one line */
  const char *more;         /* the rest of --help, or "" */
  int (*run)(struct cli *cli);
  struct cli_option options[3]; /* beside --json and --help */
  bool raw;                     /* all words behind its name are the argument's own */
};

/* One table per file. */
extern const struct command cli_cache_look[], cli_cache_care[], cli_tune[], cli_check[], cli_mesh[],
    cli_other[];
extern const int cli_cache_look_count, cli_cache_care_count, cli_tune_count, cli_check_count, cli_mesh_count,
    cli_other_count;
/* All of them, in the order of the help. NULL behind the last. */
const struct command *cli_command(int number);

/* The store that OP2_CACHE names: to look at, to change (only if it is there), or to make. NULL after a message. */
enum cli_access { CLI_LOOK, CLI_CHANGE, CLI_MAKE };
struct store *cli_open_store(struct cli *cli, enum cli_access wanted);
/* plugin_find, from where this command is: the plugin of an installed tree lies beside the library. */
struct plugin;
int cli_find_plugin(struct cli *cli, struct plugin *plugin, struct error *err);
/* The folder where an installed tree has its plugins, from where this command is. */
bool cli_plugins(struct text *folder);
/* A whole number from 0 to `most`, digits and nothing else; false for any other text. */
bool cli_number(const char *text, long long most, long long *out);
/* A message on stderr; returns the status. */
int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Names of loops that the cache has, each once, with a NUL behind it. */
void cli_note_name(struct text *names, const char *name);
/* "WHAT a loop named SAID", with the nearest of the names, or with the command that lists them. CLI_FAILED. */
int cli_no_loop(const struct text *names, const char *what, const char *said, const char *lister);
/* CLI_OK if the store has binaries or events of that loop, else cli_no_loop. */
int cli_check_loop(struct store *store, const char *said);

/* "12.3 KiB" and "2026-01-31 12:00:00"; the buffers are the caller's. */
const char *cli_bytes(long long bytes, char out[32]);
const char *cli_time(long long seconds, char out[32]);

/* ---- JSON: commas and quotes are taken care of. `key` NULL inside a list. */
void json_open(struct text *out, const char *key, char bracket);
void json_close(struct text *out, char bracket);
void json_text(struct text *out, const char *key, const char *value);
void json_bytes(struct text *out, const char *key, const char *value, size_t length);
void json_number(struct text *out, const char *key, long long value);
void json_real(struct text *out, const char *key, double value);
void json_bool(struct text *out, const char *key, bool value);

#endif
