/* Data in files, and in arrays of the program: a part of op2jit.h, which includes it. */
#ifndef OP2JIT_IO_H
#define OP2JIT_IO_H

/* ---- arrays of the program ---------------------------------------------------------------------*/

/* Data that stay in the program's array: size(set)*dim values at `array`, the dat's first ones. The array must stay
 * until op_exit, op_free_dat or op_free_dat_temp, and overlap no other view's. The library works in it without a copy
 * where it can. It keeps its own copy where ranks or renumbering put elements elsewhere, for ":soa", for an array
 * that is not aligned to the type, and where vectors would reach behind its end. Answers are the same. The report
 * says which dats have copies, and why. Until the program acquires the dat, the array may hold any values, and must
 * not be written to. All three calls leave the dat's values in the array. Errors: as op_decl_dat; OP_ERR_ARGUMENT for
 * NULL; OP_ERR_ALIAS. */
op_dat op_decl_dat_view(op_set set, int dim, const char *type, void *array, const char *name);

/* The array of a view, with the dat's values, for the program to read (OP_READ), to write whole (OP_WRITE: what it
 * holds before is undefined), or both (OP_RW). Under MPI: of the elements that this rank declared. Until op_release,
 * loops and calls that use the dat get OP_ERR_STATE. Costs almost nothing where nothing has to move. NULL only at an
 * error: OP_ERR_HANDLE, also for a dat that is no view; OP_ERR_ACCESS; OP_ERR_STATE if it is acquired already. */
void *op_acquire(op_dat dat, op_access access);
/* The array is the library's again; the values written are the dat's. Errors: OP_ERR_HANDLE; OP_ERR_STATE if the dat
 * is not acquired. */
int op_release(op_dat dat);

/* ---- files without HDF5 ------------------------------------------------------------------------*/

/* Text: a line "size dim", then a row of values (%.17g) per element. Binary: size and dim as two ints,
 * then the rows. Written aside and renamed: a file is whole or absent. Errors: OP_ERR_FILE. */
int op_print_dat_to_txtfile(op_dat dat, const char *path);
int op_print_dat_to_binfile(op_dat dat, const char *path);

/* ---- files: a plugin on HDF5; OP_ERR_NOT_BUILT without it ---------------------------------------
 * The layout is OP2's: a set is a dataset of one whole number; a map or a dat is a table with a row for each element;
 * a constant is a dataset of its values. Names may hold '/', for folders in the file. Rows are in the user's order.
 * Under MPI a set is divided evenly over the ranks, and each rank reads and writes the rows that it declared.
 * A file is written under another name (FILE.PID.part) and renamed when it is whole: until then the old one stays. To
 * add something to a file costs a copy of it. Errors are the same on all ranks: OP_ERR_FILE, with the names of file
 * and dataset and the reason of the system; OP_ERR_TYPE, OP_ERR_DIM, OP_ERR_SIZE, OP_ERR_MAP_RANGE for what does not
 * fit. */

/* Open the plugin now; else the first call on files does it. For programs that compute for long before they write,
 * and want to know first that they can. Touches no file. Errors: OP_ERR_NOT_BUILT, with the package; OP_ERR_FILE. */
int op_open_hdf5(void);
/* A set of the size that the dataset `name` says, or of as many elements as the dataset `data_name` has rows. */
op_set op_decl_set_hdf5(const char *file, const char *name);
op_set op_decl_set_hdf5_infer_size(const char *file, const char *name, const char *data_name);
/* A map of the table `name`: whole numbers of any width, `arity` in a row. */
op_map op_decl_map_hdf5(op_set from, op_set to, int arity, const char *file, const char *name);
/* A dat of the table `name`. Numbers of another type are converted; one that does not fit is an error. */
op_dat op_decl_dat_hdf5(op_set set, int dim, const char *type, const char *file, const char *name);
/* The `dim` values of `name` into `value`; converted as those of dats. */
int op_get_const_hdf5(const char *name, int dim, const char *type, void *value, const char *file);
/* Write a constant into a new or existing file. A dataset of that name is replaced, but no folder, set or map
 * (OP_ERR_FILE). */
int op_write_const_hdf5(const char *name, int dim, const char *type, const void *value, const char *file);
/* All sets, maps and dats (no temporaries) into a new file. Names must differ, also from a ragged map's NAME_offsets. */
int op_dump_to_hdf5(const char *file);
/* Write a dat into a new or existing file, under its own or another name. It replaces what op_write_const_hdf5
 * may. */
int op_fetch_data_hdf5_file(op_dat dat, const char *file);
int op_fetch_data_hdf5_file_path(op_dat dat, const char *file, const char *path_in_file);

/* Dats for ParaView, which opens PATH.xdmf. The numbers are beside it: in PATH.data.h5, or for step 12 of a time
 * series (`step` >= 0) in PATH.000012.h5. Steps before this one stay in PATH.xdmf, those of an earlier run too. Later
 * ones are taken out of it; their files of numbers stay until they are written again. A PATH.xdmf that this call did
 * not write is left alone (OP_ERR_FILE). The mesh is written once, and again when the coordinates changed.
 *   Points       dats[0] holds their coordinates: double or float, dim 1 to 3. Its set is the points.
 *   Cells        The sets of the other dats that are not on the points. If there are none: all sets with a map of
 *                arity 3 or more to the points; if there are none either, of arity 2. The cells of a set are the rows
 *                of its widest map of arity 2 to 8 to the points, or ragged with three targets or more for each
 *                element; of several the first declared. In three dimensions also those of a map with four targets or
 *                more to a set of such cells, which are their faces, if the set has no map of one arity to the points.
 *   Their form   By arity: 2 lines, 3 triangles, 4 quadrilaterals, 5 and more, or ragged, polygons, points in order round
 *                the cell. In three dimensions 4 tetrahedra, 5 pyramids, 6 wedges, 8 hexahedra, points in VTK's order,
 *                unless they are flat: the mean over all cells of the set decides. With faces: polyhedra.
 *   Fields       Each other dat is one, on points or cells. Dats of one name on several sets of cells are one field;
 *                where a set has none there are NaNs, or zeros in whole numbers. Vectors of two reals get a third
 *                component, 0.
 * Errors: OP_ERR_FILE, OP_ERR_ARGUMENT, OP_ERR_MAP_SET, OP_ERR_DIM. */
int op_write_vtk(const char *path, int step, int ndats, const op_dat dats[]);
/* The same with the time of the step, which ParaView shows in place of its number; also where there is no series. It
 * must be finite (OP_ERR_ARGUMENT). */
int op_write_vtk_at(const char *path, int step, double time, int ndats, const op_dat dats[]);

#endif
