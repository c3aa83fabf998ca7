#include "ranks/agree.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/sha256.h"
#include "base/types.h"
#include "context/context.h"
#include "ranks/comm.h"

/* "rank 2: ", "ranks 2, 5: " or "all 8 ranks: ". */
static void name_ranks(const unsigned char *failed, int size, struct text *out) {
  enum { MOST = 8 };
  int count = 0, named = 0;
  for (int r = 0; r < size; r++)
    count += failed[r];
  if (count == size) {
    text_addf(out, "all %d ranks: ", size);
    return;
  }
  text_add(out, count == 1 ? "rank" : "ranks");
  for (int r = 0; r < size && named < MOST; r++)
    if (failed[r])
      text_addf(out, "%s%d", named++ ? ", " : " ", r);
  if (count > MOST)
    text_addf(out, " and %d more", count - MOST);
  text_add(out, ": ");
}

/* A part of a message, of one size on all ranks: a rank without memory takes part all the same. */
struct words {
  struct sent {
    int code, fact;
  } sent;
  size_t left; /* of the message, this part included */
  char part[4000];
};

/* Everybody's `text` becomes that of rank `first`, and *sent what it sent along. */
static int spread_words(struct comm *c, int first, struct text *text, struct sent *sent, struct error *err) {
  const bool tells = c->rank == first;
  struct words w = {.sent = *sent, .left = tells ? text->length : 0};
  int status = OP_OK;
  if (!tells)
    text_clear(text);
  for (size_t done = 0;; done += sizeof w.part) {
    const size_t most = sizeof w.part;
    if (tells && w.left)
      memcpy(w.part, text->data + done, w.left < most ? w.left : most);
    status = c->table->broadcast(c, &w, sizeof w, first, err);
    if (status)
      return status;
    if (!tells)
      text_add_bytes(text, w.part, w.left < most ? w.left : most);
    if (w.left <= most)
      break;
    w.left -= most;
  }
  *sent = w.sent;
  return OP_OK;
}

/* Everybody gets the message of rank `first`. */
static int spread_failure(struct comm *c, int first, const unsigned char *failed, struct error *err) {
  struct text message = {0};
  struct sent sent = {err->code, err->fact};
  if (c->rank == first) {
    name_ranks(failed, c->size, &message);
    text_add(&message, error_message(err));
  }
  int status = spread_words(c, first, &message, &sent, err);
  if (!status) {
    status = error_set(err, sent.code, "%s", text_str(&message));
    err->fact = sent.fact;
    err->teller = c->rank == first ? ERROR_AGREED : ERROR_ELSEWHERE;
  }
  text_free(&message);
  return status;
}

/* Some rank failed. */
static int share_failure(struct comm *c, int code, struct error *err) {
  const unsigned char mine = code != OP_OK;
  unsigned char *failed = array_new((size_t)c->size, 1);
  if (!failed) /* nobody can be told any more */
    return error_memory(err, "the outcome of the ranks", (size_t)c->size);
  int status = c->table->gather_all(c, &mine, 1, failed, err);
  int first = 0;
  while (!status && first < c->size - 1 && !failed[first])
    first++;
  if (!status)
    status = spread_failure(c, first, failed, err);
  free(failed);
  return status;
}

/* One size, whatever ranks agree on: one that failed early meets the others where they agree next. */
enum { HASHES = 2 };
struct meeting {
  long long failed;
  /* Largest of the hash and of its negative: equal but for the sign if all are. */
  long long hash[HASHES], negative[HASHES];
  long long numbers[AGREE_NUMBERS];
};

/* The comm on which ranks agree: no other messages travel there. */
static struct comm *place(struct comm *c) {
  return c->agreement ? c->agreement : c;
}

/* True if there is anything to agree on: an error that was agreed on is everybody's already. */
static bool is_open(const struct comm *c, int code, const struct error *err) {
  return !comm_alone(c) && (!code || err->teller == ERROR_MINE);
}

/* Everything in it becomes the largest of all ranks'. */
static int meet(struct comm *c, struct meeting *m, int code, struct error *err) {
  m->failed = code != OP_OK;
  c->failure = code ? err : NULL;
  int status = c->table->reduce_all(c, m, (int)(sizeof *m / sizeof(long long)), COMM_LLONG, COMM_MAX, err);
  c->failure = NULL;
  return status || !m->failed ? status : share_failure(c, code, err);
}

int agree_on_success(struct comm *c, int code, struct error *err) {
  struct meeting m = {0};
  return is_open(c, code, err) ? meet(place(c), &m, code, err) : code;
}

/* Whole numbers in the order of the values; and back, since it is its own inverse. */
static long long in_order(long long bits) {
  return bits < 0 ? bits ^ LLONG_MAX : bits;
}

int agree_on_largest(struct comm *c, int code, double *values, int count, struct error *err) {
  struct meeting m = {0};
  if (!is_open(c, code, err))
    return code;
  memcpy(m.numbers, values, (size_t)count * sizeof *values);
  for (int i = 0; i < count; i++)
    m.numbers[i] = in_order(m.numbers[i]);
  code = meet(place(c), &m, code, err);
  for (int i = 0; !code && i < count; i++) {
    const long long bits = in_order(m.numbers[i]);
    memcpy(&values[i], &bits, sizeof bits);
  }
  return code;
}

/* ---- facts ---- */

static void hash_facts(const struct text *facts, long long out[HASHES]) {
  struct sha256 sum;
  unsigned char digest[32];
  sha256_begin(&sum);
  sha256_add(&sum, text_str(facts), facts->length);
  sha256_end(&sum, digest);
  memcpy(out, digest, HASHES * sizeof *out);
  for (int i = 0; i < HASHES; i++)
    out[i] &= LLONG_MAX;
}

/* The ranks to compare: the lowest one of the largest group that begins early, and the lowest that differs from it. */
static void choose_ranks(const long long (*hashes)[HASHES], int size, int *usual, int *odd, int *others) {
  int candidate = 0, votes = 0;
  for (int r = 0; r < size; r++) {
    if (votes == 0)
      candidate = r;
    votes += memcmp(hashes[r], hashes[candidate], sizeof *hashes) == 0 ? 1 : -1;
  }
  *usual = -1;
  *odd = -1;
  *others = 0;
  for (int r = size - 1; r >= 0; r--)
    if (memcmp(hashes[r], hashes[candidate], sizeof *hashes) == 0)
      *usual = r;
    else {
      *odd = r;
      ++*others;
    }
}

struct fact {
  const char *what, *value;
  int what_length, value_length;
};

/* The next line; false at the end, with a fact that says so. */
static bool next_fact(const char **at, struct fact *f) {
  const char *line = *at;
  if (!*line) {
    *f = (struct fact){.what = "", .value = "nothing", .value_length = 7};
    return false;
  }
  const int length = (int)strcspn(line, "\n");
  f->what = line;
  f->what_length = (int)strcspn(line, "\t\n");
  f->value = line + f->what_length + (line[f->what_length] == '\t');
  f->value_length = length - (int)(f->value - line);
  *at = line + length + (line[length] == '\n');
  return true;
}

static bool same_fact(const struct fact *a, const struct fact *b) {
  return a->what_length == b->what_length && a->value_length == b->value_length &&
         memcmp(a->what, b->what, (size_t)a->what_length) == 0 &&
         memcmp(a->value, b->value, (size_t)a->value_length) == 0;
}

static void describe_difference(const char *usual_facts, int usual, const char *odd_facts, int odd,
                                int others, struct text *out) {
  struct fact call = {0}, a, b;
  bool more;
  do {
    const bool more_a = next_fact(&usual_facts, &a), more_b = next_fact(&odd_facts, &b);
    more = (more_a || more_b) && same_fact(&a, &b);
    if (more && !call.what)
      call = a;
  } while (more);
  if (!call.what)
    text_addf(out, "rank %d calls %.*s, rank %d calls %.*s", odd, b.value_length, b.value, usual,
              a.value_length, a.value);
  else {
    const struct fact *named = b.what_length ? &b : &a;
    const bool same_thing =
        a.what_length == b.what_length && memcmp(a.what, b.what, (size_t)a.what_length) == 0;
    text_addf(out, "%.*s, %.*s: %.*s on rank %d, ", call.value_length, call.value, named->what_length,
              named->what, b.what_length ? b.value_length : 7, b.what_length ? b.value : "nothing", odd);
    if (!same_thing && a.what_length && b.what_length)
      text_addf(out, "%.*s: ", a.what_length, a.what);
    text_addf(out, "%.*s on rank %d", a.value_length, a.value, usual);
  }
  if (others > 1)
    text_addf(out, " (%d ranks differ from it)", others);
  text_add(out, "; all ranks must make the same calls with the same texts and values");
}

static int report_difference(struct comm *c, const struct agreement *a, const long long (*hashes)[HASHES],
                             struct error *err) {
  int usual, odd, others;
  struct sent none = {0};
  struct text usual_facts = {0}, odd_facts = {0}, message = {0};
  choose_ranks(hashes, c->size, &usual, &odd, &others);
  if (c->rank == usual)
    text_add(&usual_facts, text_str(a->facts));
  if (c->rank == odd)
    text_add(&odd_facts, text_str(a->facts));
  int status = spread_words(c, usual, &usual_facts, &none, err);
  if (!status)
    status = spread_words(c, odd, &odd_facts, &none, err);
  if (!status) {
    describe_difference(text_str(&usual_facts), usual, text_str(&odd_facts), odd, others, &message);
    status = error_set(err, OP_ERR_MPI, "%s", text_str(&message));
    err->teller = c->rank == (usual < odd ? usual : odd) ? ERROR_AGREED : ERROR_ELSEWHERE;
  }
  text_free(&usual_facts);
  text_free(&odd_facts);
  text_free(&message);
  return status;
}

static int find_difference(struct comm *c, const struct agreement *a, const long long mine[HASHES],
                           struct error *err) {
  long long(*hashes)[HASHES] = array_new((size_t)c->size, sizeof *hashes);
  if (!hashes)
    return error_memory(err, "what the ranks say", (size_t)c->size * sizeof *hashes);
  int status = c->table->gather_all(c, mine, sizeof *hashes, hashes, err);
  if (!status)
    status = report_difference(c, a, (const long long(*)[HASHES])hashes, err);
  free(hashes);
  return status;
}

int agree(struct comm *c, struct agreement *a, struct error *err) {
  struct meeting m = {0};
  long long mine[HASHES];
  c = place(c);
  if (!is_open(c, a->code, err))
    return a->code;
  if (!a->code && !text_ok(a->facts))
    a->code = error_memory(err, "what this rank calls", a->facts->length);
  hash_facts(a->facts, mine);
  for (int i = 0; i < HASHES; i++) {
    m.hash[i] = mine[i];
    m.negative[i] = -mine[i];
  }
  memcpy(m.numbers, a->numbers, sizeof m.numbers);
  const int code = meet(c, &m, a->code, err);
  if (code)
    return code;
  for (int i = 0; i < HASHES; i++)
    if (m.hash[i] != -m.negative[i])
      return find_difference(c, a, mine, err);
  memcpy(a->numbers, m.numbers, sizeof m.numbers);
  return OP_OK;
}

/* ---- agreements on calls, which say of themselves what they are, line by line ---- */
int agree_named(struct op_context *ctx, struct agreement *a, struct error *err) {
  const char *call = ctx->agreement->where;
  ctx->agreement->where = text_str(a->facts) + strcspn(text_str(a->facts), "\t");
  const int code = agree(ctx->agreement, a, err);
  ctx->agreement->where = call;
  return code;
}

int agree_on_call(struct op_context *ctx, int code, struct error *err, const char *format, ...) {
  struct text facts = {0};
  if (comm_alone(ctx->comm))
    return code;
  va_list args;
  va_start(args, format);
  text_add(&facts, "call\t");
  text_vaddf(&facts, format, args);
  va_end(args);
  code = agree_named(ctx, &(struct agreement){.code = code, .facts = &facts}, err);
  text_free(&facts);
  return code;
}

void agree_print_values(struct text *out, int type, int count, const void *values) {
  const enum type_code code = (enum type_code)type;
  const unsigned char *value = values;
  text_add(out, type_info(code)->name);
  for (int i = 0; value && i < count; i++) {
    text_add(out, i ? ", " : " ");
    type_add(code, value + (size_t)i * type_info(code)->size, out);
  }
}
