/* Results as files that ParaView opens. */
#ifndef SAMPLES_OUTPUT_H
#define SAMPLES_OUTPUT_H

#include <op2jit.h>

/* After op_init, before anything is computed: opens what writes both, if one is wanted (not NULL). Without HDF5 the library says so,
 * and ends the program. */
void output_prepare(const char *hdf5, const char *vtk);
/* Says that the file `path` was written, with `ending` if it has not that already, unless `failed`; 0, or -1 if it was. */
int output_said(int failed, const char *path, const char *ending);
/* The same of what op_write_vtk writes under this name. */
int output_vtk_said(int failed, const char *name);

/* A rectangle of points for ParaView, with quadrilaterals between neighbours: point (i, j) of columns x rows is element
 * number[i + j * columns] of `points` (NULL: i + j * columns), at (i * dx, j * dy). `time`: of the state; NULL: it has none. Declares what that takes: for the
 * end of a program. 0, or -1 after the library's message. */
int output_grid(const char *path, const double *time, op_set points, int columns, int rows, const int *number,
                double dx, double dy, int count, const op_dat fields[]);
/* Fields on cells: side x side squares of the unit square, in rows; and hexagons whose middles are one apart, in rows of
 * `columns`, odd rows half a cell to the right. Declare what that takes, too. */
int output_squares(const char *path, op_set cells, int side, int count, const op_dat fields[]);
int output_hexagons(const char *path, const double *time, op_set cells, int columns, int rows, int count,
                    const op_dat fields[]);

#endif
