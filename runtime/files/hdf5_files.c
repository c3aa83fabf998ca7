/* The plugin's table: files are opened, closed and looked through here. */
#include "hdf5_files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- open and close ---- */

static void open_id(struct file *file, const char *path, enum file_mode mode) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  /* Whatever an object is left open by, closing the file closes it. */
  if (access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
      (file->driver = hdf5_driver_use(access)) >= 0)
    file->id = mode == FILE_CREATE ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                                   : H5Fopen(path, mode == FILE_READ ? H5F_ACC_RDONLY : H5F_ACC_RDWR, access);
  /* Closing the list must not wipe out why the file did not open. */
  hid_t stack = H5Eget_current_stack();
  H5Pclose(access);
  H5Eset_current_stack(stack);
}

static void free_file(struct file *file) {
  hdf5_driver_release(file->driver);
  free(file->path);
  free(file);
}

static int open_file(struct file **out, const char *path, const char *shown, enum file_mode mode,
                     struct error *err) {
  struct file *file = calloc(1, sizeof *file);
  if (!file || !(file->path = strdup(shown))) {
    free(file);
    return error_memory(err, "a file", sizeof *file);
  }
  file->id = file->driver = -1;
  struct quiet before = quiet_begin();
  open_id(file, path, mode);
  int code = file->id >= 0 ? OP_OK
                           : hdf5_failed(file, NULL,
                                         mode == FILE_CREATE ? "the file cannot be made"
                                                             : "the file cannot be opened as an HDF5 file",
                                         err);
  if (code)
    free_file(file);
  else
    *out = file;
  quiet_end(before);
  return code;
}

static int close_file(struct file *file, struct error *err) {
  struct quiet before = quiet_begin();
  /* Everything is written now, while HDF5 can be asked how it went. */
  const bool good = H5Fflush(file->id, H5F_SCOPE_GLOBAL) >= 0 && hdf5_driver_trouble(file->id) == 0;
  int code = good ? OP_OK : hdf5_failed(file, NULL, "the file cannot be finished", err);
  if (H5Fclose(file->id) < 0 && !code) {
    file->id = -1;
    code = hdf5_failed(file, NULL, "the file cannot be finished", err);
  }
  free_file(file);
  quiet_end(before);
  return code;
}

/* ---- what is in it ---- */

static enum file_kind kind_of(struct file *file, const char *name) {
  struct quiet before = quiet_begin();
  const enum file_kind kind = hdf5_kind(file, name);
  quiet_end(before);
  return kind;
}

struct walk {
  bool (*visit)(void *user, const char *name);
  void *user;
};

static herr_t step(hid_t id, const char *name, const H5O_info_t *info, void *user) {
  struct walk *walk = user;
  (void)id;
  return info->type != H5O_TYPE_DATASET || walk->visit(walk->user, name) ? 0 : 1;
}

static int each(struct file *file, bool (*visit)(void *user, const char *name), void *user,
                struct error *err) {
  struct quiet before = quiet_begin();
  struct walk walk = {visit, user};
  int code = H5Ovisit(file->id, H5_INDEX_NAME, H5_ITER_INC, step, &walk) >= 0
                 ? OP_OK
                 : hdf5_failed(file, NULL, "its datasets cannot be listed", err);
  quiet_end(before);
  return code;
}

/* Attributes of datasets: what OP2 writes beside the rows. */

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

static int put_number(struct file *file, const char *name, const char *attribute, long long value,
                      struct error *err) {
  struct quiet before = quiet_begin();
  int small = value > INT_MAX ? INT_MAX : (int)value;
  int code = value > INT_MAX ? put(file, name, attribute, H5T_NATIVE_LLONG, &value, err)
                             : put(file, name, attribute, H5T_NATIVE_INT, &small, err);
  quiet_end(before);
  return code;
}

static int put_text(struct file *file, const char *name, const char *attribute, const char *value,
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

static bool get_number(struct file *file, const char *name, const char *attribute, long long *value) {
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

static bool get_text(struct file *file, const char *name, const char *attribute, char *out, size_t size) {
  struct quiet before = quiet_begin();
  hid_t id = open_one(file, name, attribute), type = id >= 0 ? H5Aget_type(id) : -1;
  bool good =
      type >= 0 && H5Tget_class(type) == H5T_STRING && is_single(id) && read_text(id, type, out, size);
  H5Tclose(type);
  H5Aclose(id);
  quiet_end(before);
  return good;
}

struct quiet quiet_begin(void) {
  struct quiet before = {0};
  H5Eget_auto2(H5E_DEFAULT, &before.print, &before.user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  H5Eclear2(H5E_DEFAULT);
  return before;
}

void quiet_end(struct quiet before) {
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, before.print, before.user);
}

/* The words of the system in a sentence of HDF5 ("..., error message = 'No space left on device', ..."). */
static bool system_words(const char *sentence, struct text *out) {
  static const char mark[] = "error message = '";
  const char *begin = strstr(sentence, mark), *end; /* not a message: the words of HDF5 */
  if (!begin)
    return false;
  begin += sizeof mark - 1;
  end = strchr(begin, '\'');
  text_clear(out);
  text_add_bytes(out, begin, end ? (size_t)(end - begin) : strlen(begin));
  return true;
}

/* From the place of the failure outwards: the first has the reason, unless another one quotes the system. */
static herr_t collect(unsigned number, const H5E_error2_t *e, void *user) {
  struct text *out = user;
  if (!e->desc)
    return 0;
  if (system_words(e->desc, out))
    return 1;
  if (number == 0)
    text_add(out, e->desc);
  return 0;
}

static void reason_of(struct text *out) {
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, out);
  if (!out->length)
    text_add(out, "HDF5 gives no reason");
}

int hdf5_failed(const struct file *file, const char *name, const char *what, struct error *err) {
  struct text reason = {0};
  reason_of(&reason); /* first: every call of HDF5 forgets the errors of the one before */
  const int trouble = file->id >= 0 ? hdf5_driver_trouble(file->id) : 0;
  if (trouble) {
    text_clear(&reason);
    text_add(&reason, strerror(trouble));
  }
  error_set(err, OP_ERR_FILE, "%s: %s%s%s%s: %s", file->path, name ? "\"" : "", name ? name : "",
            name ? "\": " : "", what, text_str(&reason));
  text_free(&reason);
  return OP_ERR_FILE;
}

/* ---- finds what names in a file lead to ---- */
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

/* ---- the table ---- */

__attribute__((visibility("default"))) extern const struct file_table op2jit_file_table;
const struct file_table op2jit_file_table = {
    .version = FILE_TABLE_VERSION,
    .structs = types_look_into,
    .open = open_file,
    .close = close_file,
    .kind = kind_of,
    .look = hdf5_look,
    .read = hdf5_read,
    .create = hdf5_create,
    .place = hdf5_place,
    .write = hdf5_write,
    .put_number = put_number,
    .put_text = put_text,
    .get_number = get_number,
    .get_text = get_text,
    .each = each,
};
