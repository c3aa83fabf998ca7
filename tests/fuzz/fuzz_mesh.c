/* Any bytes as a mesh in text: read, looked at, and never more than what is there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mesh/mesh_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct mesh_file *m) {
  struct error err = {0};
  struct mesh_map_info info;
  long long parts = 0, strange = 0;
  for (int i = 0; i < m->ntables; i++) {
    if (m->tables[i].to >= 0 && mesh_map_look(m, &m->tables[i], &info, &err) != OP_OK)
      abort();
    strange += mesh_not_finite(m, &m->tables[i]);
  }
  if (mesh_components(m, &parts, &err) != OP_OK || parts < 0 || strange < 0)
    abort();
  error_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text)
    return 0;
  if (size)
    memcpy(text, data, size);
  text[size] = '\0';
  struct mesh_file m = {0};
  struct error err = {0};
  int code = mesh_parse_airfoil(&m, "fuzz", text, size, &err);
  if (code == OP_OK)
    look(&m);
  else if (code != OP_ERR_FILE && code != OP_ERR_MEMORY)
    abort();
  mesh_file_free(&m);
  error_free(&err);
  free(text);
  return 0;
}
