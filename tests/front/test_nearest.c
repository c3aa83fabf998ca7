/* Which names are near enough to be guessed. */
#include "../unit.h"

#include "base/text.h"

TEST(guesses) {
  static const char *const names[] = {"x", "dx", "res", "res_calc", "update"};
  static const struct {
    const char *word;
    int near;
  } rows[] = {{"G", -1},     {"X", 0},       {"y", -1},  {"dy", -1}, {"DX", 1},  {"rse", 2}, {"res_clac", 3},
              {"upadte", 4}, {"abcdef", -1}, {"rs", -1}, {"ret", 2}, {"xx", -1}, {"", -1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (nearest_name(rows[i].word, names, 5) != rows[i].near)
      fail_msg("%s: %d", rows[i].word, nearest_name(rows[i].word, names, 5));
}
