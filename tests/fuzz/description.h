/* What a description that was accepted must bear: it prints and reads back the same. */
#ifndef OP2JIT_TESTS_FUZZ_DESCRIPTION_H
#define OP2JIT_TESTS_FUZZ_DESCRIPTION_H

#include <stdlib.h>
#include <string.h>

#include "jit/front/describe.h"

static inline void print_and_read(const struct desc *d) {
  struct text first = {0}, second = {0};
  struct error err = {0};
  struct desc again;
  desc_print(d, &first);
  if (desc_parse(&again, text_str(&first), &err) != OP_OK)
    abort();
  desc_print(&again, &second);
  if (strcmp(text_str(&first), text_str(&second)) != 0)
    abort();
  desc_free(&again);
  text_free(&first);
  text_free(&second);
}

#endif
