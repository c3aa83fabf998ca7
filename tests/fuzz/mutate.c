/* mutate COUNT FILE...: a fuzz target gets each file with so many mistakes in it, the same ones each time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long long state = 1;

static size_t pick(size_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return n ? (size_t)(state >> 33) % n : 0;
}

/* Numbers are 8 bytes wide, wherever they stand. */
static void put_number(uint8_t *data, size_t size) {
  static const long long numbers[] = {
      0, 1, -1, 2, 7, 255, 65536, 0x7fffffff, 0x80000000LL, 0x7fffffffffffffffLL};
  const size_t at = pick(size);
  long long n = numbers[pick(sizeof numbers / sizeof *numbers)];
  for (size_t i = 0; i < sizeof n && at + i < size; i++)
    data[at + i] = (uint8_t)((unsigned long long)n >> (8 * i));
}

/* A piece over another one. */
static void move(uint8_t *data, size_t size, size_t to, size_t length) {
  const size_t from = pick(size), most = size - (to > from ? to : from);
  memmove(data + to, data + from, length < most ? length : most);
}

static size_t spoil(uint8_t *data, size_t size) {
  const size_t times = 1 + pick(4);
  for (size_t i = 0; i < times && size; i++) {
    const size_t at = pick(size), length = pick(64);
    switch (pick(6)) {
    case 0: data[at] ^= (uint8_t)(1u << pick(8)); break;
    case 1: data[at] = (uint8_t)pick(256); break;
    case 2: put_number(data, size); break;
    case 3: put_number(data, size); break;
    case 4: size = pick(4) ? size : at; break;
    default: move(data, size, at, length); break;
    }
  }
  return size;
}

static int spoil_file(const char *path, long count) {
  enum { MOST = 1 << 20 };
  uint8_t *whole = malloc(MOST);
  FILE *file = fopen(path, "rb");
  const size_t size = file && whole ? fread(whole, 1, MOST, file) : 0;
  for (long i = 0; size && i < count; i++) {
    uint8_t *data = malloc(size); /* of its own, so that tools see what is read behind it */
    if (!data)
      break;
    memcpy(data, whole, size);
    LLVMFuzzerTestOneInput(data, spoil(data, size));
    free(data);
  }
  if (file)
    fclose(file);
  free(whole);
  return size == 0;
}

int main(int argc, char **argv) {
  const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
  int failed = count < 1 || argc < 3;
  for (int i = 2; i < argc; i++)
    failed |= spoil_file(argv[i], count);
  printf("%ld mistakes in each of %d files\n", count, argc - 2);
  return failed;
}
