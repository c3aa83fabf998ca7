/* What one file has and another lacks: datasets as they are, folders, links and attributes. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "inner.h"

/* An object that has several names, and the first of them. */
struct named {
  haddr_t address;
  char *name;
};

struct copying {
  struct file *from, *to;
  const char *name; /* whose attributes are copied */
  hid_t object;     /* that gets them */
  struct named *named;
  int nnamed;
  int code;
  struct error *err;
};

static herr_t failed(struct copying *c, const char *name, const char *what) {
  c->code = hdf5_failed(c->from, name, what, c->err);
  return -1;
}

/* They name objects of their own file. */
static herr_t references(struct copying *c, const char *name) {
  c->code = error_set(c->err, OP_ERR_FILE,
                      "%s: \"%s\" holds references to objects of the file, which cannot be copied",
                      c->from->path, name);
  return -1;
}

/* ---- attributes ---- */

static bool copy_value(hid_t from, hid_t type, hid_t space, hid_t to, const char *name) {
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  void *value = points >= 0 ? calloc((size_t)points + 1, H5Tget_size(type)) : NULL;
  hid_t id = value ? H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
  bool good = id >= 0;
  /* An attribute may have no value at all. */
  if (good && points > 0) {
    good = H5Aread(from, type, value) >= 0 && H5Awrite(id, type, value) >= 0;
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, value);
  }
  H5Aclose(id);
  free(value);
  return good;
}

static herr_t copy_attribute(hid_t object, const char *name, const H5A_info_t *info, void *user) {
  struct copying *c = user;
  (void)info;
  if (H5Aexists(c->object, name) > 0)
    return 0;
  hid_t from = H5Aopen(object, name, H5P_DEFAULT), own = H5Aget_type(from), space = H5Aget_space(from);
  hid_t type = H5Tcopy(own); /* the file's own may be one that it names */
  herr_t result = 0;
  if (H5Tdetect_class(type, H5T_REFERENCE) > 0)
    result = references(c, c->name);
  else if (!copy_value(from, type, space, c->object, name))
    result = failed(c, c->name, "an attribute cannot be copied");
  H5Tclose(type);
  H5Tclose(own);
  H5Sclose(space);
  H5Aclose(from);
  return result;
}

static herr_t copy_attributes(struct copying *c, const char *name) {
  hid_t from = H5Oopen(c->from->id, name, H5P_DEFAULT);
  c->name = name;
  c->object = H5Oopen(c->to->id, name, H5P_DEFAULT);
  herr_t result = from >= 0 && c->object >= 0
                      ? H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_attribute, c)
                      : -1;
  if (result < 0 && !c->code)
    failed(c, name, "its attributes cannot be copied");
  H5Oclose(c->object);
  H5Oclose(from);
  return result;
}

/* ---- objects ---- */

static bool refers(hid_t file, const char *name) {
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(dataset);
  const bool found = H5Tdetect_class(type, H5T_REFERENCE) > 0;
  H5Tclose(type);
  H5Dclose(dataset);
  return found;
}

static const char *first_name(const struct copying *c, haddr_t address) {
  for (int i = 0; i < c->nnamed; i++)
    if (c->named[i].address == address)
      return c->named[i].name;
  return NULL;
}

static herr_t note_name(struct copying *c, haddr_t address, const char *name) {
  struct named *more = array_resize(c->named, (size_t)c->nnamed + 1, sizeof *more);
  char *copy = more ? strdup(name) : NULL;
  c->named = more ? more : c->named;
  if (!copy) {
    c->code = error_memory(c->err, "the names in a file", sizeof *more);
    return -1;
  }
  c->named[c->nnamed++] = (struct named){address, copy};
  return 0;
}

static herr_t copy_folder(struct copying *c, const char *name) {
  hid_t group = H5Gcreate2(c->to->id, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const bool made = group >= 0;
  H5Gclose(group);
  return made ? copy_attributes(c, name) : failed(c, name, "it cannot be copied");
}

/* A folder is gone through link by link, under its first name. Every other name of an object leads to the same copy. */
static herr_t copy_object(struct copying *c, const char *name) {
  H5O_info_t info;
  if (H5Oget_info_by_name(c->from->id, name, &info, H5P_DEFAULT) < 0)
    return failed(c, name, "it cannot be read");
  const char *first = first_name(c, info.addr);
  if (!first && info.rc > 1 && note_name(c, info.addr, name) < 0)
    return -1;
  if (hdf5_there(c->to, name))
    return copy_attributes(c, name);
  if (first)
    return H5Lcreate_hard(c->to->id, first, c->to->id, name, H5P_DEFAULT, H5P_DEFAULT) >= 0
               ? 0
               : failed(c, name, "the link cannot be copied");
  if (info.type == H5O_TYPE_GROUP)
    return copy_folder(c, name);
  if (info.type == H5O_TYPE_DATASET && refers(c->from->id, name))
    return references(c, name);
  return H5Ocopy(c->from->id, name, c->to->id, name, H5P_DEFAULT, H5P_DEFAULT) >= 0
             ? 0
             : failed(c, name, "it cannot be copied");
}

static herr_t copy_soft_link(struct copying *c, const char *name, const H5L_info_t *info) {
  const size_t size = info->u.val_size;
  char *value = calloc(size + 1, 1);
  const char *file, *path;
  unsigned flags;
  bool good = value && H5Lget_val(c->from->id, name, value, size, H5P_DEFAULT) >= 0;
  if (good && info->type == H5L_TYPE_SOFT)
    good = H5Lcreate_soft(value, c->to->id, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
  else
    good = good && info->type == H5L_TYPE_EXTERNAL &&
           H5Lunpack_elink_val(value, size, &flags, &file, &path) >= 0 &&
           H5Lcreate_external(file, path, c->to->id, name, H5P_DEFAULT, H5P_DEFAULT) >= 0;
  free(value);
  return good ? 0 : failed(c, name, "the link cannot be copied");
}

static herr_t copy_link(hid_t group, const char *name, const H5L_info_t *info, void *user) {
  struct copying *c = user;
  (void)group;
  if (info->type == H5L_TYPE_HARD)
    return copy_object(c, name);
  return hdf5_there(c->to, name) ? 0 : copy_soft_link(c, name, info);
}

/* It is there. */
static herr_t copy_root(struct copying *c) {
  H5O_info_t info;
  if (H5Oget_info_by_name(c->from->id, "/", &info, H5P_DEFAULT) < 0 || note_name(c, info.addr, "/") < 0)
    return -1;
  return copy_attributes(c, "/");
}

int hdf5_copy_rest(struct file *from, struct file *to, struct error *err) {
  struct quiet before = quiet_begin();
  struct copying c = {.from = from, .to = to, .err = err};
  if ((copy_root(&c) < 0 || H5Lvisit(from->id, H5_INDEX_NAME, H5_ITER_INC, copy_link, &c) < 0) && !c.code)
    failed(&c, NULL, "its objects cannot be copied");
  for (int i = 0; i < c.nnamed; i++)
    free(c.named[i].name);
  free(c.named);
  quiet_end(before);
  return c.code;
}
