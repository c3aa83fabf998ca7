/* Kinds of devices that code is made for. Each is one row of functions and words, in one file: jit/processor.c,
 * runtime/backend/gpu/program.c. jit.c and job.c do what is the same for all of them: keys, the store,
 * failures, dumps, other ranks. */
#ifndef OP2JIT_JIT_TARGETS_H
#define OP2JIT_JIT_TARGETS_H

#include <string.h>

#include "jit/compiler.h"
#include "jit/emit/generate.h"
#include "jit/jit.h"

enum { GENERATED_FILES = 3 };
/* A generated text as compilers get it. */
static inline void generated_files(const struct generated *g, struct compile_file files[GENERATED_FILES]) {
  files[0] = (struct compile_file){g->main_file, text_str(&g->main), g->main.length};
  files[1] = (struct compile_file){g->kernel_file, text_str(&g->kernel), g->kernel.length};
  files[2] = (struct compile_file){g->prelude_file, g->prelude, strlen(g->prelude)};
}

/* The words in every key of this process. */
struct target_words {
  const char *compiler, *cpu, *features;
  const char *platform, *device, *driver; /* columns of their own in keys, or NULL */
  const char *mathematics; /* library of functions that the code may call, unless floating point is strict */
};

/* A binary that became code. */
struct loaded {
  void *code;         /* NULL: none */
  range_function run; /* processors only */
};

struct target {
  const char *compiler; /* for people, in place of the first word of its identity: "NVRTC" */
  const char *ending;   /* of a dumped binary, ".o" */
  const char *no_load;  /* the message if code that was compiled just now does not load; or NULL */
  bool debugs;          /* with a dump, code has debug information with its paths: it is for this run only */
  size_t tail;          /* bytes behind a binary that are kept with it */
  /* The state of a jit. */
  int (*open)(void **self, const struct jit_options *options, struct error *err);
  void (*close)(void *self);
  /* Found out without opening the compiler. The words stay as long as the state. */
  int (*identify)(void *self, struct target_words *out, struct error *err);
  /* Shapes are in the form of the row's generator. `stepped`: for a debugger, if the row `debugs`. */
  void (*print_shape)(const void *shape, struct text *out);
  int (*generate)(const struct desc *d, const void *shape, bool stepped, struct generated *out,
                  struct error *err);
  /* Before the first compile. */
  int (*open_compiler)(void *self, struct error *err);
  /* Asks the store for a violation that was found before: OP_ERR_VIOLATION. */
  int (*recall)(void *self, const struct desc *d, struct error *err);
  /* Proves that the kernel does what its arguments say; OP_ERR_VIOLATION if not. `then`: the request that the
   * compiler will get. *kept may have some of its work, until `forget`. */
  int (*prove)(void *self, const struct desc *d, const void *shape, const struct generated *files,
               const struct compile_request *then, struct facts *facts, struct prove_result *kept,
               struct error *err);
  void (*forget)(void *self, struct prove_result *kept); /* NULL: nothing is kept */
  /* As struct compiler's; may run on another thread. */
  void (*compile)(void *self, const struct compile_request *request, struct compile_result *result);
  void (*release)(void *self, struct compile_result *result);
  int (*load)(void *self, const struct desc *d, const void *binary, size_t size, struct loaded *out,
              struct error *err);
  void (*unload)(void *self, void *code);
  /* True: the code did not load because the device failed; the binary may be right. NULL: never. */
  bool (*is_broken)(const void *self);
};

/* This machine's processors, by clang. */
extern const struct target target_processor;

#endif
