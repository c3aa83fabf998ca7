/* Results as files: HDF5, and steps that ParaView opens. */
#ifndef SAMPLES_OUTPUT_H
#define SAMPLES_OUTPUT_H

#include <op2jit.h>

/* A rectangle of points for ParaView, with quadrilaterals between neighbours: point (i, j) of columns x rows is element
 * number[i + j * columns] of `points` (NULL: i + j * columns), at (i * dx, j * dy). Declares what that takes: for the
 * end of a program. 0, or -1 after the library's message. */
int output_grid(const char *path, op_set points, int columns, int rows, const int *number, double dx,
                double dy, int count, const op_dat fields[]);

#endif
