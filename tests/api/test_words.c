/* Every word of OP2_VARIANT of the pages on every kind of loop: what a loop cannot have is left out, and the results are the
 * same. */
#include "support.h"

#include <stdbool.h>

enum { ELEMENTS = 1000 };

static const char *const host_words[] = {"whole",
                                         "colours",
                                         "owners",
                                         "tasks",
                                         "gather",
                                         "chunks",
                                         "turns",
                                         "scalar",
                                         "strip4",
                                         "strip8",
                                         "strip16",
                                         "strip8+straight",
                                         "strip8+stream",
                                         "strip4+piped",
                                         "scalar+rows",
                                         "strip8+rows",
                                         "sorted",
                                         "4096",
                                         "threads2",
                                         "reproducible",
                                         "soa",
                                         "aos",
                                         "soa=a",
                                         "coo",
                                         "csr",
                                         "whole/64",
                                         "chunks/strip4/sorted",
                                         "move:chunks,spread:gather"};
static const char *const device_words[] = {
    "direct",  "atomics", "staged",  "blocks",  "colours", "apart",        "warps",
    "ordered", "64",      "vectors", "scalars", "sorted",  "joined",       "near8",
    "min2",    "rows4",   "each4",   "soa",     "aos",     "direct/each2", "staged/128/sorted"};

struct results {
  double total, most, moved[ELEMENTS], spread[ELEMENTS];
  int above[ELEMENTS];
};

static void run_all(const char *words, struct results *r) {
  static double values[ELEMENTS];
  static int table[2 * ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++) {
    values[i] = i % 7;
    table[2 * i] = i;
    table[2 * i + 1] = (i + 1) % ELEMENTS;
  }
  memset(r, 0, sizeof *r);
  if (words)
    setenv("OP2_VARIANT", words, 1);
  works(op_init(0, NULL, 0));
  unsetenv("OP2_VARIANT");
  op_set set = op_decl_set(ELEMENTS, "set"), none = op_decl_set(0, "none");
  op_map next = op_decl_map(set, set, 2, table, "next");
  op_dat a = op_decl_dat(set, 1, "double", values, "a"), b = op_decl_dat(set, 1, "double", NULL, "b"),
         c = op_decl_dat(set, 1, "double", NULL, "c"), above = op_decl_dat(set, 1, "int", NULL, "above"),
         empty = op_decl_dat(none, 1, "double", NULL, "empty");
  works(op_par_loop(OP_KERNEL(void move(const double *a, double *b) { *b = *a + 1; }), "move", set,
                    direct(a, 1, "double", OP_READ), direct(b, 1, "double", OP_WRITE)));
  works(op_par_loop(OP_KERNEL(void spread(const double *b, double *c, double *d) {
                      *c += *b;
                      *d += 2 * *b;
                    }),
                    "spread", set, direct(b, 1, "double", OP_READ),
                    op_arg_dat(c, 0, next, 1, "double", OP_INC),
                    op_arg_dat(c, 1, next, 1, "double", OP_INC)));
  works(op_par_loop(OP_KERNEL(void sum(const double *c, double *total, double *most) {
                      *total += *c;
                      *most = *c > *most ? *c : *most;
                    }),
                    "sum", set, direct(c, 1, "double", OP_READ), op_arg_gbl(&r->total, 1, "double", OP_INC),
                    op_arg_gbl(&r->most, 1, "double", OP_MAX)));
  works(op_par_loop(OP_KERNEL(void look(const double *c, int *above) { *above = *c > 9; }), "look", set,
                    op_arg_dat(c, 1, next, 1, "double", OP_READ), direct(above, 1, "int", OP_WRITE)));
  works(op_par_loop(OP_KERNEL(void never(double *x) { *x = 1; }), "never", none,
                    direct(empty, 1, "double", OP_WRITE)));
  works(op_fetch_data(b, r->moved));
  works(op_fetch_data(c, r->spread));
  works(op_fetch_data(above, r->above));
  works(op_exit());
}

TEST(each_word_on_each_loop) {
  static struct results expected, found;
  const bool device = strcmp(getenv("OP2_BACKEND"), "cuda") == 0;
  const char *const *words = device ? device_words : host_words;
  const size_t count = device ? sizeof device_words / sizeof *words : sizeof host_words / sizeof *words;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  run_all(NULL, &expected);
  assert_true(expected.total > 3 * ELEMENTS && expected.most == 7 + 2 * 6);
  for (size_t i = 0; i < count; i++) {
    run_all(words[i], &found);
    if (memcmp(&found, &expected, sizeof found) != 0)
      fail_msg("OP2_VARIANT=%s changes results", words[i]);
  }
}
