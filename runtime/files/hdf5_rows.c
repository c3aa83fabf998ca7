/* Datasets: what they are, and their rows. */
#include <limits.h>
#include <stdio.h>

#include "hdf5_files.h"

/* ---- types ---- */

static hid_t hdf5_type(enum type_code type);

/* Members with their names, those of a struct within with dots; several of one kind as an array. */
static hid_t member_type(const struct type_member *m) {
  const size_t size = type_info(m->type)->size;
  if (m->type == TYPE_NONE)
    return H5Tcreate(H5T_OPAQUE, m->size);
  const hsize_t count = m->size / size;
  return count == 1 ? H5Tcopy(hdf5_type(m->type)) : H5Tarray_create2(hdf5_type(m->type), 1, &count);
}

/* Made once, and kept as the native ones are. The memory's layout is also the file's. */
static hid_t struct_type(enum type_code type) {
  static struct {
    hid_t id;
    const char *name; /* a program may begin again, with other structs */
  } made[TYPES_OF_PROGRAM];
  const struct type_info *info = type_info(type);
  const int number = (int)type - TYPE_COUNT - 1;
  if (made[number].name == info->name)
    return made[number].id;
  if (made[number].name)
    H5Tclose(made[number].id);
  made[number].id = H5Tcreate(H5T_COMPOUND, info->size);
  made[number].name = info->name;
  for (int i = 0; i < info->nmembers; i++) {
    const hid_t member = member_type(&info->members[i]);
    H5Tinsert(made[number].id, info->members[i].name, info->members[i].offset, member);
    H5Tclose(member);
  }
  return made[number].id;
}

/* The type in memory, and in files. */
static hid_t hdf5_type(enum type_code type) {
  if (type_is_struct(type))
    return struct_type(type);
  switch (type) {
  case TYPE_DOUBLE: return H5T_NATIVE_DOUBLE;
  case TYPE_FLOAT: return H5T_NATIVE_FLOAT;
  case TYPE_INT: return H5T_NATIVE_INT;
  case TYPE_UINT: return H5T_NATIVE_UINT;
  case TYPE_LONGLONG: return H5T_NATIVE_LLONG;
  case TYPE_ULONGLONG: return H5T_NATIVE_ULLONG;
  case TYPE_BOOL: return H5T_NATIVE_UCHAR;
  case TYPE_CHAR: return H5T_NATIVE_CHAR;
  case TYPE_SHORT: return H5T_NATIVE_SHORT;
  default: return -1;
  }
}

/* The smallest type that holds whole numbers of this many bytes. */
static enum type_code whole_number(size_t size, bool has_sign) {
  switch (size) {
  case 1: return has_sign ? TYPE_CHAR : TYPE_BOOL;
  case 2: return has_sign ? TYPE_SHORT : TYPE_INT;
  case 4: return has_sign ? TYPE_INT : TYPE_UINT;
  case 8: return has_sign ? TYPE_LONGLONG : TYPE_ULONGLONG;
  default: return TYPE_NONE;
  }
}

/* Says which type of ours holds the values of a file's. */
static void hdf5_describe(hid_t type, struct file_dataset *out) {
  const size_t size = H5Tget_size(type);
  const H5T_class_t class = H5Tget_class(type);
  const bool has_sign = class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
  out->type = TYPE_NONE;
  if (class == H5T_INTEGER) {
    out->type = whole_number(size, has_sign);
    snprintf(out->words, sizeof out->words, "%zu-bit %sintegers", 8 * size, has_sign ? "" : "unsigned ");
  } else if (class == H5T_FLOAT) {
    out->type = size <= 4 ? TYPE_FLOAT : size <= 8 ? TYPE_DOUBLE : TYPE_NONE;
    snprintf(out->words, sizeof out->words, "%zu-bit floating point", 8 * size);
  } else if (class == H5T_COMPOUND) {
    out->compound = true;
    snprintf(out->words, sizeof out->words, "structs of %zu bytes", size);
  } else
    snprintf(out->words, sizeof out->words, "%s", class == H5T_STRING ? "strings" : "no numbers");
}

/* ---- looking ---- */

static int look_at(struct file *file, const char *name, hid_t dataset, struct file_dataset *out,
                   struct error *err) {
  hsize_t extents[H5S_MAX_RANK];
  hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  int rank = space >= 0 ? H5Sget_simple_extent_dims(space, extents, NULL) : -1, code = OP_OK;
  *out = (struct file_dataset){.rank = rank};
  if (rank < 0 || type < 0)
    code = hdf5_failed(file, name, "its shape cannot be read", err);
  else if (rank > FILE_RANK_MOST)
    code = error_set(err, OP_ERR_FILE, "%s: \"%s\": it has %d dimensions; expected 1 or 2", file->path, name,
                     rank);
  else {
    for (int i = 0; i < rank && !code; i++) {
      out->extents[i] = (long long)extents[i];
      if (extents[i] > LLONG_MAX)
        code = error_set(err, OP_ERR_FILE, "%s: \"%s\": its size is damaged", file->path, name);
    }
    hdf5_describe(type, out);
  }
  H5Tclose(type);
  H5Sclose(space);
  return code;
}

int hdf5_look(struct file *file, const char *name, struct file_dataset *out, struct error *err) {
  struct quiet before = quiet_begin();
  hid_t dataset = H5Dopen2(file->id, name, H5P_DEFAULT);
  int code = dataset >= 0 ? look_at(file, name, dataset, out, err)
                          : hdf5_failed(file, name, "the dataset cannot be opened", err);
  H5Dclose(dataset);
  quiet_end(before);
  return code;
}

/* ---- rows ---- */

/* The first value that would change by being read as another type. */
struct misfit {
  bool found;
  H5T_conv_except_t what;
};

static H5T_conv_ret_t look_at_misfit(H5T_conv_except_t what, hid_t from, hid_t to, void *value, void *target,
                                     void *user) {
  struct misfit *misfit = user;
  (void)to, (void)value, (void)target;
  const bool whole = H5Tget_class(from) == H5T_INTEGER || H5Tget_class(to) == H5T_FLOAT;
  /* Between formats of floating point infinities and NaNs stay what they are; digits may go. */
  if (what == H5T_CONV_EXCEPT_PRECISION ||
      (whole && what != H5T_CONV_EXCEPT_RANGE_HI && what != H5T_CONV_EXCEPT_RANGE_LOW))
    return H5T_CONV_UNHANDLED;
  misfit->found = true;
  misfit->what = what;
  return H5T_CONV_ABORT;
}

/* The rows of the dataset, and as many values in memory. */
static bool select_rows(hid_t dataset, long long first, long long rows, hid_t *in_file, hid_t *in_memory) {
  hsize_t start[H5S_MAX_RANK] = {0}, count[H5S_MAX_RANK] = {1}, values = 1;
  *in_memory = -1;
  *in_file = H5Dget_space(dataset);
  int rank = *in_file >= 0 ? H5Sget_simple_extent_dims(*in_file, count, NULL) : -1;
  if (rank < 0)
    return false;
  if (rank > 0) {
    start[0] = (hsize_t)first;
    count[0] = (hsize_t)rows;
  }
  for (int i = 0; i < rank; i++)
    values *= count[i];
  if (rank > 0 && values > 0 && H5Sselect_hyperslab(*in_file, H5S_SELECT_SET, start, NULL, count, NULL) < 0)
    return false;
  hsize_t length = values ? values : 1;
  *in_memory = H5Screate_simple(1, &length, NULL);
  return *in_memory >= 0 && (values || (H5Sselect_none(*in_file) >= 0 && H5Sselect_none(*in_memory) >= 0));
}

static int misfit_error(const struct file *file, const char *name, enum type_code type,
                        const struct misfit *misfit, struct error *err) {
  const char *what = misfit->what == H5T_CONV_EXCEPT_TRUNCATE ? "has a fraction"
                     : misfit->what == H5T_CONV_EXCEPT_RANGE_HI || misfit->what == H5T_CONV_EXCEPT_RANGE_LOW
                         ? "is too large or too small"
                         : "is not a number or infinite";
  return error_set(err, OP_ERR_TYPE,
                   "%s: \"%s\": a value %s for the type %s; declare a type that holds the file's values",
                   file->path, name, what, type_info(type)->name);
}

/* HDF5 leaves a member that the file has not as it is, without a word. */
static int check_members(const struct file *file, const char *name, hid_t dataset, enum type_code type,
                         struct error *err) {
  const struct type_info *info = type_info(type);
  hid_t there = H5Dget_type(dataset);
  int code = OP_OK;
  for (int i = 0; i < info->nmembers && !code; i++)
    if (H5Tget_member_index(there, info->members[i].name) < 0)
      code = error_set(err, OP_ERR_TYPE, "%s: \"%s\": its structs have no member %s, which %s has",
                       file->path, name, info->members[i].name, info->name);
  H5Tclose(there);
  return code;
}

static int read_rows(struct file *file, const char *name, hid_t dataset, enum type_code type, long long first,
                     long long rows, void *out, struct error *err) {
  struct misfit misfit = {0};
  hid_t in_file, in_memory, list = H5Pcreate(H5P_DATASET_XFER);
  int code = OP_OK;
  H5Pset_type_conv_cb(list, look_at_misfit, &misfit);
  static char nothing[16]; /* HDF5 wants an address also for no values */
  if (!select_rows(dataset, first, rows, &in_file, &in_memory))
    code = hdf5_failed(file, name, "its rows cannot be chosen", err);
  else if (H5Dread(dataset, hdf5_type(type), in_memory, in_file, list, out ? out : nothing) < 0)
    code = misfit.found ? misfit_error(file, name, type, &misfit, err)
                        : hdf5_failed(file, name, "its rows cannot be read", err);
  H5Sclose(in_memory);
  H5Sclose(in_file);
  H5Pclose(list);
  return code;
}

int hdf5_read(struct file *file, const char *name, enum type_code type, long long first, long long rows,
              void *out, struct error *err) {
  struct quiet before = quiet_begin();
  hid_t dataset = H5Dopen2(file->id, name, H5P_DEFAULT);
  int code = dataset >= 0 ? check_members(file, name, dataset, type, err)
                          : hdf5_failed(file, name, "the dataset cannot be opened", err);
  if (!code)
    code = read_rows(file, name, dataset, type, first, rows, out, err);
  H5Dclose(dataset);
  quiet_end(before);
  return code;
}

/* ---- writing ---- */

/* With a folder all that is in it would go. */
static int make_way(struct file *file, const char *name, struct error *err) {
  switch (hdf5_kind(file, name)) {
  case FILE_NOTHING: return OP_OK;
  case FILE_DATASET:
    return H5Ldelete(file->id, name, H5P_DEFAULT) >= 0
               ? OP_OK
               : hdf5_failed(file, name, "the dataset cannot be replaced", err);
  default:
    return error_set(
        err, OP_ERR_FILE,
        "%s: \"%s\" is a folder of the file, not a dataset, and is not replaced; name another place",
        file->path, name);
  }
}

/* Folders are made as needed. Rows are written once, so that nothing need be there before; but their place is, for
 * those that write them there themselves. */
int hdf5_create(struct file *file, const char *name, enum type_code type, int rank, const long long extents[],
                struct error *err) {
  struct quiet before = quiet_begin();
  hsize_t lengths[FILE_RANK_MOST];
  for (int i = 0; i < rank; i++)
    lengths[i] = (hsize_t)extents[i];
  hid_t links = H5Pcreate(H5P_LINK_CREATE), list = H5Pcreate(H5P_DATASET_CREATE), dataset = -1;
  hid_t space = rank ? H5Screate_simple(rank, lengths, NULL) : H5Screate(H5S_SCALAR);
  int code = make_way(file, name, err);
  if (!code && H5Pset_create_intermediate_group(links, 1) >= 0 &&
      H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0 && H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0)
    dataset = H5Dcreate2(file->id, name, hdf5_type(type), space, links, list, H5P_DEFAULT);
  if (!code && dataset < 0)
    code = hdf5_failed(file, name, "the dataset cannot be made", err);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(list);
  H5Pclose(links);
  quiet_end(before);
  return code;
}

int hdf5_place(struct file *file, const char *name, long long *place, struct error *err) {
  struct quiet before = quiet_begin();
  hid_t dataset = H5Dopen2(file->id, name, H5P_DEFAULT);
  int code = dataset >= 0 ? OP_OK : hdf5_failed(file, name, "the dataset cannot be opened", err);
  const haddr_t at = code ? HADDR_UNDEF : H5Dget_offset(dataset);
  *place = at == HADDR_UNDEF ? -1 : (long long)at;
  H5Dclose(dataset);
  quiet_end(before);
  return code;
}

static int write_rows(struct file *file, const char *name, hid_t dataset, enum type_code type,
                      long long first, long long rows, const void *data, struct error *err) {
  static const char nothing[16];
  hid_t in_file, in_memory;
  int code = OP_OK;
  if (!select_rows(dataset, first, rows, &in_file, &in_memory) ||
      H5Dwrite(dataset, hdf5_type(type), in_memory, in_file, H5P_DEFAULT, data ? data : nothing) < 0)
    code = hdf5_failed(file, name, "its rows cannot be written", err);
  H5Sclose(in_memory);
  H5Sclose(in_file);
  return code;
}

int hdf5_write(struct file *file, const char *name, enum type_code type, long long first, long long rows,
               const void *data, struct error *err) {
  struct quiet before = quiet_begin();
  hid_t dataset = H5Dopen2(file->id, name, H5P_DEFAULT);
  int code = dataset >= 0 ? write_rows(file, name, dataset, type, first, rows, data, err)
                          : hdf5_failed(file, name, "the dataset cannot be opened", err);
  H5Dclose(dataset);
  quiet_end(before);
  return code;
}
