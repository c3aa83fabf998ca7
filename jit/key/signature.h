/* The key of a piece of code: everything that it depends on, as named columns and one full SHA-256 over them. */
#ifndef OP2JIT_JIT_SIGNATURE_H
#define OP2JIT_JIT_SIGNATURE_H

#include "jit/kernel/kernel.h"
#include "kernels-cache/store.h"

/* The parts of a key besides the description. */
struct signature_inputs {
  const struct desc *desc;
  const char *shape;     /* of generated code: "scalar+list", a GPU variant's form */
  const char *generator; /* version of the generator */
  const char *library;   /* identity of this library */
  const char *compiler;  /* name and version on the first line, then identities of files */
  const char *cpu;       /* or compute capability */
  const char *features;
  const char *platform, *device,
      *driver;       /* of OpenCL, whose binaries belong to a driver; else NULL: no columns */
  const char *flags; /* whatever else the code depends on */
};

enum { SIGNATURE_COLUMNS = 17 }; /* at most; key.ncolumns are there */

struct signature {
  struct store_key key; /* points into this struct: do not copy it */
  struct store_column columns[SIGNATURE_COLUMNS];
  char *loop, *names;
  char hash[65];
};

/* OP_ERR_MEMORY. */
int signature_make(struct signature *s, const struct signature_inputs *in, struct error *err);
/* `from` is empty afterwards. */
void signature_move(struct signature *to, struct signature *from);
void signature_free(struct signature *s);
/* Equal in every column, not only in the hash. */
bool signature_equal(const struct signature *a, const struct signature *b);

/* The change from one key to another, for people: "constant gam 1.4 -> 1.41". A store_sentence. Appends;
 * nothing if they are equal. */
void signature_difference(const struct store_key *from, const struct store_key *to, struct text *out);
/* "the checking form of the kernel, for OP2_CHECK", or "". A store_kind. */
const char *signature_kind(const struct store_key *key);

#endif
