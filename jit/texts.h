/* The texts of the kernels of one unit of a C++ program, or why there are none. The store and programs keep
 * them as one text. */
#ifndef OP2JIT_JIT_TEXTS_H
#define OP2JIT_JIT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "base/text.h"
#include "jit/plugin.h"

/* The reader of the clang plugin. It finds the texts of kernels that are functions of a C++
 * program in the program's sources: it parses one unit and gives for each kernel a reduced text, with all that
 * the kernel needs and nothing else, or the reason why there is none. Plain C types only: the plugin is C++. */

#ifdef __cplusplus
extern "C" {
#endif

struct read_request {
  const char
      *unit; /* as the program's compiler was told; "@HEX": the source of the procedure at that address of the
                        file `program`, which may be in another language, is asked for, and nothing of its text */
  const char *flags; /* -I, -D, -U, -std, -include and the like, separated by blanks; "": not said */
  /* The file that the kernel runs from; its debug information names the unit's folder, and may have the flags.
   * "": the unit is a file by itself. */
  const char *program;
  const char *headers; /* folder of op_seq.h */
  const char *prelude; /* what every reduced text finds before it, in place of the standard headers */
  long standard;       /* __cplusplus of the program's compiler */
  int is_gcc;          /* that compiler was g++, which does not define __clang__ */
  /* A source that is younger than the program is not its own. Seconds since 1970; 0: not known. */
  long long made;     /* of the file `program` */
  long long compiled; /* when its compiler read this unit */
  const char *when;   /* the same as the object file has it, "Nov 24 2026 02:41:25"; "" */
};

/* A variable that a text names and does not define. */
struct read_variable {
  const char *name;
  const char *type; /* as op_decl_dat spells it */
  int dim;          /* values; an array has brackets also with one */
  int is_array;
  int declared; /* op_decl_const in this unit: 1 of this very variable, -1 of another of the name, 0 none */
  int external; /* other units may mean it too */
};

/* Lines of a text from `line` on, up to the next origin's, are those of a file of the program from `file_line` on. */
struct read_origin {
  int line; /* from 1 */
  const char *file;
  int file_line;
};

struct read_kernel {
  const char *function; /* "flux", "inner::flux" */
  const char *spelled;  /* as op_par_loop has it: "(axpy<double, 1>)" */
  const char *file;     /* of the op_par_loop */
  int line, last_line;
  const char *text;  /* NULL or "": none */
  const char *why;   /* ... because of that; else "" */
  const char *doubt; /* something unknown that it depends on, so that it may not be the program's text; "" */
  const struct read_variable *variables;
  int nvariables;
  const struct read_origin *origins;
  int norigins;
};

struct read_result {
  int status;       /* 0: parsed; 1: not, see why; 2: the reader failed */
  const char *why;  /* "" */
  const char *unit; /* the file; "": nothing names it */
  const char *from; /* where the flags came from, for people */
  struct read_kernel *kernels;
  int nkernels;
  const char *const *files; /* of the project, that the result depends on, there or not */
  int nfiles;
  void *owner;
};

struct reader {
  int abi; /* READER_ABI */
  void (*read)(const struct read_request *request, struct read_result *result);
  void (*release)(struct read_result *result);
};
#define READER_ABI 5

#ifdef __cplusplus
}
#endif

struct arrays_piece;
struct texts_file {
  const char *path, *hash; /* of its bytes, hexadecimal; TEXTS_ABSENT: it is not there */
};
#define TEXTS_ABSENT "absent"

struct texts_unit {
  const char *unit; /* the file; "": it was not found */
  const char *why;  /* "", or why there are no kernels */
  int code; /* the error that kept jit_read from looking: OP_ERR_CACHE_MISS with OP2_JIT=load; not in its text */
  const char *from; /* where the flags came from */
  struct read_kernel *kernels;
  int nkernels;
  struct texts_file *files; /* that this depends on */
  int nfiles;
  struct arrays_piece *memory; /* of all of it */
};

void texts_free(struct texts_unit *u);
/* A unit without kernels, because of that; false: without memory. */
bool texts_refuse(const char *why, struct texts_unit *out);
/* Writes the texts as one; out->failed without memory. */
void texts_print(const struct texts_unit *u, struct text *out);
/* Reads what texts_print wrote; false for any other text, or without memory: then `out` is empty. */
bool texts_parse(const char *text, size_t length, struct texts_unit *out);
/* The next of several units one after the other, "length:texts"; the linker may put zeros between. *at: behind it.
 * False: there is none. A unit that cannot be read is passed over. */
bool texts_next(const char **at, const char *end, struct texts_unit *out);

/* The texts of a unit's kernels: from the store if its files are what they were, else from the compiler plugin. */

struct store;

/* `wish` says which unit, and what is known of it; its prelude and times are not looked at. */

/* Takes texts from the store, if their files are what they were; false: there are none. */
bool texts_recall(const struct plugin *plugin, struct store *store, const struct read_request *wish,
                  struct texts_unit *out);
/* Asks the plugin, which is open, and stores the result. Fails only without memory: other errors are in
 * out->why. */
int texts_read(const struct plugin *plugin, struct store *store, const struct read_request *wish,
               struct texts_unit *out, struct error *err);

#endif
