/* Types in memory, and in names of helpers. */
#include "jit/emit/gpu/write.h"

const char *gpu_memory_type(const struct gpu_writer *w, enum type_code type) {
  return w->language->copies && type == TYPE_BOOL ? "uchar" : word_type(&w->g, type);
}

/* All types but structs. */
#define WORDS(before, behind)                                                                                \
  {                                                                                                          \
    [TYPE_DOUBLE] = before "double" behind, [TYPE_FLOAT] = before "float" behind,                            \
    [TYPE_INT] = before "int" behind, [TYPE_UINT] = before "uint" behind,                                    \
    [TYPE_LONGLONG] = before "long" behind, [TYPE_ULONGLONG] = before "ulong" behind,                        \
    [TYPE_BOOL] = before "bool" behind, [TYPE_CHAR] = before "char" behind,                                  \
    [TYPE_SHORT] = before "short" behind                                                                     \
  }

static const char *word_of(const struct gpu_writer *w, enum type_code type,
                           const char *const words[TYPE_COUNT]) {
  return w->language->copies && !type_is_struct(type) && words[type] ? words[type] : "";
}

const char *gpu_of_type(const struct gpu_writer *w, enum type_code type) {
  static const char *const endings[TYPE_COUNT] = WORDS("_", "");
  return word_of(w, type, endings);
}

/* The same as the first argument of a macro. */
const char *gpu_named_type(const struct gpu_writer *w, enum type_code type) {
  static const char *const firsts[TYPE_COUNT] = WORDS("", ", ");
  return word_of(w, type, firsts);
}

void gpu_put_stored(struct gpu_writer *w, enum type_code type, int dim, int access, const char *memory,
                    const char *value) {
  if (access == OP_INC && w->language->copies && type == TYPE_BOOL)
    put_components(&w->g, dim, "%s = %s || %s;", memory, memory, value);
  else
    put_components(&w->g, dim, "%s %s %s;", memory, access == OP_INC ? "+=" : "=", value);
}
