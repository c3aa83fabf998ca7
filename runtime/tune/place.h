/* Where a measurement belongs: what was tuned, on which machine, on what kind of mesh; and how near another place
 * is. */
#ifndef OP2JIT_PLACE_H
#define OP2JIT_PLACE_H

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

/* The parts that are not the backend's business: the description with its layouts, and the class of the mesh. */
void tuning_sign(const struct desc *desc, struct text *signature);
void tuning_fingerprint(const struct loop *loop, struct text *mesh);
/* The name of this host's processor, then what tells it from others of its family. */
void tuning_host(struct text *target);
void tuning_size_class(long elements, struct text *out);
bool tuning_place_ok(const struct tuning_place *place);
void tuning_place_free(struct tuning_place *place);

/* How far what was found there holds here; TUNING_NOTHING: not at all. */
enum tuning_grade { TUNING_NOTHING = -1, TUNING_FAMILY, TUNING_TARGET, TUNING_MESH, TUNING_EXACT };
enum tuning_grade tuning_grade(const struct store_tuning *row, const char *target, const char *mesh);
const char *tuning_grade_words(enum tuning_grade grade);

/* Does the row rather hold than the other one of the same grade? What was chosen by the larger gain over the
 * default, then the newer one, then by name: the same rows give the same choice. */
bool tuning_is_better(const struct store_tuning *row, const struct store_tuning *other);

/* A variant's name as it counts on another class of mesh: how many threads pay depends on the size. */
void tuning_carry_over(const char *variant, struct text *out);

#endif
