#include <string.h>

#include "inner.h"

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
  const int trouble = file->id >= 0 && !file->together ? hdf5_driver_trouble(file->id) : 0;
  if (trouble) {
    text_clear(&reason);
    text_add(&reason, strerror(trouble));
  }
  error_set(err, OP_ERR_FILE, "%s: %s%s%s%s: %s", file->path, name ? "\"" : "", name ? name : "",
            name ? "\": " : "", what, text_str(&reason));
  text_free(&reason);
  return OP_ERR_FILE;
}
