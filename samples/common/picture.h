/* Pictures of fields, without a library for it. */
#ifndef SAMPLES_PICTURE_H
#define SAMPLES_PICTURE_H

/* Write `value` (height rows of width values, the first row at the bottom) as a PNG file, from dark blue
 * for the smallest value over white to dark red for the largest. A side of more
 * than 1024 pixels is thinned out. 0, or -1 after a message on stderr. */
int picture_png(const char *path, int width, int height, const double *value);

#endif
