/* A note on the plugin, which can be read without opening it: its compiler's name and version, and on further lines the shared
 * libraries that it takes clang from (jit/key/elf_note.h reads it; it is part of every loop's key). */
#include <stdint.h>

#include "jit/clang/words.h"

static const struct {
  uint32_t owner_size, words_size, type;
  char owner[8];
  char words[(sizeof OP2JIT_CLANG_WORDS + 3) / 4 * 4];
} note __attribute__((section(".note.op2jit"), aligned(4), used)) = {7, sizeof note.words, 1, "op2jit",
                                                                     OP2JIT_CLANG_WORDS};
