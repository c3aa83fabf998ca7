#include "agree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/size.h"

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
  int code;
  size_t left; /* of the message, this part included */
  char part[4000];
};

/* Everybody's `text` becomes that of rank `first`; returns the code it sent along. */
static int spread_words(struct comm *c, int first, struct text *text, int *sent, struct error *err) {
  const bool tells = c->rank == first;
  struct words w = {.code = *sent, .left = tells ? text->length : 0};
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
  *sent = w.code;
  return OP_OK;
}

/* Everybody gets the message of rank `first`. */
static int spread_failure(struct comm *c, int first, const unsigned char *failed, struct error *err) {
  struct text message = {0};
  int code = err->code;
  if (c->rank == first) {
    name_ranks(failed, c->size, &message);
    text_add(&message, error_message(err));
  }
  int status = spread_words(c, first, &message, &code, err);
  if (!status) {
    status = error_set(err, code, "%s", text_str(&message));
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

int agree_on_success(struct comm *c, int code, struct error *err) {
  /* An error that was agreed on is everybody's already. */
  if (comm_alone(c) || (code && err->teller != ERROR_MINE))
    return code;
  long long worst = code != OP_OK;
  int status = c->table->reduce_all(c, &worst, 1, COMM_LLONG, COMM_MAX, err);
  return status || !worst ? status : share_failure(c, code, err);
}

int agree_on_largest(struct comm *c, int code, double *values, int count, struct error *err) {
  enum { MOST = 8 };
  double all[MOST + 1] = {code != OP_OK};
  if (comm_alone(c) || (code && err->teller != ERROR_MINE) || count > MOST)
    return code;
  memcpy(all + 1, values, (size_t)count * sizeof *values);
  int status = c->table->reduce_all(c, all, count + 1, COMM_DOUBLE, COMM_MAX, err);
  if (status || all[0] > 0)
    return status ? status : share_failure(c, code, err);
  memcpy(values, all + 1, (size_t)count * sizeof *values);
  return OP_OK;
}

/* ---- facts ---- */

enum { HASHES = 2 };

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
  int usual, odd, others, code = OP_OK;
  struct text usual_facts = {0}, odd_facts = {0}, message = {0};
  choose_ranks(hashes, c->size, &usual, &odd, &others);
  if (c->rank == usual)
    text_add(&usual_facts, text_str(a->facts));
  if (c->rank == odd)
    text_add(&odd_facts, text_str(a->facts));
  int status = spread_words(c, usual, &usual_facts, &code, err);
  if (!status)
    status = spread_words(c, odd, &odd_facts, &code, err);
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
  if (comm_alone(c) || (a->code && err->teller != ERROR_MINE))
    return a->code;
  /* Largest of the hash and of its negative: equal but for the sign if all are. One size, whatever the ranks call. */
  struct {
    long long failed, hash[HASHES], negative[HASHES], numbers[AGREE_NUMBERS];
  } all = {0};
  long long mine[HASHES];
  if (!a->code && !text_ok(a->facts))
    a->code = error_memory(err, "what this rank calls", a->facts->length);
  hash_facts(a->facts, mine);
  all.failed = a->code != OP_OK;
  for (int i = 0; i < HASHES; i++) {
    all.hash[i] = mine[i];
    all.negative[i] = -mine[i];
  }
  memcpy(all.numbers, a->numbers, sizeof all.numbers);
  int status =
      c->table->reduce_all(c, &all, (int)(sizeof all / sizeof(long long)), COMM_LLONG, COMM_MAX, err);
  if (status)
    return status;
  if (all.failed)
    return share_failure(c, a->code, err);
  for (int i = 0; i < HASHES; i++)
    if (all.hash[i] != -all.negative[i])
      return find_difference(c, a, mine, err);
  memcpy(a->numbers, all.numbers, sizeof all.numbers);
  return OP_OK;
}
