/* Any bytes as a kernel text: read, checked against a loop, shown in an excerpt. */
#include <stdint.h>
#include <stdlib.h>

#include "jit/kernel/excerpt.h"
#include "jit/kernel/kernel.h"
#include "jit/prove.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct desc some_loop(void) {
  struct desc d = {.nargs = 3, .nmaps = 1, .ndats = 1, .nsets = 2};
  d.maps[0] = (struct desc_map){.arity = 2, .to = 1};
  for (int i = 0; i < d.nargs; i++)
    d.args[i] = (struct desc_arg){.form = i == 2 ? DESC_GBL : DESC_DAT,
                                  .type = TYPE_DOUBLE,
                                  .dim = 1,
                                  .map = i == 2 ? -1 : 0,
                                  .idx = i == 0   ? -2
                                         : i == 1 ? 1
                                                  : -1,
                                  .ref = -1,
                                  .info = -1,
                                  .present = true};
  return d;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct kernel k;
  struct error err = {0};
  struct desc d = some_loop();
  struct text shown = {0};
  struct source source = {.text = (const char *)data, .length = size, .line = 1, .one_line = size % 2};
  int at = size ? data[0] : 1;
  source_excerpt(&source, 1 + at / 16, at, &shown);
  if (kernel_parse(&k, (const char *)data, size, "k", &err) == OP_OK) {
    int code = kernel_check(&k, &d, &err);
    if (code != OP_OK && code != OP_ERR_KERNEL)
      abort();
    kernel_free(&k);
  } else if (err.code != OP_ERR_KERNEL)
    abort();
  text_free(&shown);
  error_free(&err);
  return 0;
}
