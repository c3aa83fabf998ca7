/* Any bytes as a capture: read, made smaller, written and read again, told as a program; never more than what is there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_again(const struct capture *c) {
  struct text once = {0}, twice = {0};
  struct capture again = {0};
  struct error err = {0};
  if (capture_print(c, &once, &err) == OP_OK) {
    if (capture_read(&again, text_str(&once), once.length, &err) != OP_OK && err.code != OP_ERR_MEMORY)
      abort();
    if (err.code == OP_OK && (capture_print(&again, &twice, &err) != OP_OK || once.length != twice.length ||
                              memcmp(once.data, twice.data, once.length) != 0))
      abort();
  }
  capture_free(&again);
  text_free(&once);
  text_free(&twice);
  error_free(&err);
}

static void look(const struct capture *c) {
  struct places places = {0};
  struct text program = {0};
  struct error err = {0};
  const struct rerun as = {.times = 0};
  const struct fault fault = {.kind = FAULT_OF_NOTHING};
  if (places_find(c, &places, &err) == OP_OK)
    for (int p = 0; p < places.count; p++)
      if (places.items[p].data->after)
        place_differs(&places.items[p], places.items[p].data->before, places.items[p].data->after, false);
  places_free(&places);
  program_print(c, &as, &fault, &program);
  text_free(&program);
  error_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct capture c, less;
  struct error err = {0};
  const int code = capture_read(&c, data, size, &err);
  if (code == OP_OK) {
    look(&c);
    same_again(&c);
    if (capture_copy(&c, &less, &err) == OP_OK && capture_select(&less, NULL, &err) == OP_OK) {
      if (capture_check(&less, &err) != OP_OK)
        abort();
      look(&less);
      same_again(&less);
    }
    capture_free(&less);
  } else if (code != OP_ERR_FILE && code != OP_ERR_MEMORY)
    abort();
  capture_free(&c);
  types_forget();
  error_free(&err);
  return 0;
}
