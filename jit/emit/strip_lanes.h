/* Rows into lanes and back: helper functions of generated code. Rows are loaded whole and turned in registers, by
 * exchanging halves of ever larger blocks between pairs of registers; that is faster than gathering component by
 * component. */
#ifndef OP2JIT_JIT_EMIT_STRIP_LANES_H
#define OP2JIT_JIT_EMIT_STRIP_LANES_H

#include "jit/emit/skeleton.h"

/* Rows of this many values are the longest. */
enum { LANES_LONGEST_ROW = 24 };

/* Helper functions of C for one type, row length and width, each a definition in the generated text:
 *   op2_load_NAME(lanes, rows)   `width` rows of memory into lanes
 *   op2_turn_NAME(rows, lanes)   lanes into rows one after the other, each padded to lanes_row(dim, width)
 *   op2_add_NAME(row, values)    one row of memory += values; op2_put_NAME: = values
 * where NAME is lanes_name(). Rows of one component need the first only. Once before all for a type:
 * put_lane_types, the typedefs op2_double4 and the like. */
void put_lane_types(struct generator *g, enum type_code type);
void put_lane_helpers(struct generator *g, enum type_code type, int dim);
/* The aligned vector of a row, as put_lane_types names it. */
void lanes_name(enum type_code type, int dim, char *out, size_t size);
/* Values from one row to the next behind op2_turn. */
int lanes_row(int dim, int width);

/* How many values behind a row of memory op2_load may read, of any width. It is the one thing in strips that reaches
 * behind an array: loads of less than a row, entries of maps, numbers and globals are read one by one or in whole
 * strips, and nothing is stored there. What comes of those values nobody looks at, but they must be memory that can be
 * read. Memory of the library's has slack for them (mesh/data.c); an array of the program's has none, and is copied
 * where a page ends with it (mesh/view.c). Rows that are turned at once may be several of the dat's: an element's, of the
 * entries of a ragged map. */
int lanes_read_behind(enum type_code type, int dim);

#endif
