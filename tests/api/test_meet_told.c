/* The words on elements that meet: once for each call site, with two elements and a target that are the user's, whatever
 * the library's order is. And what cannot be forced on them. And of loops that cannot keep the same bits. */
#include <unistd.h>

#include "support.h"

enum { TARGETS = 400, EACH = 3, SOURCES = EACH * TARGETS };

OP_KERNEL_DEF(
    add, void add(const double *v, double *x) { *x += *v; })
OP_KERNEL_DEF(
    clear, void clear(double *x) { *x = 0; })

static op_set sources, targets;
static op_map map;
static op_dat value;
static int target_of[SOURCES];

/* The user's order is far from any that op_renumber makes. */
static void make(void) {
  static double ones[SOURCES];
  for (int i = 0; i < SOURCES; i++) {
    target_of[i] = (int)((long)i * 7919 % SOURCES) / EACH * 7 % TARGETS;
    ones[i] = 1;
  }
  sources = op_decl_set(SOURCES, "sources");
  targets = op_decl_set(TARGETS, "targets");
  map = op_decl_map(sources, targets, 1, target_of, "map");
  value = op_decl_dat(sources, 1, "double", ones, "value");
  assert_non_null(value);
}

static op_dat zeros(const char *name) {
  const op_dat dat = op_decl_dat(targets, 1, "double", NULL, name);
  assert_non_null(dat);
  return dat;
}

static int call_add(op_set set, op_dat x) {
  return op_par_loop(OP_KERNEL_OF(add), "add", set, direct(value, 1, "double", OP_READ),
                     op_arg_dat(x, 0, map, 1, "double", OP_RW));
}

static void all_are(op_dat dat, double want) {
  double got[TARGETS];
  works(op_fetch_data(dat, got));
  for (int i = 0; i < TARGETS; i++)
    if (got[i] != want)
      fail_msg("target %d is %g, not %g", i, got[i], want);
}

/* ---- what goes to stderr ---- */

static struct {
  FILE *file;
  int kept;
  char text[1 << 14];
} said;

static void listen(void) {
  fflush(stderr);
  said.file = tmpfile();
  said.kept = dup(STDERR_FILENO);
  assert_true(said.file && said.kept >= 0);
  assert_true(dup2(fileno(said.file), STDERR_FILENO) >= 0);
}

/* How many warnings there were with these words. */
static int heard_of(const char *words) {
  int count = 0;
  fflush(stderr);
  assert_true(dup2(said.kept, STDERR_FILENO) >= 0);
  close(said.kept);
  rewind(said.file);
  said.text[fread(said.text, 1, sizeof said.text - 1, said.file)] = '\0';
  fclose(said.file);
  for (const char *at = said.text; (at = strstr(at, words)); at++)
    count++;
  return count;
}

static int heard(void) {
  return heard_of("both reach element ");
}

static void is_true_of_the_mesh(void) {
  static const char middle[] = "both reach element ";
  int first = -1, second = -1, target = -1;
  const char *at = strstr(said.text, "elements "), *on = strstr(said.text, middle);
  assert_non_null(at);
  assert_non_null(on);
  assert_int_equal(sscanf(at, "elements %d and %d of set \"sources\"", &first, &second), 2);
  assert_int_equal(sscanf(on + sizeof middle - 1, "%d of set \"targets\" (map \"map\")", &target), 1);
  assert_true(first >= 0 && first < SOURCES && second >= 0 && second < SOURCES && first != second);
  assert_int_equal(target_of[first], target);
  assert_int_equal(target_of[second], target);
  assert_non_null(strstr(said.text, "op_arg_may_meet("));
}

LIBRARY_TEST(a_call_site_is_warned_of_once) {
  make();
  const op_dat x = zeros("x");
  listen();
  for (int call = 0; call < 3; call++)
    works(call_add(sources, x));
  works(op_renumber(map));
  works(call_add(sources, x));
  assert_int_equal(heard(), 1);
  is_true_of_the_mesh();
  all_are(x, 4 * EACH);
}

LIBRARY_TEST(another_order_of_the_mesh_is_not_the_users) {
  make();
  const op_dat x = zeros("x");
  works(op_renumber(map));
  listen();
  works(call_add(sources, x));
  assert_int_equal(heard(), 1);
  is_true_of_the_mesh();
  all_are(x, EACH);
}

LIBRARY_TEST(nothing_is_said_where_all_leave_the_same_or_the_program_knows) {
  make();
  const op_dat x = zeros("x");
  listen();
  works(op_par_loop(OP_KERNEL_OF(clear), "clear", sources, op_arg_dat(x, 0, map, 1, "double", OP_WRITE)));
  works(op_par_loop(OP_KERNEL_OF(add), "add", sources, direct(value, 1, "double", OP_READ),
                    op_arg_may_meet(op_arg_dat(x, 0, map, 1, "double", OP_RW))));
  assert_int_equal(heard(), 0);
  all_are(x, EACH);
}

LIBRARY_TEST(elements_of_a_subset_that_do_not_meet_are_not_named) {
  static int chosen[TARGETS], taken[TARGETS];
  int n = 0;
  make();
  memset(taken, 0, sizeof taken);
  for (int i = 0; i < SOURCES; i++)
    if (!taken[target_of[i]]++)
      chosen[n++] = i;
  assert_int_equal(n, TARGETS);
  const op_set some = op_decl_subset(sources, n, chosen, "some");
  const op_dat x = zeros("x");
  listen();
  works(call_add(some, x));
  assert_int_equal(heard(), 0);
  all_are(x, 1);
  listen();
  works(call_add(sources, x));
  assert_int_equal(heard(), 1);
  all_are(x, 1 + EACH);
}

/* Its elements did not meet when the loop was called with another map. */
LIBRARY_TEST(a_second_map_is_looked_at_for_itself) {
  static int apart[TARGETS];
  for (int i = 0; i < TARGETS; i++)
    apart[i] = TARGETS - 1 - i;
  make();
  const op_dat x = zeros("x"), own = op_decl_dat(targets, 1, "double", NULL, "own");
  const op_map other = op_decl_map(targets, targets, 1, apart, "other");
  listen();
  works(op_par_loop(OP_KERNEL_OF(add), "add", targets, direct(own, 1, "double", OP_READ),
                    op_arg_dat(x, 0, other, 1, "double", OP_RW)));
  assert_int_equal(heard(), 0);
  listen();
  works(call_add(sources, x));
  assert_int_equal(heard(), 1);
  all_are(x, EACH);
}

/* With few elements, and with all of them at one target. */
LIBRARY_TEST(sizes_at_the_edge_are_right) {
  static int same[SOURCES];
  static double ones[SOURCES];
  for (int i = 0; i < SOURCES; i++)
    ones[i] = 1;
  for (int size = 0; size < 40; size += size < 4 ? 1 : 7) {
    double got[2] = {-1, -1};
    const op_set from = op_decl_set(size, "from"), to = op_decl_set(2, "to");
    const op_map all = op_decl_map(from, to, 1, size ? same : NULL, "all");
    const op_dat v = op_decl_dat(from, 1, "double", ones, "v"),
                 x = op_decl_dat(to, 1, "double:soa", NULL, "x");
    works(op_par_loop(OP_KERNEL_OF(add), "add", from, direct(v, 1, "double", OP_READ),
                      op_arg_may_meet(op_arg_dat(x, 0, all, 1, "double", OP_RW))));
    works(op_fetch_data(x, got));
    assert_true(got[0] == size && got[1] == 0);
  }
}

FIXTURE(start_reproducible) {
  char program[] = "test", word[] = "OP2_REPRODUCIBLE=on", *words[] = {program, word, NULL};
  unsetenv("OP2_VARIANT"); /* a form without an order is refused */
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  return op_init(2, words, 0);
}

/* The program's own functions add as they are called: that is said once of a loop that adds, and of no other one. */
TEST_BETWEEN(functions_of_the_program_have_no_order, start_reproducible, stop) {
  const char *backend = getenv("OP2_BACKEND");
  make();
  const op_dat x = zeros("x");
  listen();
  for (int call = 0; call < 2; call++) {
    works(op_par_loop(OP_KERNEL_OF(clear), "clear", targets, direct(x, 1, "double", OP_WRITE)));
    works(op_par_loop(OP_KERNEL_OF(add), "add", sources, direct(value, 1, "double", OP_READ),
                      op_arg_dat(x, 0, map, 1, "double", OP_INC)));
  }
  assert_int_equal(heard_of("OP2_REPRODUCIBLE=on has no effect here"),
                   backend && strcmp(backend, "native") == 0);
  all_are(x, EACH);
}
