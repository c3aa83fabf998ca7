/* The kernels of reduction.c, which includes this file and gives it to the library. */

static void sum(const double *x, const double *row, double *all, double *three) {
  *all += *x;
  for (int k = 0; k < 3; k++)
    three[k] += row[k];
}

static void least(const double *x, const int *e, double *smallest, int *place) {
  if (*x < *smallest) {
    *smallest = *x;
    *place = *e;
  }
}

static void most(const double *x, const int *e, double *largest, int *place) {
  if (*x > *largest) {
    *largest = *x;
    *place = *e;
  }
}

static void carry(const double *x, const double *row, double *largest, double *carried) {
  if (*x > *largest) {
    *largest = *x;
    for (int k = 0; k < 3; k++)
      carried[k] = row[k];
  }
}

static void scatter(const double *x, double *one, double *other) {
  *one += *x;
  *other += *x;
}
