/* From a description to a function that runs, for the runtime. Asks memory, then the store, then the compiler.
 * The compiler plugin is opened only at the first miss. One thread at a time. */
#ifndef OP2JIT_JIT_JIT_H
#define OP2JIT_JIT_JIT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"
#include "jit/emit/choose.h"
#include "jit/emit/generate.h"
#include "jit/facts.h"
#include "jit/kernel/kernel.h"
#include "jit/key/signature.h"
#include "jit/plugin.h"
#include "jit/prover.h"

struct jit;
struct store;
struct target;
struct texts_unit;
struct read_request;

enum jit_mode {
  JIT_ON,
  JIT_LOAD, /* never compile: a miss is OP_ERR_CACHE_MISS */
  JIT_OFF   /* no code at all: OP_ERR_BACKEND */
};

struct jit_options {
  enum jit_mode mode;
  struct store *store; /* NULL: nothing is kept; must outlive the jit */
  const char *plugins; /* folder to look for the plugin in first; NULL or "": none */
  const char
      *dump; /* folder for sources and binaries; NULL or "": none. Code is then made with debug information */
  const struct log *log;       /* categories "jit" and "perf"; NULL: silent. Must outlive the jit */
  bool perf_map;               /* tell perf the names of functions */
  const struct target *target; /* a row of jit/targets.h; NULL: this machine's processors */
  void *device;                /* the target's; must outlive the jit */
  const char *cpu, *features;  /* NULL: this machine's */
  int *
      behind; /* the threads that compile behind the program are added to it; NULL: none. Must outlive the jit */
  const struct jit_share *share; /* with others; NULL: alone. Must outlive the jit */
};

/* OP_ERR_MEMORY. Opens nothing. Strings are copied. */
int jit_open(struct jit **out, const struct jit_options *options, struct error *err);
/* Code is gone after this. NULL is allowed. */
void jit_close(struct jit *jit);

enum jit_from { JIT_FROM_MEMORY, JIT_FROM_CACHE, JIT_FROM_COMPILER, JIT_FROM_LEADER };

/* Strings and code belong to the jit and stay until jit_close. */
struct jit_code {
  range_function run; /* processors only */
  void *code;         /* the target's */
  enum jit_from from;
  double seconds;         /* that this call took */
  double compile_seconds; /* that its compile took, in this call or an earlier run; 0: not known */
  double behind_seconds;  /* of a processor, that its compile took behind the program before this call */
  double prove_start, prove_seconds; /* when the kernel was proved, in this call; 0: it was not */
  size_t size;                       /* bytes of the binary */
  const char *hash;                  /* of the key, hexadecimal */
  int spills;                        /* values that are kept in memory for want of registers */
  const char *remarks;               /* remarks of the vectorisers, a line each; "" if there are none */
  struct facts facts; /* of the kernel, where this call or an earlier one found them on the way to the code */
  const char *scalar; /* the compiler's reason why a strip has no vector instructions; else "" */
};

/* The code of a loop in one shape, which is the target's: of processors a struct shape. Errors: OP_ERR_COMPILE
 * (again at every call), OP_ERR_CACHE_MISS, OP_ERR_NOT_BUILT and OP_ERR_BACKEND (no plugin), OP_ERR_MEMORY,
 * OP_ERR_KERNEL. Messages name kernel, file and line; the caller puts the loop in front. */
int jit_code(struct jit *jit, const struct desc *d, const void *shape, struct jit_code *out,
             struct error *err);
/* The same without waiting for the compiler. False: a compile is under way on a thread of lowest priority, of
 * this code or of other code; ask again later. True: jit_code has nothing left to compile, or only it can say
 * why not. Several ranks call it together and compile nothing: false where their leader does not have the code. */
bool jit_prepare(struct jit *jit, const struct desc *d, const void *shape);
/* Wait for a compile that is under way behind the program. */
void jit_finish(struct jit *jit);
/* True: a compile is under way behind the program. */
bool jit_is_busy(const struct jit *jit);
/* The threads of a compile that is done are gone afterwards. */
void jit_collect(struct jit *jit);
/* The names of the shapes, `shape` or others, that this process's store has the loop's code in. Compiles and loads
 * nothing. */
void jit_shapes(struct jit *jit, const struct desc *d, const void *shape,
                void (*visit)(void *user, const char *name, size_t length), void *user);

struct jit_counters {
  long long compiles, cache_hits, memory_hits, failures;
  double seconds; /* spent in the compiler */
};
const struct jit_counters *jit_counters(const struct jit *jit);

/* ---- of processors only ---- */

struct jit_wish {
  enum reading
      /* as which language another compiler reads the text: OP_ERR_KERNEL if that compiler would refuse it, or
       * read it differently */
      reads;
  bool
      /* it will not be compiled: OP_ERR_COMPILE of a text that does not compile. With several ranks the leader
       * is asked */
      alone;
  bool recalled; /* the store alone is asked */
};
/* Facts about a text with its arguments; OP_ERR_VIOLATION if it breaks a promise. They come from the store,
 * else from clang's tree, unless JIT_LOAD forbids that. *asked false: there is nobody to ask. */
int jit_facts(struct jit *jit, const struct desc *d, const struct jit_wish *wish, struct facts *out,
              bool *asked, struct error *err);
/* The worst verdict of the proof of each argument of a loop, by its number, into `verdicts` (enum prove_verdict of
 * jit/prover.h). `understood` false: the text does not compile, and compiling it will say why.
 * OP_ERR_NOT_BUILT, OP_ERR_BACKEND. */
int jit_verdicts(struct jit *jit, const struct desc *d, enum prove_verdict verdicts[], bool *understood,
                 struct error *err);

/* The texts of the kernels of a C++ program's unit (jit/texts.h), which texts_free releases. With others: all ask
 * together, and the leader reads. What is wrong is said in out->why; OP_ERR_MEMORY or an error of ranks. */
int jit_read(struct jit *jit, const struct read_request *wish, struct texts_unit *out, struct error *err);

/* Bytes of the widest vectors that code is made for. */
int jit_vector_bytes(struct jit *jit);

/* OP2_DUMP: what was generated and compiled, as files that people and debuggers read. */

/* Make "FOLDER/KERNEL-SHAPE-HASH/", with the sources and the key in it; its absolute path goes to `where`.
 * OP_ERR_FILE. */
int dump_sources(const char *folder, const struct signature *key, const char *shape,
                 const struct generated *files, struct text *where, struct error *err);
/* One more file there. */
int dump_file(const char *where, const char *name, const void *bytes, size_t length, struct error *err);

#endif
