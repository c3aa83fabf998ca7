/* A capture that is being taken: which call is meant, and what is known so far. */
#ifndef OP2JIT_CAPTURE_TAKING_H
#define OP2JIT_CAPTURE_TAKING_H

#include <stdint.h>

#include "base/text.h"
#include "capture/capture.h"
#include "record/record.h"

/* Elements by their numbers in the capture: the library's, and the other way round. */
struct taken_set {
  const struct set *set;
  op_set handle; /* another set may lie where one was that was freed */
  int *elements, *numbers;
};

/* Where data come from. */
struct taken_data {
  struct dat *dat; /* NULL: no dat, one that is made for the capture, or freed meanwhile */
  int id;
  uint64_t version;  /* of its values, when the last call had run */
  uint64_t known[2]; /* version and copies, when the capture got others' rows of it */
  struct gbl *gbl;   /* NULL: none */
};

struct taking {
  /* The wish of OP2_CAPTURE. */
  char *loop, *file;
  long long call, many; /* many 0: until the loop is called again */
  /* The calls so far. */
  long long seen; /* calls of that loop */
  long long kept; /* calls that the capture has, or would have */
  int last;       /* the number of the last one in `all`, which has steps beside it */
  bool active, done;
  bool unknown;       /* the last call failed: nobody knows what comes of it */
  const char *failed; /* why there is no file; NULL: nothing is wrong */
  unsigned epoch;     /* of the mesh, when it began */
  double start;       /* seconds of the loop before the call in hand */
  /* All rows that this rank has of what calls use. */
  struct capture all;
  struct taken_set *sets;
  int *maps; /* their ids */
  struct taken_data *data;
};

/* More of struct capture, for things that the program has: their numbers, or -1 with the error set (things.c). The dat's newest
 * values are on the host. */
long long taking_set(struct taking *t, const struct set *set, struct error *err);
long long taking_map(struct taking *t, const struct map *map, struct error *err);
long long taking_dat(struct taking *t, struct dat *dat, struct error *err);
long long taking_global(struct taking *t, struct gbl *gbl, struct error *err);
/* A constant that is there already must have these values: else `failed` says so. */
long long taking_constant(struct taking *t, const struct constant *constant, struct error *err);
/* A variable of the program. */
long long taking_variable(struct taking *t, int dim, enum type_code type, const void *values,
                          struct error *err);
/* A dat that only the capture has, of zeros. */
long long taking_zeros(struct taking *t, long long set, int dim, enum type_code type, const char *name,
                       struct error *err);
/* Rows of a dat in the capture's order. NULL: no memory. */
unsigned char *taking_rows(const struct taking *t, long long number, const struct dat *dat);
/* The next call, of nothing; NULL: no memory. */
struct capture_call *taking_call(struct taking *t, struct error *err);
/* Steps of the library between kernels, as calls that a replay makes (things.c). Others' rows of a dat come from their ranks: */
int taking_receive(struct taking *t, const struct loop *loop, long long number, struct error *err);
/* and what call number `call` gave to a matrix, an element's numbers at `from`, goes to those of the matrix at `to`. */
int taking_give(struct taking *t, int call, long long from, long long to, int access, struct error *err);
void taking_free(struct taking *t);

#endif
