/* One of each thing that a compiler puts into an object for a kernel. */
double sqrt(double);
double cbrt(double);
double hypot(double, double);
void *memset(void *, int, unsigned long);

static const double table[5] = {1, 10, 100, 1000, 10000};   /* read-only data */
static double (*const functions[2])(double) = {sqrt, cbrt}; /* pointers to outside functions */
int counter = 40;                                           /* written data */
int zeros[1000];                                            /* no bytes in the object */
int common;                                                 /* with -fcommon: no section */
static const char *const words[] = {"zero", "one", "two"};  /* pointers to inside data */

__attribute__((noinline)) double helper(double x) {
  return x + 1;
}

double use_table(int i) {
  return table[i];
}
double use_functions(int i, double x) {
  return functions[i](x);
}
int use_data(int add) {
  counter += add;
  zeros[999] += counter;
  common += 2;
  return counter + zeros[999] + zeros[0] + common;
}
double use_helper(double x) {
  return helper(x) + hypot(3, 4);
}
char use_words(int i) {
  return words[i][1];
}
const void *own_address(void) {
  return (const void *)use_words;
}
void use_memset(unsigned char *at, int value, unsigned long n) {
  memset(at, value, n);
}
/* A switch becomes a table of distances. */
int use_switch(int i, int x) {
  switch (i) {
  case 0: return x * 3;
  case 1: return x + 17;
  case 2: return x / 3;
  case 3: return x ^ 21;
  case 4: return x << 2;
  case 5: return helper(x) > 3;
  case 6: return -x;
  case 7: return x % 7;
  default: return 99;
  }
}
