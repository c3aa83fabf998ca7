/* vadd by hand. */
#ifndef VADD_TWIN_H
#define VADD_TWIN_H

struct vadd_arrays {
  int size;
  double *a, *b, *c;
};

/* a = i, b = 2i, c = 0, each page first touched by the thread that uses it. */
struct vadd_arrays vadd_arrays_make(int size);
void vadd_arrays_free(struct vadd_arrays *arrays);

void vadd_serial(const struct vadd_arrays *arrays);
void vadd_openmp(const struct vadd_arrays *arrays);

#endif
