/* The compiler's messages. They are kept as plain lines without any path, so that the cache may keep them for
 * whoever has the same kernel elsewhere, and shown to the user as places in the user's own file. */
#ifndef OP2JIT_JIT_MESSAGES_H
#define OP2JIT_JIT_MESSAGES_H

#include "jit/compiler.h"
#include "jit/emit/generate.h"
#include "jit/kernel/kernel.h"

/* A line per message: "error kernel 12 8 use of undeclared identifier 'x'". */
void messages_keep(const struct compile_message *messages, int count, const struct generated *files,
                   struct text *out);

/* The context of the lines. */
struct told {
  const struct desc *desc;
  const struct generated *files;
  const char *compiler; /* "clang 19.1.7" */
  const char *source;   /* where the generated text was written; NULL: nowhere */
};

/* The first error in one line, at its place in the user's file, "mesh.c:12:8: use of undeclared identifier 'x'",
 * appended. */
void messages_first_error(const char *kept, const struct desc *desc, struct text *out);
/* Put the errors among the lines into `err` as OP_ERR_COMPILE. */
int messages_error(const char *kept, const struct told *t, struct error *err);
/* The warnings, with places and excerpts, appended; nothing if there are none. */
void messages_warnings(const char *kept, const struct told *t, struct text *out);
/* Appends the compiler's reason why the loop over lanes has no vector instructions; nothing if it has. */
void messages_scalar_reason(const char *kept, struct text *out);
/* One line per remark of the vectorisers: "mesh.c:12:3: loop not vectorized: ...". */
void messages_remarks(const char *kept, const struct told *t, struct text *out);
/* The number of values that the code keeps in memory for want of registers. */
int messages_spills(const char *kept);

#endif
