#include "arguments.h"

#include "memory.h"

#include <op2jit.h>
#include <stdlib.h>
#include <string.h>

int init_with(int argc, char **argv, int diags, const char *word) {
  size_t length = strcspn(word, "=") + 1;
  for (int i = 1; i < argc; i++)
    if (!strncmp(argv[i], word, length))
      return op_init(argc, argv, diags);
  char **words = room(argc + 2, sizeof *words);
  memcpy(words, argv, (size_t)argc * sizeof *words);
  words[argc] = (char *)word;
  words[argc + 1] = NULL;
  int status = op_init(argc + 1, words, diags);
  free(words);
  return status;
}
