/* Any text as a loop's description: what is accepted prints and reads back the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jit/describe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_and_read(const struct desc *d) {
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  struct error err = {0};
  struct desc d;
  if (!text)
    return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  if (desc_parse(&d, text, &err) == OP_OK) {
    print_and_read(&d);
    desc_free(&d);
  }
  error_free(&err);
  free(text);
  return 0;
}
