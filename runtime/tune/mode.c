#include "tune/mode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part of a loop's time that trials may cost. */
#define SHARE 0.05

int tune_mode_parse(const char *value, struct tune_mode *mode, struct error *err) {
  static const struct {
    const char *word;
    struct tune_mode mode;
  } words[] = {
      {"off", {.candidates = false}},
      {"use", {.candidates = true, .recall = true}},
      {"auto", {.candidates = true, .recall = true, .keep = true, .options = {.share = SHARE}}},
      {"force", {.candidates = true, .keep = true, .options = {.exhaustive = true}}},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(value, words[i].word) == 0) {
      *mode = words[i].mode;
      return OP_OK;
    }
  char *end;
  double seconds = strtod(value, &end);
  if (end == value || *end || !(seconds > 0) || !isfinite(seconds))
    return error_set(err, OP_ERR_ENV, "OP2_TUNE=%s: expected auto, off, use, force, or the seconds to spend",
                     value);
  *mode =
      (struct tune_mode){.candidates = true, .recall = true, .keep = true, .options = {.seconds = seconds}};
  return OP_OK;
}
