#include "jit/kernel/rows.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBERS = sizeof(struct row_facts) / sizeof(int) };

/* Zeros at the end are left out. */
void row_facts_print(const struct row_facts *r, struct text *out) {
  int numbers[NUMBERS], count = NUMBERS;
  memcpy(numbers, r, sizeof numbers);
  while (count > 1 && !numbers[count - 1])
    count--;
  for (int i = 0; i < count; i++)
    text_addf(out, "%d ", numbers[i]);
}

/* Places follow one another, within the text. */
static bool follows(const struct row_range *at, int *done, size_t length) {
  const bool good = *done <= at->begin && at->begin <= at->end && (size_t)at->end <= length;
  *done = at->end;
  return good;
}

static bool is_inside(const struct row_range *at, size_t length) {
  int begin = 0;
  return follows(at, &begin, length);
}

static bool loop_fits(const struct split_loop *l, int *done, size_t length) {
  int inside = l->all.begin;
  bool good = follows(&l->all, done, length) && follows(&l->zero, &inside, (size_t)l->all.end) &&
              follows(&l->step, &inside, (size_t)l->all.end) && is_inside(&l->counter, length) &&
              l->nresults >= 0 && l->nresults <= SPLIT_RESULTS;
  for (int i = 0; good && i < l->nresults; i++)
    good = is_inside(&l->results[i].name, length) && l->results[i].kind >= SPLIT_SUM &&
           l->results[i].kind <= SPLIT_MOST;
  return good;
}

bool row_facts_parse(const char *words, size_t length, struct row_facts *out) {
  int numbers[NUMBERS] = {0}, done = 0;
  for (int i = 0; i < NUMBERS && *words; i++) {
    char *end;
    numbers[i] = (int)strtol(words, &end, 10);
    if (*end != ' ')
      return false;
    words = end + 1;
  }
  memcpy(out, numbers, sizeof numbers);
  bool good = !*words && out->why >= 0 && out->why < WHY_COUNT && out->nloops >= 0 &&
              out->nloops <= SPLIT_LOOPS && out->nstays >= 0 && out->nstays <= STAYS;
  for (int i = 0; good && i < out->nloops; i++)
    good = loop_fits(&out->loops[i], &done, length);
  done = 0;
  for (int i = 0; good && i < out->nstays; i++)
    good = follows(&out->stays[i].at, &done, length);
  return good;
}

bool row_facts_stay(const struct row_facts *r, int arg) {
  for (int i = 0; i < r->nstays; i++)
    if (r->stays[i].kind == STAY_PARAMETER && r->stays[i].arg == arg)
      return true;
  return false;
}

static const char word[] = "op2jit_row(";
/* OP_ANY_ORDER of op2jit_ragged.h. */
static const char order[] = "switch (sizeof \"OP_ANY_ORDER\") default:";
enum { WORD = sizeof word - 1, ORDER = sizeof order - 1 };

struct part {
  const char *at;
  size_t length;
};

/* The place behind the bracket that closes the one at `at`; NULL: none does. */
static const char *behind_bracket(const char *at, const char *end) {
  int depth = 0;
  for (; at < end; at++) {
    depth += *at == '(' || *at == '[' || *at == '{';
    depth -= *at == ')' || *at == ']' || *at == '}';
    if (depth <= 0)
      return at + 1;
  }
  return NULL;
}

static bool begins_with(const char *at, const char *end, const struct text *what) {
  return text_ok(what) && (size_t)(end - at) >= what->length && memcmp(at, text_str(what), what->length) == 0;
}

/* Reads "(x)[1], (x)[2], (x)[3], (k)))" behind the word. Returns where that ends, or NULL. */
static const char *read_macro(const char *at, const char *end, struct part *x, struct part *k) {
  struct text middle = {0};
  const char *behind = at < end && *at == '(' ? behind_bracket(at, end) : NULL;
  if (!behind)
    return NULL;
  *x = (struct part){at + 1, (size_t)(behind - at) - 2};
  text_add(&middle, "[1], (");
  text_add_bytes(&middle, x->at, x->length);
  text_add(&middle, ")[2], (");
  text_add_bytes(&middle, x->at, x->length);
  text_add(&middle, ")[3], (");
  const bool same = begins_with(behind, end, &middle);
  const char *open = behind + middle.length - 1;
  text_free(&middle);
  behind = same ? behind_bracket(open, end) : NULL;
  if (!behind || end - behind < 2 || memcmp(behind, "))", 2) != 0)
    return NULL;
  *k = (struct part){open + 1, (size_t)(behind - open) - 2};
  return behind + 2;
}

/* Takes "((x)[0] + " before the word away. */
static bool drop_head(struct text *out, const struct part *x) {
  struct text head = {0};
  text_add(&head, "((");
  text_add_bytes(&head, x->at, x->length);
  text_add(&head, ")[0] + ");
  const bool there = text_ok(&head) && out->length >= head.length &&
                     memcmp(out->data + out->length - head.length, text_str(&head), head.length) == 0;
  if (there)
    out->data[out->length -= head.length] = '\0';
  text_free(&head);
  return there;
}

static const char *find_bytes(const char *what, size_t length, const char *at, const char *end) {
  for (; (size_t)(end - at) >= length; at++) {
    at = memchr(at, *what, (size_t)(end - at) - length + 1);
    if (!at || memcmp(at, what, length) == 0)
      return at;
  }
  return NULL;
}

static const char *find_word(const char *at, const char *end) {
  return find_bytes(word, WORD, at, end);
}

static void add_between(const char *at, const char *end, struct text *out) {
  for (const char *found; (found = find_bytes(order, ORDER, at, end)); at = found + ORDER) {
    text_add_bytes(out, at, (size_t)(found - at));
    text_add(out, "OP_ANY_ORDER");
  }
  text_add_bytes(out, at, (size_t)(end - at));
}

/* The text of k may have rows, too. */
static void fold(struct part text, struct text *out) {
  const char *at = text.at, *end = text.at + text.length;
  for (const char *found; (found = find_word(at, end));) {
    struct part x, k;
    add_between(at, found, out);
    at = found;
    const char *behind = read_macro(found + WORD, end, &x, &k);
    if (behind && drop_head(out, &x)) {
      text_add(out, "OP_ROW(");
      text_add_bytes(out, x.at, x.length);
      text_add(out, ", ");
      fold(k, out);
      text_add_char(out, ')');
      at = behind;
    } else {
      text_add(out, word);
      at += WORD;
    }
  }
  add_between(at, end, out);
}

const char *rows_folded(const char *text, size_t *length, struct text *room) {
  if (!find_word(text, text + *length) && !find_bytes(order, ORDER, text, text + *length))
    return text;
  fold((struct part){text, *length}, room);
  if (!text_ok(room))
    return NULL;
  *length = room->length;
  return text_str(room);
}
