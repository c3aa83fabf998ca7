/* The parts that all dialects share: what happens for one element. A dialect brings a table of words and writes the
 * loop around; the skeleton writes the reading of map entries, each argument's address or local row, the call,
 * and what is stored or added behind it. Names in generated code begin with op2_, so that no kernel's name can
 * meet them:
 *   op2_e element   op2_d0 dat   op2_s0 its stride   op2_t0 map   op2_m0_1 its entry in column 1
 *   op2_z0 where the rows of ragged map 0 begin   op2_first0 where this one does
 *   op2_count0 how long it is
 *   op2_entries0 which entries of ragged map 0 are a subset's, op2_entry0 this element's first one
 *   op2_x0 numbers of a set   op2_g3 global or slot of argument 3   op2_a3 its local values */
#ifndef OP2JIT_JIT_EMIT_SKELETON_H
#define OP2JIT_JIT_EMIT_SKELETON_H

#include "jit/emit/choose.h"
#include "jit/kernel/kernel.h"

struct generator;

/* A dialect's word for what put and the others write as "$name". */
struct word {
  const char *name, *text;
};

struct words {
  const char *types[TYPE_COUNT];
  const struct word *named;                     /* until a name that is NULL */
  bool wraps;                                   /* what a kernel is passed stands in parentheses */
  const char *(*before_name)(const char *name); /* of a kernel or constant, NULL: nothing */
  /* A kernel that runs alone adds to a row of its own, which begins with nothing, not to memory. */
  bool (*adds_apart)(const struct generator *g, const struct desc_arg *a);
  /* target += value, where target is a dat's component. */
  void (*add)(struct generator *g, enum type_code type, const char *target, const char *value);
};

struct generator {
  const struct desc *d;
  const struct shape *s;
  const struct words *w;
  const struct kernel *k;
  struct text *out;
  const char *first; /* what a kernel is passed before its arguments; NULL: nothing */
  int depth;         /* of indentation */
  bool lanes;        /* the kernel gets local values of one lane only */
  bool straight;     /* the strip lies inside a straight range */
  bool alone;        /* the strip is one by itself: nothing waits, and nothing comes behind */
};

/* The description's text, read. One in C++ comes from a compiler, which has read it: nothing but its bytes. kernel_free
 * releases it. */
/* `word` and `places`: see structs_text. NULL: constants of such types are declared elsewhere. */
int generated_kernel(struct kernel *k, const struct desc *d, const char *word, bool places,
                     struct error *err);

/* One line of code, indented. In a format "$wide" is the dialect's word of that name. */
void put(struct generator *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_open(struct generator *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same without a line before the brace; `} else CONDITION {`. */
void put_block(struct generator *g);
void put_else(struct generator *g, const char *condition);
void put_close(struct generator *g);

/* One line per component of a row, each '#' being its number; long rows become a loop. */
void put_components(struct generator *g, int dim, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same by hand: how many lines to write, the pattern for one, the end. */
int component_lines(struct generator *g, int dim);
void component_expand(int dim, int component, const char *pattern, struct text *out);
void component_end(struct generator *g, int dim);

/* structs.c: what generated code calls a struct of the program. */
const char *struct_word(const struct desc *d, enum type_code type);
/* The value that a sum of this type begins with. Adding it changes nothing: 0 + -0.0 is 0. */
static inline const char *word_sum(enum type_code type) {
  return type_info(type)->is_float ? "-0.0" : "0";
}
/* The prefix of a name of the user's. */
static inline const char *word_before(const struct generator *g, const char *name) {
  return g->w->before_name ? g->w->before_name(name) : "";
}
const char *word_type(const struct generator *g, enum type_code type);
const char *word_named(const struct generator *g, const char *name);
/* A piece of a line, in which words are replaced too. */
void add_words(const struct generator *g, struct text *out, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Frees a piece that went into the text, which fails with it. */
void piece_free(const struct generator *g, struct text *piece);

/* Components that lie apart in memory: the kernel gets a local row. */
static inline bool dat_is_apart(const struct desc *d, int dat) {
  return d->dats[dat].soa && d->dats[dat].dim > 1;
}
bool uses_numbers(const struct desc *d, int set);
bool dat_is_written(const struct desc *d, int dat);
/* True: generated code gets a pointer op2_g for this argument. */
static inline bool arg_has_pointer(const struct desc_arg *a) {
  return a->present && (a->form == DESC_INFO || (a->form == DESC_GBL && a->access != OP_WORK));
}
/* A global that lives in a local array from the first element of a range to the last, if it is no longer than this. */
enum { ACCUMULATED = 64 };
static inline bool arg_is_accumulated(const struct desc_arg *a) {
  bool reduced = access_reduces(a->access);
  return a->present && a->form == DESC_GBL && reduced && a->dim <= ACCUMULATED && a->info < 0;
}
static inline bool arg_is_vector(const struct desc_arg *a) {
  return a->map >= 0 && a->idx < 0;
}
/* How many targets a dat or number argument has, and the map's column of one. */
static inline int arg_columns(const struct desc *d, const struct desc_arg *a) {
  if (a->entry) /* one row, in strips */
    return d->maps[a->map].arity > 0;
  return arg_is_vector(a) ? d->maps[a->map].arity : 1;
}
static inline int arg_column(const struct desc_arg *a, int number) {
  return arg_is_vector(a) ? number : a->idx;
}
/* True: no other argument passes this one's dat. */
bool arg_is_alone(const struct desc *d, const struct desc_arg *a);
static inline bool arg_is_extremum_with_info(const struct desc_arg *a) {
  return a->present && a->form == DESC_GBL && a->info >= 0;
}

/* The beginning of messages about layouts; the rest is for the user. */
#define STRUCT_DIFFERS "op2jit: "
/* Behind the kernel's text: these names, and that the layouts are those of the program. `before` stands before the
 * user's names; with `kinds` the members' types are compared too, which needs C. */
void put_structs(struct generator *g, const char *before, bool kinds);
/* The text with its constants of such types declared where the struct is. `word` comes first; with `places`
 * their addresses get names. */
int structs_text(const struct desc *d, const char *word, bool places, struct text *out, struct error *err);

/* Folded constants as definitions. */
void put_constants(struct generator *g);
/* struct op2_info3 for each INFO argument. */
void put_info_types(struct generator *g);
/* For each dat that is an extremum op2_better3(to, start, value): the value, which the kernel made of the start, takes
 * the place of a worse one. */
void put_extrema(struct generator *g);
/* Declarations before the first element, and the sums behind the last. */
void put_accumulators(struct generator *g);
void put_accumulated(struct generator *g);

/* Parts of an element: the vector of pointers op2_v3 of an argument, or the handle of its rows; the call; which of two elements holds an
 * extremum. */
void put_pointers(struct generator *g, int arg);
void put_handle(struct generator *g, int arg);
void put_kernel_call(struct generator *g);
/* The call with other expressions for the arguments; of a fused loop the calls, one after the other. What one of them
 * adds to a row that others work on too is made in op2_p0_3, as it would be if the kernel ran alone. */
void put_call_with(struct generator *g,
                   void (*pass)(const struct generator *g, int arg, char *out, size_t size));
/* Map entries op2_m0_1 of element op2_e; all that an IDX argument passes; component '#' of a target of a dat
 * argument in memory, for put_components. */
void put_map_entries(struct generator *g);
void put_idx(struct generator *g, int arg);
void arg_component(const struct generator *g, const struct desc_arg *a, int col, char *out, size_t size);
/* The element that column `column` of the argument names: op2_e or a map's entry. */
void arg_element(const struct generator *g, const struct desc_arg *a, int column, char *out, size_t size);
void put_extremum_decision(struct generator *g, int arg);
/* Everything for element op2_e. */
void put_element(struct generator *g);
/* early.c: prefetches for elements of a list, of which so many are in hand. Nothing where there is no list. */
void put_ask_early(struct generator *g, int elements);
/* Elements from op2_i on up to `stop`, one after the other. */
void put_one_by_one(struct generator *g, const char *stop);

/* Strips of loops through ragged maps: their elements have as many targets each, so that the kernel's loop over targets is
 * written out and lanes hold elements, as behind a map of one arity. Where all elements have as many, all strips are
 * such. Else a strip is looked at before it runs: code is there for each number of targets up to ROWS_MOST, and what
 * has more of them, or is of several kinds, runs one element after the other. Sums keep their order. */

/* The loop as a strip has it whose elements have `targets` each by the map that differs: ragged maps have an arity, and
 * the entries of an element are one row. `d` itself if no map is ragged, else `room`, a shallow copy. */
const struct desc *rows_of_strip(const struct desc *d, int targets, struct desc *room);
/* The map whose elements differ, -1: none. */
static inline int rows_open_map(const struct desc *d) {
  for (int m = 0; m < d->nmaps; m++)
    if (d->maps[m].ragged && !d->maps[m].equal)
      return m;
  return -1;
}
/* The most targets that elements of a strip have: 1 where no map's differ, 0 if the loop has no strips. */
int rows_most(const struct desc *d);
/* Values from one entry, or target, to the next in the kernel's row. */
int rows_step(const struct desc *d, const struct desc_arg *a);
/* The first of a lane's entries of a map. */
void rows_first(const struct generator *g, int map, const char *lane, char *out, size_t size);
/* The first of a lane's entries, which an argument that has their rows begins with. */
void rows_entry(const struct generator *g, const struct desc_arg *a, const char *lane, char *out,
                size_t size);
/* How many targets, for the kernel. */
void put_rows_counts(struct generator *g);
/* All elements, where a map's elements differ. */
void put_rows_strips(struct generator *g);

#endif
