/* The place of a measurement: the loop, the machine, the kind of mesh; and how near another place is. */
#ifndef OP2JIT_LOOP_PLACE_H
#define OP2JIT_LOOP_PLACE_H

#include <stdbool.h>

#include "base/text.h"
#include "kernels-cache/store.h"

struct desc;
struct loop;

/* The target's first word is its family: code and times of another family say nothing. */
struct tuning_place {
  struct text signature, target, mesh;
  int threads;
};

/* The text's SHA-256. */
enum { TUNING_HASH = 65 };
void tuning_hash(const struct text *t, char out[TUNING_HASH]);
/* The parts that are not the backend's business: the description with its layouts, and the class of the mesh. */
void tuning_sign(const struct desc *desc, struct text *signature);
void tuning_fingerprint(const struct loop *loop, struct text *mesh);
/* The name of this host's processor, then what tells it from others of its family. */
void tuning_host(struct text *target);
void tuning_size_class(long elements, struct text *out);
bool tuning_place_ok(const struct tuning_place *place);
void tuning_place_free(struct tuning_place *place);

/* Was the row measured in just this place? */
bool tuning_is_here(const struct store_tuning *row, const struct tuning_place *place);
/* For messages. */
const char *tuning_where(bool here);

/* The number of the variant of that name; -1: there is none here. */
typedef int tuning_variant(const void *of, const char *name);
struct tuning_found {
  const struct store_tuning *row;
  int variant; /* -1: nothing was found */
  bool here;
};
/* The chosen row that holds here: of just this place; else of another processor of the family, or of another mesh
 * with the same marks, the one that gained most. */
struct tuning_found tuning_choose(const struct store_tuning *rows, int count,
                                  const struct tuning_place *place, tuning_variant *find, const void *of);
/* A row without its times. Its texts are the place's and the caller's. */
struct store_tuning tuning_row(const struct tuning_place *place, const char *loop, const char *variant);
/* All rows of the signature and the number of threads, for store_tunings_free. */
int tuning_rows(struct store *store, const struct tuning_place *place, struct store_tuning **rows);

#endif
