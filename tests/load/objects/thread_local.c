static __thread int mine;
int *where(void) {
  return &mine;
}
