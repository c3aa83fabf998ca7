int ran;
__attribute__((constructor)) static void before(void) {
  ran = 1;
}
