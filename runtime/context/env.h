/* Every environment variable of the library: declared here with default and help, read here once per
 * op_init, and nowhere else. OP2_NAME=VALUE in argv wins over the environment. */
#ifndef OP2JIT_ENV_H
#define OP2JIT_ENV_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

enum env_name {
#define ROW(name, unset, words, help, missing) ENV_##name,
#include "context/env_rows.h"
#undef ROW
  ENV_COUNT
};

enum env_source { ENV_FROM_DEFAULT, ENV_FROM_ENVIRONMENT, ENV_FROM_ARGV };

struct env_row {
  const char *name;  /* "OP2_BACKEND" */
  const char *unset; /* the value when nobody gives one; may be "" */
  const char *words; /* the allowed words, separated by "|"; "" for free text; "#MIN-MAX" for a number */
  const char *help;
  const char *missing; /* NULL, or what this build lacks: then any value but "off" and `unset` is an error */
};

struct env {
  char *values[ENV_COUNT]; /* NULL: unset */
  enum env_source sources[ENV_COUNT];
  char *cache_home;                     /* $XDG_CACHE_HOME or $HOME/.cache, NULL if there is neither */
  bool cache_in_home;                   /* it is $HOME/.cache */
  char *omp_threads;                    /* $OMP_NUM_THREADS, NULL if unset */
  bool no_colour;                       /* the user wants none on a terminal */
  bool dumb_terminal;                   /* $TERM knows no lines that are written over */
  bool omp_bound;                       /* $OMP_PLACES or $OMP_PROC_BIND asks for threads at certain places */
  char *home, *cuda_home, *virtual_env; /* $HOME, $CUDA_HOME or $CUDA_PATH, $VIRTUAL_ENV; or NULL */
  const char *
      launcher; /* whose mpirun started this process: "openmpi" (OMPI_COMM_WORLD_SIZE or PMIX_RANK is set), "mpich"
                           (PMI_SIZE), or NULL */
  int launched; /* how many processes that was, by OMPI_COMM_WORLD_SIZE or PMI_SIZE; 0: unknown */
};

/* Read everything. `warnings` gets one line per misspelt OP2_* variable. OP_ERR_ENV for a wrong value,
 * OP_ERR_NOT_BUILT for a variable of a part that is not there; all other variables are read then, too. To be freed
 * in any case. */
int env_read(struct env *env, int argc, char **argv, struct text *warnings, struct error *err);
void env_free(struct env *env);
/* Remove the library's variables from the process's environment: argv has those that count. */
void env_forget(void);
/* The value or its default; never NULL. */
const char *env_value(const struct env *env, enum env_name name);
bool env_given(const struct env *env, enum env_name name);
/* A "#" row's value, K, M or G counted in; `otherwise` if it is unset. */
long env_number(const struct env *env, enum env_name name, long otherwise);
const struct env_row *env_row(enum env_name name);
/* `word` is one of the words of the list, which this character separates. */
bool env_lists(const char *list, char separator, const char *word);
/* One line per variable: name, value, source, help. */
void env_describe(const struct env *env, struct text *out);

#endif
