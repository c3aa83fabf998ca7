/* A host program that uses the plugin like any other, built in several ways (with gcc's OpenMP, clang's, or
 * none) and with another LLVM in the process: `host PLUGIN [LIBRARY]`. Compiles, also in a forked child and
 * on several threads, between parallel regions of its own. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/compiler.h"

static const struct compiler *compiler;

static const char text[] = "double exp2(double);\n"
                           "void f(double *x, const double *y, long n) {\n"
                           "#pragma omp simd\n"
                           "  for (long i = 0; i < n; i++) x[i] += exp2(y[i]) / 3;\n"
                           "}\n";

/* The object's bytes as a sum; 0 if there is none. */
static unsigned long compile(void) {
  const struct compile_file file = {"f.c", text, sizeof text - 1};
  const struct compile_request request = {
      .files = &file, .nfiles = 1, .cpu = "x86-64", .features = "+sse2,+avx,+avx2", .fp = "contract"};
  struct compile_result result;
  compiler->compile(&request, &result);
  unsigned long sum = 0;
  for (size_t i = 0; result.status == 0 && i < result.size; i++)
    sum = sum * 31 + ((const unsigned char *)result.binary)[i];
  if (result.nmessages)
    fprintf(stderr, "%s\n", result.messages[0].text);
  compiler->release(&result);
  return sum;
}

static void *compile_on_thread(void *sum) {
  *(unsigned long *)sum = compile();
  return NULL;
}

/* Some work of the host's own OpenMP, if it has one. */
static double region(void) {
  double sum = 0;
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum) num_threads(3)
#endif
  for (int i = 0; i < 1000; i++)
    sum += i;
  return sum;
}

static int fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  if (argc > 2 && !dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL)) {
    fprintf(stderr, "%s\n", dlerror());
    return 77;
  }
  if (region() != 499500)
    return fail("the host's own region is wrong before the plugin");
  void *handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void *entry = handle ? dlsym(handle, "op2jit_compiler") : NULL;
  if (!entry)
    return fail(dlerror());
  compiler_entry *get;
  memcpy(&get, &entry, sizeof get);
  compiler = get();
  const unsigned long first = compile();
  if (first == 0 || region() != 499500)
    return fail("no object, or the host's own region is wrong after it");

  enum { THREADS = 8 };
  pthread_t threads[THREADS];
  unsigned long sums[THREADS];
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, compile_on_thread, &sums[i]) != 0)
      return fail("no thread");
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    if (sums[i] != first)
      return fail("a thread's object differs");
  }

  const pid_t child = fork();
  if (child == 0)
    _exit(compile() == first ? 0 : 1);
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail("the forked child could not compile");
  if (compile() != first || region() != 499500)
    return fail("the parent differs after the fork");
  return 0;
}
