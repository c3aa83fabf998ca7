#include "whereami.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Folders of the build tree with plugins. The top of the tree is known by meson's own file. */
static const char *const build_folders[] = {"jit/clang", "runtime/ranks/mpi", "runtime/spread/parts",
                                            "runtime/files", "runtime/solve"};
static const char build_mark[] = "build.ninja";
enum { BUILD_LEVELS = 6 }; /* test programs are a few folders below the top */

int whereami(struct text *path, struct error *err) {
  Dl_info info;
  struct link_map *map = NULL;
  if (!dladdr1((const void *)build_folders, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
    return error_set(err, OP_ERR_FILE, "the dynamic linker does not know which file op2jit was loaded from");
  /* The program itself has no name in the linker's list. */
  const char *file = map->l_name[0] ? map->l_name : "/proc/self/exe";
  char *resolved = realpath(file, NULL);
  if (!resolved && !map->l_name[0]) /* without /proc: the name that the program was started by */
    resolved = realpath((const char *)getauxval(AT_EXECFN), NULL);
  if (!resolved)
    return error_set(err, OP_ERR_FILE,
                     "the file that op2jit was loaded from, %s, cannot be found again: %s; load it by an "
                     "absolute path",
                     file, strerror(errno));
  text_clear(path);
  text_add(path, resolved);
  free(resolved);
  return text_ok(path) ? OP_OK : error_memory(err, "the path of the library", path->length);
}

bool whereami_static(const void *address) {
  Dl_info info;
  return dladdr(address, &info) != 0;
}

static bool there(struct text *path, const char *folder, const char *middle, const char *name) {
  text_clear(path);
  text_addf(path, "%s/%s%s%s", folder, middle, *middle ? "/" : "", name);
  return text_ok(path) && access(path->data, R_OK) == 0;
}

/* Cut the last component off; false at the root. */
static bool go_up(char *folder) {
  char *slash = strrchr(folder, '/');
  if (!slash || slash == folder)
    return false;
  *slash = '\0';
  return true;
}

static bool in_build_tree(struct text *path, char *folder, const char *name) {
  struct text mark = {0};
  bool found = false;
  for (int level = 0; level < BUILD_LEVELS; level++) {
    if (there(&mark, folder, "", build_mark))
      for (size_t i = 0; i < sizeof build_folders / sizeof *build_folders && !found; i++)
        found = there(path, folder, build_folders[i], name);
    if (found || !go_up(folder))
      break;
  }
  text_free(&mark);
  return found;
}

/* Cuts `library` down to its folder on the way. */
static int find_plugin(const char *name, const char *first, struct text *library, struct text *path,
                       struct error *err) {
  if (first && *first && there(path, first, "", name))
    return OP_OK;
  if (whereami(library, err))
    return err->code;
  char *folder = library->data;
  if (folder && go_up(folder) &&
      (there(path, folder, "op2jit", name) || there(path, folder, OP2JIT_PLUGINS_FROM_BIN, name)))
    return OP_OK;
  struct text beside = {0};
  text_addf(&beside, "%s/op2jit", text_str(library));
  bool found = folder && in_build_tree(path, folder, name);
  if (!found)
    error_set(err, OP_ERR_NOT_BUILT,
              "the plugin %s is not in %s%s%s: op2jit was built or installed without it; build it again with "
              "the packages it needs, or name its folder in OP2_PLUGINS",
              name, first && *first ? first : "", first && *first ? " and not in " : "", text_str(&beside));
  text_free(&beside);
  return found ? OP_OK : OP_ERR_NOT_BUILT;
}

int plugin_path(const char *name, const char *first, struct text *path, struct error *err) {
  struct text library = {0};
  int code = find_plugin(name, first, &library, path, err);
  text_free(&library);
  return code;
}
