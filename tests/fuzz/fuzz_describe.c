/* Any text as a loop's description: what is accepted prints and reads back the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "description.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
