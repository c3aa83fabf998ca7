/* Finds what names in a file lead to. */
#include <stdlib.h>
#include <string.h>

#include "inner.h"

/* Every folder on the way must be there before HDF5 may be asked for what is behind it. */
static bool is_there(const struct file *file, const char *name) {
  char *part = strdup(name);
  bool there = part != NULL && *name;
  for (char *at = part; there && *at && (at = strchr(at + 1, '/')) != NULL;) {
    *at = '\0';
    there = H5Lexists(file->id, part, H5P_DEFAULT) > 0;
    *at = '/';
  }
  there = there && H5Lexists(file->id, name, H5P_DEFAULT) > 0;
  free(part);
  return there;
}

enum file_kind hdf5_kind(const struct file *file, const char *name) {
  if (!is_there(file, name))
    return FILE_NOTHING;
  H5O_info_t info;
  const bool known = H5Oget_info_by_name(file->id, name, &info, H5P_DEFAULT) >= 0;
  return known && info.type == H5O_TYPE_DATASET ? FILE_DATASET : FILE_OTHER;
}
