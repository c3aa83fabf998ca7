/* The OpenCL library with faults: whatever it does not do itself is the real one's, which it is linked with.
 *   WRAPPER_FAIL=CALL:N:CODE    the Nth call of that name gives the code
 *   WRAPPER_WITHOUT="A B"       extensions that devices do not have
 *   WRAPPER_DEVICES=N           so many devices a platform at most
 *   WRAPPER_TYPE, _LOCAL, _GROUP, _KERNEL_GROUP=N   what a device or a kernel says of these
 *   WRAPPER_ORDERS, _SHARED=N   the same of atomic operations' orders, and of memory that host and kernels share
 *   WRAPPER_VERSION=WORDS       the driver's version
 *   WRAPPER_SUBGROUPS=N         devices have sub-groups: of N work-items, the last ones of a group first; 0: they only say so
 *   WRAPPER_SIZED=1             and kernels can ask for just so many
 *   WRAPPER_INTEL=1             by the extension that devices of OpenCL 1.2 may have
 *   WRAPPER_ALONE=1             nobody waits for the others of a sub-group: right for N=1 alone
 *   WRAPPER_COUNT=1             at the end: how many kernels there were, calls that waited, and questions to events */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
  TYPE = 0x1000,
  GROUP = 0x1004,
  LOCAL = 0x1023,
  DRIVER = 0x102D,
  EXTENSIONS = 0x1030,
  SHARED = 0x1053,
  ORDERS = 0x1063,
  KERNEL_GROUP = 0x11B0,
  SUB_GROUP_SIZES = 0x4108
};

static void *real(const char *name) {
  void *entry = dlsym(RTLD_NEXT, name);
  if (!entry) {
    fprintf(stderr, "wrapper: OpenCL has no %s\n", name);
    abort();
  }
  return entry;
}

/* The code that this call is to give, 0: none. */
static int fails(const char *name) {
  static long calls;
  const char *wanted = getenv("WRAPPER_FAIL");
  char call[64];
  long at = 0;
  int code = 0;
  if (!wanted || sscanf(wanted, "%63[^:]:%ld:%d", call, &at, &code) != 3 || strcmp(call, name) != 0)
    return 0;
  return ++calls == at ? code : 0;
}

static int number(const char *name, unsigned long long *out) {
  const char *s = getenv(name);
  *out = s ? strtoull(s, NULL, 0) : 0;
  return s != NULL;
}

EXPORT int clGetPlatformIDs(unsigned n, void **out, unsigned *count) {
  int (*next)(unsigned, void **, unsigned *) = real(__func__);
  const int code = fails(__func__);
  return code ? code : next(n, out, count);
}

EXPORT int clGetDeviceIDs(void *platform, unsigned long kind, unsigned n, void **out, unsigned *count) {
  int (*next)(void *, unsigned long, unsigned, void **, unsigned *) = real(__func__);
  unsigned long long most;
  int code = fails(__func__);
  if (!code)
    code = next(platform, kind, n, out, count);
  if (!code && count && number("WRAPPER_DEVICES", &most) && *count > most)
    *count = (unsigned)most;
  return !code && count && !*count ? -1 : code;
}

/* ---- counting ---- */
static struct { long kernels, waits, times; } count;

static void tell(void) {
  fprintf(stderr, "wrapper: %ld kernels, %ld waits, %ld times\n", count.kernels, count.waits, count.times);
}

static void note(long *what) {
  if (!count.kernels && !count.waits && getenv("WRAPPER_COUNT"))
    atexit(tell);
  ++*what;
}

EXPORT int clFinish(void *queue) {
  int (*next)(void *) = real(__func__);
  note(&count.waits);
  return next(queue);
}

EXPORT int clEnqueueReadBuffer(void *queue, void *buffer, unsigned blocking, size_t offset, size_t bytes,
                               void *to, unsigned n, void *const *wait, void **event) {
  int (*next)(void *, void *, unsigned, size_t, size_t, void *, unsigned, void *const *, void **) =
      real(__func__);
  const int code = fails(__func__);
  if (blocking)
    note(&count.waits);
  return code ? code : next(queue, buffer, blocking, offset, bytes, to, n, wait, event);
}

EXPORT int clGetEventProfilingInfo(void *event, unsigned what, size_t size, void *out, size_t *needed) {
  int (*next)(void *, unsigned, size_t, void *, size_t *) = real(__func__);
  note(&count.times);
  return next(event, what, size, out, needed);
}

/* ---- sub-groups, by what every device has ---- */
static const char subgroups[] = "#define get_max_sub_group_size() %lluu\n"
                                "#define op2_backwards ((uint)(get_local_size(0) - 1 - get_local_id(0)))\n"
                                "#define get_sub_group_id() (op2_backwards / %lluu)\n"
                                "#define get_sub_group_local_id() (op2_backwards %% %lluu)\n"
                                "#define sub_group_barrier(f) %s\n";

EXPORT void *clCreateProgramWithSource(void *context, unsigned n, const char **texts, const size_t *lengths,
                                       int *code) {
  void *(*next)(void *, unsigned, const char **, const size_t *, int *) = real(__func__);
  unsigned long long size;
  char front[sizeof subgroups + 64];
  if (!number("WRAPPER_SUBGROUPS", &size) || !size || n != 1)
    return next(context, n, texts, lengths, code);
  snprintf(front, sizeof front, subgroups, size, size, size, getenv("WRAPPER_ALONE") ? "" : "barrier(f)");
  const char *both[] = {front, texts[0]};
  const size_t sizes[] = {strlen(front), lengths ? lengths[0] : strlen(texts[0])};
  return next(context, 2, both, sizes, code);
}

static void without(char *extensions) {
  char words[512], *rest = NULL;
  const char *wanted = getenv("WRAPPER_WITHOUT");
  snprintf(words, sizeof words, "%s", wanted ? wanted : "");
  for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    char *at = strstr(extensions, word);
    if (at)
      memset(at, ' ', strlen(word));
  }
}

EXPORT int clGetDeviceInfo(void *device, unsigned what, size_t size, void *out, size_t *needed) {
  static const struct {
    unsigned what;
    const char *variable;
  } numbers[] = {{TYPE, "WRAPPER_TYPE"},
                 {LOCAL, "WRAPPER_LOCAL"},
                 {GROUP, "WRAPPER_GROUP"},
                 {SHARED, "WRAPPER_SHARED"},
                 {ORDERS, "WRAPPER_ORDERS"}};
  int (*next)(void *, unsigned, size_t, void *, size_t *) = real(__func__);
  unsigned long long value;
  if (what == SUB_GROUP_SIZES && number("WRAPPER_SUBGROUPS", &value)) {
    *(size_t *)out = (size_t)value;
    return 0;
  }
  const int code = next(device, what, size, out, needed);
  for (size_t i = 0; !code && out && i < sizeof numbers / sizeof *numbers; i++)
    if (what == numbers[i].what && number(numbers[i].variable, &value))
      memcpy(out, &value, sizeof value);
  if (!code && out && what == EXTENSIONS)
    without(out);
  if (!code && out && what == EXTENSIONS && getenv("WRAPPER_SUBGROUPS"))
    snprintf((char *)out + strlen(out), size - strlen(out), " cl_khr_subgroups%s%s",
             getenv("WRAPPER_INTEL") ? " cl_intel_subgroups" : "",
             getenv("WRAPPER_SIZED") ? " cl_intel_required_subgroup_size" : "");
  if (!code && out && what == DRIVER && getenv("WRAPPER_VERSION"))
    snprintf(out, size, "%s", getenv("WRAPPER_VERSION"));
  return code;
}

EXPORT int clGetKernelWorkGroupInfo(void *kernel, void *device, unsigned what, size_t size, void *out,
                                    size_t *needed) {
  int (*next)(void *, void *, unsigned, size_t, void *, size_t *) = real(__func__);
  const int code = next(kernel, device, what, size, out, needed);
  unsigned long long value;
  if (!code && out && what == KERNEL_GROUP && number("WRAPPER_KERNEL_GROUP", &value))
    memcpy(out, &value, sizeof value);
  return code;
}

EXPORT void *clCreateContext(const void *properties, unsigned n, void *const *devices, void *notify,
                             void *user, int *code) {
  void *(*next)(const void *, unsigned, void *const *, void *, void *, int *) = real(__func__);
  *code = fails(__func__);
  return *code ? NULL : next(properties, n, devices, notify, user, code);
}

EXPORT void *clCreateBuffer(void *context, unsigned long flags, size_t bytes, void *host, int *code) {
  void *(*next)(void *, unsigned long, size_t, void *, int *) = real(__func__);
  *code = fails(__func__);
  return *code ? NULL : next(context, flags, bytes, host, code);
}

EXPORT void *clCreateProgramWithBinary(void *context, unsigned n, void *const *devices, const size_t *lengths,
                                       const unsigned char **binaries, int *each, int *code) {
  void *(*next)(void *, unsigned, void *const *, const size_t *, const unsigned char **, int *, int *) =
      real(__func__);
  *code = fails(__func__);
  return *code ? NULL : next(context, n, devices, lengths, binaries, each, code);
}

EXPORT int clBuildProgram(void *program, unsigned n, void *const *devices, const char *options, void *notify,
                          void *user) {
  int (*next)(void *, unsigned, void *const *, const char *, void *, void *) = real(__func__);
  const int code = fails(__func__);
  return code ? code : next(program, n, devices, options, notify, user);
}

EXPORT int clEnqueueNDRangeKernel(void *queue, void *kernel, unsigned dimensions, const size_t *offset,
                                  const size_t *global, const size_t *local, unsigned n, void *const *wait,
                                  void **event) {
  int (*next)(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned,
              void *const *, void **) = real(__func__);
  const int code = fails(__func__);
  note(&count.kernels);
  return code ? code : next(queue, kernel, dimensions, offset, global, local, n, wait, event);
}
