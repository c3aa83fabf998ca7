/* Strips: several elements at a time, one per lane. The data of a strip's elements are brought into lanes (component by
 * component, `width` values each), the kernel runs on the lanes in a loop that clang makes one vector operation of,
 * and results go back. Rows are loaded whole and turned in registers, by exchanging halves of ever larger blocks
 * between pairs of registers; that is faster than gathering component by component. */
#ifndef OP2JIT_JIT_GENERATE_STRIPS_LANES_H
#define OP2JIT_JIT_GENERATE_STRIPS_LANES_H

#include "jit/generate/skeleton.h"

/* Rows of this many values are the longest. */
enum { LANES_LONGEST_ROW = 24 };
/* Can lanes hold the arguments? */
bool lanes_fit(const struct desc *d);

/* Helper functions of C for one type, row length and width, each a definition in the generated text:
 *   op2_load_NAME(lanes, rows)   `width` rows of memory into lanes
 *   op2_turn_NAME(rows, lanes)   lanes into rows one after the other, each padded to lanes_row(dim, width)
 *   op2_add_NAME(row, values)    one row of memory += values; op2_put_NAME: = values
 * where NAME is lanes_name(). Rows of one component need the first only. Once before all for a type:
 * put_lane_types, the typedefs op2_double4 and the like. */
void put_lane_types(struct generator *g, enum type_code type);
void put_lane_helpers(struct generator *g, enum type_code type, int dim);
/* The aligned vector of `n` values that put_lane_types names. */
void lanes_vector(enum type_code type, int n, char *out, size_t size);
void lanes_name(enum type_code type, int dim, char *out, size_t size);
/* Values from one row to the next behind op2_turn. */
int lanes_row(int dim, int width);

/* May what strips write to this argument go past the caches? Whole vectors must be all that is written there. */
bool lanes_can_stream(const struct desc *d, const struct desc_arg *a, int width);
/* Does all that goes past them fill whole lines with each strip? Where many lines are left in pieces, each piece
 * goes to memory by itself. */
bool lanes_fill_lines(const struct desc *d, int width);
/* Where the shape streams. Before the first strip: op2_aligned, whether vectors at the elements' addresses are; in
 * a strip its stores, with `put_plain` for those that are not; behind the last: what makes them visible to other
 * threads. */
void put_stream_check(struct generator *g);
bool is_streamed(const struct generator *g, const struct desc_arg *a);
void put_streamed_store(struct generator *g, int arg, void (*put_plain)(struct generator *g, int arg));
void put_stream_end(struct generator *g);

/* The strip of elements op2_i .. op2_i + width - 1. */
void put_strip(struct generator *g);
/* Strips from op2_i on that end before `stop`, and what waits behind the last. */
void put_strips_until(struct generator *g, const char *stop);

/* Where the shape is piped: when an argument's data are moved. */
enum stage { STAGE_STRIP, STAGE_NEXT, STAGE_BEFORE };
enum stage stage_of(const struct generator *g, const struct desc_arg *a);
/* In a strip, behind its kernel: additions of the strip before, and rows of the next one. */
void put_strip_before(struct generator *g);
void put_next_strip(struct generator *g);
/* Values of an element that are kept from one strip to another. */
int piped_values(const struct desc *d);

/* Parts of a strip: elements of a list; map entries of an argument that no other one of its stage has looked up; the
 * array op2_l3; rows into it; the array op2_r3, in which results are rows; results of one lane, added or stored. */
void put_lane_elements(struct generator *g);
void put_arg_entries(struct generator *g, int arg);
void put_dat_array(struct generator *g, int arg);
void put_dat_loads(struct generator *g, int arg);
void put_results(struct generator *g, int arg);
void put_lane_store(struct generator *g, int arg, int lane);

/* All strips of a range where the shape knows straight ranges: inside them without the map, between them by it.
 * Before all functions: put_straight_helper. Both leave the same bits as strips by the map alone. */
void put_straight_helper(struct generator *g);
void put_straight_strips(struct generator *g);
/* Before the first strip and behind the last: sums and extrema per lane, op2_k3, combined into op2_a3. */
void put_lane_accumulators(struct generator *g);
void put_lanes_accumulated(struct generator *g);

#endif
