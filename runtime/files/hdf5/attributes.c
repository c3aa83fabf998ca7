/* Attributes of datasets: what OP2 writes beside the rows. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "inner.h"

/* `value` of one `type`, read back by that type. */
static int put(struct file *file, const char *name, const char *attribute, hid_t type, const void *value,
               struct error *err) {
  hid_t space = H5Screate(H5S_SCALAR);
  if (H5Aexists_by_name(file->id, name, attribute, H5P_DEFAULT) > 0)
    H5Adelete_by_name(file->id, name, attribute, H5P_DEFAULT);
  hid_t id = H5Acreate_by_name(file->id, name, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int code = id >= 0 && H5Awrite(id, type, value) >= 0
                 ? OP_OK
                 : hdf5_failed(file, name, "an attribute cannot be written", err);
  H5Aclose(id);
  H5Sclose(space);
  return code;
}

int hdf5_put_number(struct file *file, const char *name, const char *attribute, long long value,
                    struct error *err) {
  struct quiet before = quiet_begin();
  int small = value > INT_MAX ? INT_MAX : (int)value;
  int code = value > INT_MAX ? put(file, name, attribute, H5T_NATIVE_LLONG, &value, err)
                             : put(file, name, attribute, H5T_NATIVE_INT, &small, err);
  quiet_end(before);
  return code;
}

int hdf5_put_text(struct file *file, const char *name, const char *attribute, const char *value,
                  struct error *err) {
  struct quiet before = quiet_begin();
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(value) + 1);
  int code = put(file, name, attribute, type, value, err);
  H5Tclose(type);
  quiet_end(before);
  return code;
}

static hid_t open_one(struct file *file, const char *name, const char *attribute) {
  return H5Aexists_by_name(file->id, name, attribute, H5P_DEFAULT) > 0
             ? H5Aopen_by_name(file->id, name, attribute, H5P_DEFAULT, H5P_DEFAULT)
             : -1;
}

/* One value: an attribute may be an array. */
static bool is_single(hid_t id) {
  hid_t space = H5Aget_space(id);
  hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
  H5Sclose(space);
  return points == 1;
}

bool hdf5_get_number(struct file *file, const char *name, const char *attribute, long long *value) {
  struct quiet before = quiet_begin();
  hid_t id = open_one(file, name, attribute), type = id >= 0 ? H5Aget_type(id) : -1;
  bool good = type >= 0 && H5Tget_class(type) == H5T_INTEGER && is_single(id) &&
              H5Aread(id, H5T_NATIVE_LLONG, value) >= 0;
  H5Tclose(type);
  H5Aclose(id);
  quiet_end(before);
  return good;
}

/* Strings of a fixed length, or a pointer to one of any length. */
static bool read_text(hid_t id, hid_t type, char *out, size_t size) {
  if (H5Tis_variable_str(type) > 0) {
    char *text = NULL;
    hid_t memory = H5Tcopy(type);
    bool good = H5Aread(id, memory, &text) >= 0 && text && strlen(text) < size;
    if (good)
      memcpy(out, text, strlen(text) + 1);
    H5Tclose(memory);
    if (text)
      H5free_memory(text);
    return good;
  }
  size_t length = H5Tget_size(type);
  if (length == 0 || length >= size)
    return false;
  memset(out, 0, size);
  return H5Aread(id, type, out) >= 0;
}

bool hdf5_get_text(struct file *file, const char *name, const char *attribute, char *out, size_t size) {
  struct quiet before = quiet_begin();
  hid_t id = open_one(file, name, attribute), type = id >= 0 ? H5Aget_type(id) : -1;
  bool good =
      type >= 0 && H5Tget_class(type) == H5T_STRING && is_single(id) && read_text(id, type, out, size);
  H5Tclose(type);
  H5Aclose(id);
  quiet_end(before);
  return good;
}
