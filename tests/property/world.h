/* A mesh with data, twice: as the library has it, and as plain arrays in the user's order. What a program does to it
 * is done to both and compared. */
#ifndef OP2JIT_TESTS_WORLD_H
#define OP2JIT_TESTS_WORLD_H

#include "base/text.h"
#include "kernel.h"

enum { MAX_SETS = 16, MAX_MAPS = 32, MAX_DATS = 64, MAX_KEPT = 32, MAX_SUBSETS = 16 };

struct wset {
  op_set handle;
  int size;
  int begin, end; /* what this rank declares of it */
  bool entries;   /* of a ragged map */
};

struct wmap {
  op_map handle;
  int from, to, arity; /* arity 0: ragged */
  int *table;
  long long *offsets; /* ragged: where the targets of each element begin in the table, and the end */
  int entries;        /* ragged: the set of its entries */
  bool column_injective[16], injective;
  bool once; /* no element has a target twice */
};

struct wdat {
  op_dat handle; /* NULL: a freed temporary */
  int set, dim;
  enum vtype type;
  bool soa, temporary, boxed; /* boxed: of structs, see kernel.h */
  bool given;                 /* its values have a meaning: nothing may change them */
  double tolerance;           /* of what was rounded; 0: exact */
  unsigned char *data;
  unsigned char *array; /* of a view: this rank's rows; NULL: an ordinary dat */
};

struct wsubset {
  op_set handle;
  int set;
  bool range;
  bool *in; /* for each element of the set */
};

/* A global with a handle. */
struct wkept {
  op_gbl handle;
  int dim;
  enum vtype type;
  unsigned char value[MAX_DIM * 8];
};

struct world {
  uint64_t seed;
  struct random random;
  int size_limit;
  bool
      in_order; /* most maps lead from one element to the next as on a structured mesh: a loop uses several */
  bool mirrored;   /* sets and maps are spread over a rank that is its own neighbour */
  bool none_meets; /* elements do not meet in what they write */
  bool keeps;      /* results of loops stay in globals with handles, and are looked at when data are */
  bool
      direct; /* loops are over one set, and share what they work on directly: they can be fused (OP2_FUSE) */
  int longest; /* row of a ragged map; 0: any */
  struct wset sets[MAX_SETS];
  int nsets;
  struct wmap maps[MAX_MAPS];
  int nmaps;
  struct wdat dats[MAX_DATS];
  int ndats;
  struct wkept kept[MAX_KEPT];
  int nkept;
  struct wsubset subsets[MAX_SUBSETS];
  int nsubsets;
  /* Nothing is compared: floating-point values are such that each sum of them is rounded, and all goes into a hash, which is
   * to be the same whatever runs the loops, on any number of ranks. What these have of their own is dealt apart. */
  bool odd;
  uint64_t hash;       /* of this rank's elements */
  int looks;           /* how often something was looked at */
  struct random deal;  /* of shares and parts */
  struct text program; /* what was done, as a C program */
  struct text failure; /* the first difference */
};

/* A value for a loop to read. */
void world_value(struct world *w, enum vtype type, void *at);
/* Elements low to high of something with `dim` components go into the hash. */
void world_hash(struct world *w, enum vtype type, int dim, const unsigned char *values, int low, int high);

/* Memory that is zero. It is there, or the test ends. */
void *world_take(size_t bytes);
void world_open(struct world *w, uint64_t seed, int size_limit);
void world_close(struct world *w);

/* Numbers of objects that fit, new or old; -1 when there is no more room. `size` -1: any. */
int world_set(struct world *w, int size);
/* A set, new or old, of `least` elements or more, to which a map can lead; -1: there is none. */
int world_target_set(struct world *w, long least);
/* A new subset; and a declared one freed, and declared again with the same elements. */
int world_subset(struct world *w, int set);
bool world_subset_again(struct world *w, int subset);
/* May elements share targets? ONCE: yes, but no element may have one twice. ALONE: no. */
enum wsharing { W_ANY, W_ONCE, W_ALONE };
/* `column` -1: the whole row is used. */
int world_map(struct world *w, int from, int arity, int column, enum wsharing sharing);
/* A ragged map that is not `other`. */
int world_ragged(struct world *w, int from, enum wsharing sharing, int other);
enum wlayout { W_AOS, W_SOA, W_BOXED };
int world_dat(struct world *w, int set, int dim, enum vtype type, enum wlayout layout);
/* With these values, which nothing may change. */
int world_dat_of(struct world *w, int set, int dim, enum vtype type, enum wlayout layout, const void *values);
int world_kept(struct world *w, int dim, enum vtype type, const unsigned char *value);

size_t wdat_bytes(const struct world *w, const struct wdat *d);
unsigned char *wdat_row(const struct wdat *d, int element);

/* Compare the library's values with the model's; the first difference goes to `failure`. */
bool world_check(struct world *w, int dat);
bool world_check_range(struct world *w, int dat, int low, int high);
bool world_check_all(struct world *w);
bool world_put(struct world *w, int dat);
bool world_free_temporary(struct world *w, int dat);
/* Data that later loops may not read exactly gets new values. */
bool world_refresh(struct world *w);
void world_fail(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One line or more of the C program. */
void world_say(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "{1, 2, 3}", cut when long. */
void world_say_values(struct world *w, enum vtype type, const void *data, long count);

#endif
