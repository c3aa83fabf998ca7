/* Pictures of fields, without a library for it. */
#ifndef SAMPLES_PICTURE_H
#define SAMPLES_PICTURE_H

/* Write `value` (height rows of width values, the first row at the bottom) as a PNG file, from dark blue
 * for the smallest value over white to dark red for the largest; what is no number is grey. A side of more than 1024 values
 * is thinned out; where both have less than 400, a value is a square of pixels. Says what it wrote, and for which values the darkest blue and red stand. 0, or -1 after a message on stderr. */
int picture_png(const char *path, int width, int height, const double *value);

/* A piece of the plane, by its lower left and its upper right corner. */
struct picture_view {
  double left, bottom, right, top;
};
/* The same of a mesh of quadrilaterals, each in the colour of its value: corners[4 * c] .. are the points of cell c, in order
 * round it, place[2 * p] .. where point p is. Grey is where there is no cell. */
int picture_cells(const char *path, struct picture_view view, int cells, const int *corners,
                  const double *place, const double *value);

#endif
