/* The owners of a set's elements: a value per global number, kept by blocks of numbers, so that no rank holds more
 * than its share whoever declared or owns the elements. All collective but directory_free. */
#ifndef OP2JIT_SPREAD_PARTS_DIRECTORY_H
#define OP2JIT_SPREAD_PARTS_DIRECTORY_H

#include "numbers.h"
#include "ranks/comm.h"

struct directory {
  long long total, first; /* of all ranks; first of this rank's block */
  long size;              /* of this rank's block */
  int *values;            /* -1: nobody told */
};

/* Numbers begin .. end-1 of 0 .. total-1 are the block of a rank. */
long long block_begin(long long total, int ranks, int rank);
int block_of(long long total, int ranks, long long number);

/* Tell `values[i]` (or `same` for all, if values is NULL) of numbers[i]. */
int directory_make(struct directory *d, struct comm *comm, long long total, const long long *numbers,
                   long count, const int *values, int same, struct error *err);
/* Several at once, in the same messages. */
struct telling {
  struct directory *directory;
  long long total;
  const long long *numbers;
  const int *values;
  long count;
  int same;
};
int directories_make(struct comm *comm, const struct telling *told, int n, struct error *err);
int directory_ask(const struct directory *d, struct comm *comm, const long long *numbers, long count,
                  int *values, struct error *err);
struct question {
  const struct directory *directory;
  const long long *numbers;
  long count;
  int *values;
};
int directories_ask(struct comm *comm, const struct question *questions, int n, struct error *err);
void directory_free(struct directory *d);

/* Rows of data of elements that other ranks own: of ids 0 .. owned-1 this rank has the rows; out gets those of the
 * ids behind them. */
int directory_rows(struct comm *comm, long long total, const struct numbers *ids, long owned,
                   size_t row_bytes, const void *rows, void *out, struct error *err);
/* The other way round: the values of the ids behind the owned ones are added to those at their owners. */
int directory_add(struct comm *comm, long long total, const struct numbers *ids, long owned,
                  long long *values, struct error *err);

/* Values about numbers go to the rank that keeps the block of the number. `told` is taken over (also at an
 * error). */
struct told {
  long long number, value;
};
struct mail;
int tell_blocks(struct comm *comm, long long total, struct told *told, long count, struct mail *in,
                struct error *err);
/* Values that were told of numbers first .. first + size - 1, together by number: those of first + i from start[i] on. `what` is for
 * messages. Local; to be freed also after an error. */
struct grouped {
  long *start; /* size + 1 */
  long long *values;
};
int told_group(const struct mail *in, long long first, long size, const char *what, struct grouped *out,
               struct error *err);
void grouped_free(struct grouped *g);

#endif
