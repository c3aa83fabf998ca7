/* The comm of one process: what MPI does with one rank, without MPI. It has no messages: nobody is there to send
 * one to. */
#include "ranks/comm.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/whereami.h"
#include "ranks/agree.h"

static int alone_barrier(struct comm *c, struct error *err) {
  (void)c, (void)err;
  return OP_OK;
}

static int check_root(int root, struct error *err) {
  return root == 0 ? OP_OK : error_mistake(err, OP_ERR_INTERNAL, "rank %d is not one of 1 rank", root);
}

static int alone_broadcast(struct comm *c, void *data, size_t bytes, int root, struct error *err) {
  (void)c, (void)data, (void)bytes;
  return check_root(root, err);
}

static int alone_reduce_all(struct comm *c, void *values, int count, enum comm_value type, enum comm_op op,
                            struct error *err) {
  (void)c, (void)values, (void)count, (void)type, (void)op, (void)err;
  return OP_OK;
}

static int alone_scan_before(struct comm *c, long long mine, long long *before, struct error *err) {
  (void)c, (void)mine, (void)err;
  *before = 0;
  return OP_OK;
}

static void copy(void *to, const void *from, size_t bytes) {
  if (bytes && to != from)
    memmove(to, from, bytes);
}

static int alone_gather_all(struct comm *c, const void *mine, size_t bytes, void *all, struct error *err) {
  (void)c, (void)err;
  copy(all, mine, bytes);
  return OP_OK;
}

static int alone_exchange(struct comm *c, const void *send, const struct comm_messages *to, void *receive,
                          const struct comm_messages *from, struct error *err) {
  (void)c;
  const size_t sent = to->count ? to->bytes[0] : 0, wanted = from->count ? from->bytes[0] : 0;
  if (sent != wanted)
    return error_mistake(err, OP_ERR_INTERNAL, "an exchange of one rank sends %zu bytes and receives %zu",
                         sent, wanted);
  copy(receive, send, sent);
  return OP_OK;
}

static int alone_post(struct comm *c, void *send, const struct comm_messages *to, void **receive,
                      struct comm_messages *from, struct error *err) {
  (void)c;
  if (!comm_messages_new(from, to->count)) {
    free(send);
    return error_memory(err, "messages", (size_t)to->count * sizeof *to->bytes);
  }
  copy(from->bytes, to->bytes, (size_t)to->count * sizeof *to->bytes);
  *receive = send;
  return OP_OK;
}

static int alone_split(struct comm *c, int colour, struct comm **out, struct error *err) {
  (void)c;
  *out = NULL;
  return colour < 0 ? OP_OK : comm_open_alone(out, err);
}

static bool alone_takes_gpu_memory(const struct comm *c) {
  (void)c;
  return false;
}

static void alone_tell(struct comm *c, const struct error *err) {
  (void)c, (void)err;
}

static int alone_told(struct comm *c, struct error *err) {
  (void)c, (void)err;
  return OP_OK;
}

static void alone_close(struct comm *c) {
  free(c);
}

static void alone_abort(struct comm *c, int status) {
  (void)c;
  exit(status);
}

static const struct comm_table alone_table = {
    .version = COMM_TABLE_VERSION,
    .name = "one process",
    .barrier = alone_barrier,
    .broadcast = alone_broadcast,
    .reduce_all = alone_reduce_all,
    .scan_before = alone_scan_before,
    .gather_all = alone_gather_all,
    .exchange = alone_exchange,
    .post = alone_post,
    .takes_gpu_memory = alone_takes_gpu_memory,
    .split = alone_split,
    .tell = alone_tell,
    .told = alone_told,
    .close = alone_close,
    .abort = alone_abort,
};

int comm_open_alone(struct comm **out, struct error *err) {
  *out = calloc(1, sizeof **out);
  if (!*out)
    return error_memory(err, "the comm", sizeof **out);
  **out = (struct comm){.table = &alone_table, .size = 1, .node_size = 1, .fortran = -1};
  return OP_OK;
}

int comm_gather(struct comm *c, const void *mine, size_t bytes, void *all, const size_t *sizes, int root,
                struct error *err) {
  const int count = c->rank == root ? c->size : 0;
  int *ranks = array_new((size_t)count, sizeof *ranks);
  const struct comm_messages to = {.count = 1, .ranks = &root, .bytes = &bytes},
                             from = {.count = count, .ranks = ranks, .bytes = (size_t *)(uintptr_t)sizes};
  if (!ranks)
    return error_memory(err, "messages", (size_t)count * sizeof *ranks);
  for (int r = 0; r < count; r++)
    ranks[r] = r;
  const int code = c->table->exchange(c, mine, &to, all, &from, err);
  free(ranks);
  return code;
}

void comm_close(struct comm *c) {
  if (c)
    c->table->close(c);
}

/* Find MPI and its plugin. An MPI that is in the process already counts most: two MPI libraries in
 * one process are none. */

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

static const char *nth_word(const char *list, int n, size_t *length) {
  for (; n > 0 && strchr(list, ','); n--)
    list = strchr(list, ',') + 1;
  *length = strcspn(list, ",");
  return list;
}

int node_word(const char *list, int number, struct text *out) {
  size_t length, other = 0;
  int words = 1, place = 0;
  for (const char *p = list; (p = strchr(p, ',')); p++)
    words++;
  number = number < words ? number : words - 1;
  const char *word = nth_word(list, number, &length);
  while (place < number) {
    const char *before = nth_word(list, place, &other);
    if (other == length && memcmp(before, word, length) == 0)
      break;
    place++;
  }
  text_add_bytes(out, word, length);
  return place;
}

/* Among the ranks of the machine that have this one's word: by that they share its devices. */
static int count_before(const char *list, int node_rank, int place) {
  int before = 0;
  for (int r = 0; r < node_rank; r++) {
    struct text ignored = {0};
    before += node_word(list, r, &ignored) == place;
    text_free(&ignored);
  }
  return before;
}

int peers_open(struct op_context *ctx, const char *list, struct error *err) {
  struct comm *all = ctx->comm;
  struct text word = {0};
  const int place = node_word(list, all->node_rank, &word);
  double ends[] = {place, -place};
  int code = text_ok(&word) ? OP_OK : error_memory(err, "the ranks of one backend", word.length);
  text_free(&word);
  code = agree_on_largest(all, code, ends, 2, err);
  if (code || ends[0] == -ends[1])
    return code;
  code = all->table->split(all, place, &ctx->peers, err);
  if (code)
    return code;
  ctx->peers->node_rank = count_before(list, all->node_rank, place);
  ctx->peers->node_size = all->node_size;
  ctx->peers->share = all->share;
  return OP_OK;
}

void peers_close(struct op_context *ctx) {
  comm_close(ctx->peers);
  ctx->peers = NULL;
}
