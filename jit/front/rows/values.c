/* OP_ROW(x, k) is a pointer. A `*` that was forgotten before it is seen by C only where pointers cannot stand: two may be
 * subtracted and compared. */
#include "jit/front/parameters.h"
#include "jit/front/rows/rows.h"

/* OP_ROW and its brackets, and parentheses around them alone, not those of a call or of static_cast<T>: from `first` to
 * before `behind`. */
struct row {
  size_t first, behind;
};

static struct row row_at(const struct tokens *t, size_t name) {
  struct row r = {name, kernel_skip_brackets(t, name + 1)};
  while (r.first && token_is(t, r.first - 1, "(") && token_is(t, r.behind, ")") &&
         !(r.first > 1 && (token_is_identifier(t, r.first - 2) || token_is(t, r.first - 2, ">")))) {
    r.first--;
    r.behind++;
  }
  return r;
}

static bool is_followed(const struct tokens *t, const struct row *r) {
  const bool arrow = token_is(t, r->behind, "-") && token_is(t, r->behind + 1, ">");
  return arrow || token_is(t, r->behind, "[") || token_is(t, r->first - 1, "*");
}

/* One of < > <= >= == != at `at`, seen from behind or (`back`) from before. */
static bool compares(const struct tokens *t, size_t at, bool back) {
  if (token_is(t, at, "<") || token_is(t, at, ">"))
    return true;
  const size_t one = back ? at - 1 : at;
  return token_is(t, one + 1, "=") &&
         (token_is(t, one, "=") || token_is(t, one, "!") || token_is(t, one, "<") || token_is(t, one, ">"));
}

/* `*(OP_ROW(x, k) - 1)` is a value, and so is `p < OP_ROW(x, k) + 3` right. */
static bool is_number_expected(const struct tokens *t, const struct row *r) {
  const bool moved = token_is(t, r->first - 1, "(") && token_is(t, r->first - 2, "*");
  if (is_followed(t, r) || moved || token_is(t, r->behind, "+"))
    return false;
  return token_is(t, r->behind, "-") || token_is(t, r->first - 1, "-") || compares(t, r->behind, false) ||
         compares(t, r->first - 1, true);
}

int rows_check_values(const struct kernel *k, struct error *err) {
  const struct tokens *t = &k->tokens;
  for (size_t i = 2; i < t->count; i++) {
    if (t->items[i].directive || !token_is(t, i, "OP_ROW") || !token_is(t, i + 1, "("))
      continue;
    const struct row r = row_at(t, i);
    if (!is_number_expected(t, &r))
      continue;
    const int length = (int)(t->items[kernel_skip_brackets(t, i + 1) - 1].end - t->items[i].begin);
    const char *words = t->text + t->items[i].begin;
    return kernel_error(
        k, t->items[i].line, t->items[i].column, err,
        "%.*s is a pointer to a row, and here pointers would be subtracted or compared; write "
        "*%.*s for its value",
        length, words, length, words);
  }
  return OP_OK;
}
