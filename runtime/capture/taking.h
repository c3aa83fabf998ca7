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

struct taken_dat {
  struct dat *dat; /* NULL: made for the capture, or freed meanwhile */
  int id;
  uint64_t version; /* of its values, when the last call had run */
};

struct taking {
  /* What is asked for. */
  char *loop, *file;
  long long call, many; /* many 0: until the loop is called again */
  /* What was seen. */
  long long seen; /* calls of that loop */
  bool active, done;
  bool unknown;       /* the last call failed: nobody knows what comes of it */
  const char *failed; /* why there is no file; NULL: nothing is wrong */
  unsigned epoch;     /* of the mesh, when it began */
  double start;       /* seconds of the loop before the call in hand */
  /* All rows that this rank has of what calls use. */
  struct capture all;
  struct taken_set *sets;
  int *maps; /* their ids */
  struct taken_dat *dats;
  struct gbl **globals;
};

/* More of struct capture, for things that the program has: their numbers, or -1 with the error set (things.c). The dat's newest
 * values are on the host. */
long long taking_set(struct taking *t, const struct set *set, struct error *err);
long long taking_map(struct taking *t, const struct map *map, struct error *err);
long long taking_dat(struct taking *t, const struct dat *dat, struct error *err);
long long taking_global(struct taking *t, struct gbl *gbl, struct error *err);
int taking_constant(struct taking *t, const struct constant *constant, struct error *err);
/* Rows of a dat in the capture's order. NULL: no memory. */
unsigned char *taking_rows(const struct taking *t, long long number, const struct dat *dat);
/* A dat of whole numbers, `dim` for each element of the set, for op_arg_idx. */
long long taking_numbers(struct taking *t, long long set, int dim, struct error *err);
void taking_free(struct taking *t);

#endif
