/* Runs a fuzz target over files and the files of folders: the corpus as a test, without libFuzzer. */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Some targets prepare something. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static int replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return 1;
  }
  uint8_t *data = NULL;
  size_t size = 0, capacity = 0;
  for (;;) {
    if (size == capacity) {
      capacity = capacity ? 2 * capacity : 4096;
      uint8_t *larger = realloc(data, capacity);
      if (!larger)
        break;
      data = larger;
    }
    size_t got = fread(data + size, 1, capacity - size, file);
    if (got == 0)
      break;
    size += got;
  }
  int failed = ferror(file) || !feof(file);
  fclose(file);
  if (!failed)
    LLVMFuzzerTestOneInput(data, size);
  free(data);
  return failed;
}

static int replay_folder(const char *path, int *count) {
  DIR *folder = opendir(path);
  if (!folder) {
    perror(path);
    return 1;
  }
  int failed = 0;
  for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
    char name[PATH_MAX];
    struct stat status;
    if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name)
      failed = 1;
    else if (stat(name, &status) == 0 && S_ISREG(status.st_mode)) {
      failed |= replay_file(name);
      ++*count;
    }
  }
  closedir(folder);
  return failed;
}

int main(int argc, char **argv) {
  int failed = 0, count = 0;
  if (LLVMFuzzerInitialize)
    LLVMFuzzerInitialize(&argc, &argv);
  for (int i = 1; i < argc; i++) {
    struct stat status;
    if (stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode))
      failed |= replay_folder(argv[i], &count);
    else {
      failed |= replay_file(argv[i]);
      count++;
    }
  }
  printf("replayed %d inputs\n", count);
  return failed || count < 2;
}
