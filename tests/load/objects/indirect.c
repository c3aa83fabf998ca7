static int chosen(void) {
  return 1;
}
static void *choose(void) {
  return (void *)chosen;
}
int pick(void) __attribute__((ifunc("choose")));
int run(void) {
  return pick();
}
