/* Find MPI and its plugin. An MPI that is in the process already counts most: two MPI libraries in
 * one process are none. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/whereami.h"
#include "ranks/comm.h"

/* ---- the MPI that is in the process ---- */

struct symbol_search {
  const char *name;
  void *found;
};

/* A library that was opened by somebody else for himself is found by its file's name. */
static int look_into(struct dl_phdr_info *info, size_t size, void *data) {
  struct symbol_search *search = data;
  (void)size;
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *file = slash ? slash + 1 : info->dlpi_name;
  if (strncmp(file, "libmpi.so", 9) != 0 && strncmp(file, "libmpich.so", 11) != 0)
    return 0;
  void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return 0;
  search->found = dlsym(library, search->name);
  dlclose(library); /* only the count that dlopen raised */
  return search->found != NULL;
}

static void *mpi_symbol(const char *name) {
  struct symbol_search search = {.name = name, .found = dlsym(RTLD_DEFAULT, name)};
  if (!search.found)
    dl_iterate_phdr(look_into, &search);
  return search.found;
}

/* MPI calls that may be made before MPI begins and need no header of it. */
static bool mpi_initialised(void) {
  union {
    void *object;
    int (*function)(int *);
  } call = {.object = mpi_symbol("MPI_Initialized")};
  int flag = 0;
  return call.object && call.function(&flag) == 0 && flag;
}

enum { VERSION_BYTES = 8192 }; /* MPI_MAX_LIBRARY_VERSION_STRING is 256 in one library, 8192 in the other */

static bool mpi_version(char out[VERSION_BYTES]) {
  union {
    void *object;
    int (*function)(char *, int *);
  } call = {.object = mpi_symbol("MPI_Get_library_version")};
  int length = 0;
  return call.object && call.function(out, &length) == 0;
}

/* ---- which plugin ---- */

static const struct {
  const char *name, *says, *package;
} kinds[] = {{"openmpi", "Open MPI", "libopenmpi-dev"}, {"mpich", "MPICH", "libmpich-dev"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int kind_by_version(const char *version) {
  for (int i = 0; i < KINDS; i++)
    if (strstr(version, kinds[i].says))
      return i;
  return -1;
}

static int kind_by_name(const char *name) {
  for (int i = 0; i < KINDS; i++)
    if (strcmp(kinds[i].name, name) == 0)
      return i;
  return -1;
}

static int unknown_mpi(const char *version, struct error *err) {
  return error_set(err, OP_ERR_NOT_BUILT,
                   "the program's MPI is \"%.*s\"; op2jit has plugins for Open MPI and MPICH only",
                   (int)strcspn(version, "\n"), version);
}

/* *kind: of the library in the process, -1 if there is none. */
static int loaded_kind(const struct comm_given *given, int *kind, struct error *err) {
  char version[VERSION_BYTES] = "";
  const bool there = mpi_version(version);
  *kind = there ? kind_by_version(version) : -1;
  if (there && *kind < 0)
    return unknown_mpi(version, err);
  if (!given)
    return OP_OK;
  const int said = given->library ? kind_by_version(given->library) : -1;
  if (said < 0)
    return unknown_mpi(given->library ? given->library : "", err);
  if (*kind >= 0 && *kind != said)
    return error_set(err, OP_ERR_MPI,
                     "op_init_comm was compiled with the mpi.h of %s, and the process has the library of %s; "
                     "compile and link the program with one of them",
                     kinds[said].says, kinds[*kind].says);
  *kind = said;
  return OP_OK;
}

static int find_file(int kind, const char *first, struct text *path, struct error *err) {
  char name[64];
  snprintf(name, sizeof name, "op2jit-mpi-%s.so", kinds[kind].name);
  return plugin_path(name, first, path, err);
}

/* No program and no launcher says which: the first there is. */
static int any_kind(const char *first, int *kind, struct error *err) {
  struct text path = {0};
  int code = OP_ERR_NOT_BUILT;
  for (*kind = 0; code && *kind < KINDS; *kind += code != OP_OK)
    code = find_file(*kind, first, &path, err);
  text_free(&path);
  if (code)
    return error_prefix(err, "OP2_MPI=on, and there is no MPI plugin (Debian: libopenmpi-dev or "
                             "libmpich-dev when op2jit is built): ");
  error_clear(err);
  return OP_OK;
}

/* ---- opening it ---- */

/* Everything of this plugin and of its MPI library is for all to see: MPI opens parts of its own that look for it. */
static int open_file(const char *path, const char *name, const struct comm_table **out, struct error *err) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char *why = dlerror();
    return error_set(err, OP_ERR_MPI, "the MPI plugin does not open: %s", why ? why : "no reason given");
  }
  const struct comm_table *table = dlsym(library, "op2jit_comm_table");
  if (!table || table->version != COMM_TABLE_VERSION || strcmp(table->name, name) != 0)
    return error_set(err, OP_ERR_MPI,
                     "%s is not the MPI plugin of this version of op2jit; install both together", path);
  *out = table;
  return OP_OK;
}

static int open_kind(int kind, const struct comm_options *options, struct comm **out, struct error *err) {
  struct text path = {0};
  const struct comm_table *table = NULL;
  const struct comm_start start = {.given = options->given != NULL,
                                   .fortran = options->given ? options->given->fortran : -1,
                                   .hang = options->hang};
  int code = find_file(kind, options->plugins, &path, err);
  if (code)
    error_prefix(err,
                 "this program runs under %s, and op2jit has no plugin for it (Debian: %s when op2jit "
                 "is built); to run each process by itself set OP2_MPI=off: ",
                 kinds[kind].says, kinds[kind].package);
  if (!code)
    code = open_file(text_str(&path), kinds[kind].name, &table, err);
  text_free(&path);
  return code ? code : table->open(out, &start, err);
}

/* Another MPI's launcher starts processes that do not find one another: each is rank 0 of 1. */
static int check_together(int kind, const struct comm_options *options, struct comm **comm,
                          struct error *err) {
  if (options->launched < 2 || (*comm)->world > 1)
    return OP_OK;
  const int launcher = kind_by_name(options->launcher);
  comm_close(*comm);
  *comm = NULL;
  return error_set(err, OP_ERR_MPI,
                   "the launcher of %s started %d processes, and %s, which this process has, sees itself "
                   "alone: they would "
                   "be single runs side by side. Start the program with the mpirun of its own MPI%s",
                   kinds[launcher].says, options->launched, kinds[kind].says,
                   options->given ? "" : ", or set OP2_MPI=off for single runs");
}

int comm_open(struct comm **out, const struct comm_options *options, struct error *err) {
  const bool off = strcmp(options->wanted, "off") == 0, on = strcmp(options->wanted, "on") == 0;
  int kind = -1;
  if (off && options->given)
    return error_set(err, OP_ERR_MPI,
                     "op_init_comm was called, and OP2_MPI=off forbids MPI; unset OP2_MPI, or call op_init");
  if (off || !(on || options->given || options->launcher || mpi_initialised()))
    return comm_open_alone(out, err);
  int code = loaded_kind(options->given, &kind, err);
  if (!code && kind < 0)
    kind = options->launcher ? kind_by_name(options->launcher) : -1;
  if (!code && kind < 0)
    code = any_kind(options->plugins, &kind, err);
  if (!code)
    code = open_kind(kind, options, out, err);
  return code ? code : check_together(kind, options, out, err);
}
