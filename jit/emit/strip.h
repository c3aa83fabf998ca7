/* Strips: several elements at a time, one per lane. The data of a strip's elements are brought into lanes (component by
 * component, `width` values each), the kernel runs on the lanes in a loop that clang makes one vector operation of,
 * and results go back. Names in a strip:
 *   op2_l3 the lanes of argument 3, value c of lane l of target v at [(v * dim + c) * width + l]
 *   op2_b3 what an extremum began with   op2_r3 results of argument 3 turned back into rows
 *   op2_m0_1[l] map entries   op2_o0_1 what they are more than their elements
 * and inside the loop over lanes op2_a3 and op2_v3 as for one element. */
#ifndef OP2JIT_JIT_EMIT_STRIP_H
#define OP2JIT_JIT_EMIT_STRIP_H

#include "jit/emit/skeleton.h"

/* ---- strip.c: what the loop is made of ----*/

/* The strip of elements op2_i .. op2_i + width - 1. */
void put_strip(struct generator *g);
/* Strips from op2_i on that end before `stop`, and what waits behind the last. */
void put_strips_until(struct generator *g, const char *stop);
/* All strips of a range where the shape knows straight ranges: inside them without the map, between them by it.
 * Before all functions: put_straight_helper. Both leave the same bits as strips by the map alone. */
void put_straight_helper(struct generator *g);
void put_straight_strips(struct generator *g);
/* Before the first strip and behind the last: sums and extrema per lane, op2_k3, combined into op2_a3. */
void put_lane_accumulators(struct generator *g);
void put_lanes_accumulated(struct generator *g);
/* For sums that are exact (base/exact.h), which `strips_sum` says there are: types and functions, before the kernel's text. */
bool strips_sum(const struct generator *g);
void put_exact_helpers(struct generator *g);

/* ---- strip_load.c: where what a lane works on is in memory ----*/

/* The element of a lane (a number or "op2_l"), its target by column `col` of the argument's map, the address of that
 * target's row, or of component `c` of it. */
void lane_element(const struct generator *g, const char *lane, char *out, size_t size);
void lane_target(const struct generator *g, const struct desc_arg *a, int col, const char *lane, char *out,
                 size_t size);
void lane_address(const struct generator *g, const struct desc_arg *a, int col, int c, const char *lane,
                  char *out, size_t size);
/* True: lanes' elements or targets follow one another in memory, so that no row needs turning. */
bool lanes_follow_in_memory(const struct generator *g, const struct desc_arg *a);
/* How many components are turned at once: a whole row, or one of data that lie apart. */
int lanes_turned(const struct generator *g, const struct desc_arg *a);

/* ---- strip_load.c: into lanes ----*/

/* All that an argument has in lanes before the kernel runs. */
void put_lanes(struct generator *g, int arg);
/* Parts of it: elements of a list; map entries of an argument that no other one of its stage has looked up; the array
 * op2_l3; rows into it. */
void put_lane_elements(struct generator *g);
void put_arg_entries(struct generator *g, int arg);
void put_dat_array(struct generator *g, int arg);
void put_dat_loads(struct generator *g, int arg);
/* The kernel needs the values or numbers that the argument names. */
bool arg_is_loaded(const struct desc_arg *a);
/* True: results of a global stay in lanes until all are known. */
bool arg_keeps_lanes(const struct desc_arg *a);
/* Numbers that stand in lanes; others are made inside the loop over lanes, by put_made_numbers. */
bool arg_has_number_lanes(const struct generator *g, const struct desc_arg *a);
void put_made_numbers(struct generator *g, int arg);

/* ---- strip_store.c, strip_lanes.c: out of lanes -----------------------------------------------------*/

/* The results of all arguments that go to dats. */
void put_stores(struct generator *g);
/* Parts of it: the array op2_r3, in which results are rows; results of one lane, added or stored. */
void put_results(struct generator *g, int arg);
void put_lane_store(struct generator *g, int arg, int lane);

/* True: results that strips write to this argument may go past the caches. Nothing but whole vectors is written there. */
bool lanes_can_stream(const struct desc *d, const struct desc_arg *a, int width);
/* True: all that goes past them fills whole lines with each strip. Where many lines are left in pieces, each piece
 * goes to memory by itself. */
bool lanes_fill_lines(const struct desc *d, int width);
/* Where the shape streams. Before the first strip: op2_aligned, whether vectors at the elements' addresses are; in
 * a strip its stores, with `put_plain` for those that are not; behind the last: what makes them visible to other
 * threads. */
void put_stream_check(struct generator *g);
bool is_streamed(const struct generator *g, const struct desc_arg *a);
void put_streamed_store(struct generator *g, int arg, void (*put_plain)(struct generator *g, int arg));
void put_stream_end(struct generator *g);

/* ---- strip_stages.c, strip.c: strips in stages ------------------------------------------------------*/

/* Where the shape is piped: when an argument's data are moved. */
enum stage { STAGE_STRIP, STAGE_NEXT, STAGE_BEFORE };
enum stage stage_of(const struct generator *g, const struct desc_arg *a);
/* True: there are rows that are added to through maps, and not touched otherwise. */
bool stages_wait(const struct desc *d);
/* Values of an element that are kept from one strip to another. */
int stages_keep(const struct desc *d);

#endif
