/* Types in memory, and in names of helpers. */
#include "jit/generate/gpu/write.h"

const char *gpu_memory_type(const struct gpu_writer *w, enum type_code type) {
  return w->language->copies && type == TYPE_BOOL ? "uchar" : word_type(&w->g, type);
}

const char *gpu_of_type(const struct gpu_writer *w, enum type_code type) {
  static const char *const endings[TYPE_COUNT] = {
      [TYPE_DOUBLE] = "_double", [TYPE_FLOAT] = "_float",   [TYPE_INT] = "_int",
      [TYPE_UINT] = "_uint",     [TYPE_LONGLONG] = "_long", [TYPE_ULONGLONG] = "_ulong",
      [TYPE_BOOL] = "_bool",     [TYPE_CHAR] = "_char",     [TYPE_SHORT] = "_short"};
  return w->language->copies && !type_is_struct(type) && endings[type] ? endings[type] : "";
}

/* The same as the first argument of a macro. */
const char *gpu_named_type(const struct gpu_writer *w, enum type_code type) {
  static const char *const firsts[TYPE_COUNT] = {
      [TYPE_DOUBLE] = "double, ", [TYPE_FLOAT] = "float, ",   [TYPE_INT] = "int, ",
      [TYPE_UINT] = "uint, ",     [TYPE_LONGLONG] = "long, ", [TYPE_ULONGLONG] = "ulong, ",
      [TYPE_BOOL] = "bool, ",     [TYPE_CHAR] = "char, ",     [TYPE_SHORT] = "short, "};
  return w->language->copies && !type_is_struct(type) && firsts[type] ? firsts[type] : "";
}

void gpu_put_stored(struct gpu_writer *w, enum type_code type, int dim, int access, const char *memory,
                    const char *value) {
  if (access == OP_INC && w->language->copies && type == TYPE_BOOL)
    put_components(&w->g, dim, "%s = %s || %s;", memory, memory, value);
  else
    put_components(&w->g, dim, "%s %s %s;", memory, access == OP_INC ? "+=" : "=", value);
}
