/* The op2jit command: what its groups of subcommands share. All but `check` open the store and nothing else: no
 * compiler, no MPI. */
#ifndef OP2JIT_CLI_H
#define OP2JIT_CLI_H

#include <stdbool.h>

#include "base/error.h"
#include "base/json.h"
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

/* The store that OP2_CACHE names: to look at, to change (only if it is there), or to make. */
enum cli_access { CLI_NO_STORE, CLI_LOOK, CLI_CHANGE, CLI_MAKE };

struct cli {
  const struct command *command;
  struct store *store; /* of commands with access to it */
  struct env env;
  struct log log;
  bool json;
  char **words; /* what is left of the command line: no options, no OP2_NAME=VALUE */
  int nwords;
  const char *values[4]; /* by number of the command's options; NULL: not given, "" for a flag */
  struct text out;       /* written to stdout when the command ends */
  struct error err;      /* its message is written to stderr then */
};

struct command {
  const char *group, *name; /* group NULL: a command of one word */
  const char *arguments;    /* "FILE [LOOP...]", which says how many words there may be; NULL: none */
  enum cli_access access;
  const char *help; /* one line, of the list of commands */
  bool lists;       /* its JSON is a list, of which it prints the items */
  int (*run)(struct cli *cli);
  struct cli_option options[4]; /* beside --json and --help */
  bool raw;                     /* all words behind its name are the argument's own */
};

/* The words of the manual page about a command, which help.py makes of docs/op2jit.1; a row without a name ends them. */
struct cli_help {
  const char *group, *name, *words;
};
extern const struct cli_help cli_help[];

/* One table per file; a row without a name ends it. */
extern const struct command cli_cache_look[], cli_cache_care[], cli_tune[], cli_check[], cli_derive[],
    cli_history[], cli_mesh[], cli_checkpoint[], cli_other[], cli_replay[], cli_report[], cli_texts[],
    cli_new[];

/* Commands about one kernel with its arguments, check.c: reads the first word, a file, and the words behind it, and hands the
 * loop to `run`. Returns the status. Their first two options are --kernel and --const. */
enum { CLI_KERNEL, CLI_CONST };
struct desc;
int cli_with_kernel(struct cli *cli,
                    int (*run)(struct cli *cli, struct desc *d, int *status, struct error *err));

int cli_run_texts(struct cli *cli); /* texts.c */

/* The file of kernels, whether it is there yet or not; false: no place is known. */
bool cli_cache_path(const struct cli *cli, struct text *path);
#define CLI_NO_PLACE "neither XDG_CACHE_HOME nor HOME is an absolute path; name the file with OP2_CACHE"
/* Opens cli->store. CLI_FAILED after a message: there is no file. */
int cli_open_store(struct cli *cli, enum cli_access wanted);
/* A whole number from 0 to `most`, digits and nothing else; false for any other text. */
bool cli_number(const char *text, long long most, long long *out);
/* CLI_FAILED after an error. */
static inline int cli_status(int code) {
  return code ? CLI_FAILED : CLI_OK;
}
/* Makes a file of these words, or replaces it when they are all written. */
int cli_write(struct cli *cli, const char *path, const struct text *words);
/* A message on stderr; returns the status. */
int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True if both were measured of one loop, on one machine and mesh. */
bool cli_same_place(const struct store_tuning *a, const struct store_tuning *b);
/* Names of loops that the cache has, each once, with a NUL behind it. */
void cli_note_name(struct text *names, const char *name);
/* CLI_OK if it is one of the names, or NULL; else CLI_FAILED after "WHAT a loop named SAID", with the nearest of the names, or with
 * the command that lists them. Frees the names. */
int cli_check_name(struct text *names, const char *what, const char *said, const char *lister);
/* CLI_OK if the store has binaries or events of that loop. */
int cli_check_loop(const struct cli *cli, const char *said);

/* "12.3 KiB" and "2026-01-31 12:00:00"; the buffers are the caller's. */
const char *cli_bytes(long long bytes, char out[32]);
const char *cli_time(long long seconds, char out[32]);
/* Breaks the lines of `out` from byte `begin` on at spaces, so that they fit 100 columns; they go on behind `indent`. */
enum { CLI_COLUMNS = 100 };
void cli_wrap(struct text *out, size_t begin, int indent);

#endif
