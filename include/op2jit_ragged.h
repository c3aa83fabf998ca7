/* Ragged maps, in which each element has any number of targets: a part of op2jit.h, which includes it. */
#ifndef OP2JIT_RAGGED_H
#define OP2JIT_RAGGED_H

/* A ragged map: each element of `from` has any number of targets, also none. Element e has targets[offsets[e]] ..
 * targets[offsets[e + 1] - 1], numbers of elements of `to` from 0. `offsets` are size(from) + 1 numbers, the first is
 * 0, and none is less than the one before it; `targets` may be NULL if there are none. Both are copied. With ranks
 * each gives those of the elements that it declared, offsets from 0 too, and global numbers as targets. Loops go
 * through it with OP_ALL (op_arg_dat). Errors: OP_ERR_HANDLE; OP_ERR_ARGUMENT for offsets; OP_ERR_MAP_RANGE for
 * targets; OP_ERR_SIZE, OP_ERR_MEMORY. */
op_map op_decl_map_ragged(op_set from, op_set to, const long long *offsets, const int *targets,
                          const char *name);
/* The set of a ragged map's entries, one for each target, in the order of `targets`: for dats on them, which loops
 * over `from` reach by that map. With ranks an entry is declared by the rank that declared its element, and moves
 * with the element. The set is freed with the map. Errors (NULL): OP_ERR_HANDLE, also for a map that is not ragged.
 * Local. */
op_set op_map_entries(op_map map);

/* A ragged map as op_dump_to_hdf5 wrote it: the targets are the dataset `name`, the offsets `name`_offsets. Errors: as
 * op_decl_map_ragged, OP_ERR_FILE, OP_ERR_NOT_BUILT. */
op_map op_decl_map_ragged_hdf5(op_set from, op_set to, const char *file, const char *name);

/* The idx of op_arg_dat for all targets of a map; of one that is not ragged the same as -arity. Through a ragged map the
 * kernel's parameter is `T **x`, and OP_ROW(x, k) the row of the k-th target, or of the k-th entry for a dat on
 * op_map_entries. Before the first argument of each ragged map the kernel gets the number of targets, `int n`. Rows are
 * whole: not of ":soa" dats of more than one component. op_arg_idx(OP_ALL, map) gives the numbers of the targets in the
 * same way, as `const int **`. */
#define OP_ALL (-0x7fffffff)

/* In a kernel: the row of the k-th target, 0 <= k < n, of an argument through a ragged map: a pointer to `dim`
 * values. Another k is a mistake: checked runs (OP2_CHECK) end with OP_ERR_VIOLATION. */
#define OP_ROW(x, k) ((x)[0] + op2jit_row((x)[1], (x)[2], (x)[3], (k)))
/* The memory behind a handle: the targets' numbers, and how far apart rows are; less than 0 for entries. Checked runs
 * give -1 - n in place of n. */
static inline ptrdiff_t op2jit_row(const void *to, const void *dim, const void *n, ptrdiff_t k) {
  if ((ptrdiff_t)n < 0 && (k < 0 || k >= -1 - (ptrdiff_t)n))
    op2jit_assert_failed("0 <= k && k < n, in OP_ROW(x, k)");
  return (ptrdiff_t)dim < 0 ? k * -(ptrdiff_t)dim : ((const int *)to)[k] * (ptrdiff_t)dim;
}

/* In a kernel, before a loop: its sums may be added up in any order, so that the library may take several targets of
 * one element at a time. Rows of many targets gain. In the program's own functions it does nothing; it expands to
 * code that the text of OP_KERNEL_DEF keeps. */
#define OP_ANY_ORDER                                                                                         \
  switch (sizeof "OP_ANY_ORDER")                                                                             \
  default:

#endif
