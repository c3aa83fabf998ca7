#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/report.h"

static void end(const char *doing, const struct error *err) {
  fprintf(stderr, "bench cuda: %s: %s\n", doing, err ? error_message(err) : "failed");
  exit(1);
}

static void must(const struct bare *g, int code, const char *doing) {
  struct error err = {0};
  if (cuda_check(&g->driver, code, &err, "%s", doing))
    end(doing, &err);
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  enum { MOST = 65536 };
  char *text = room(MOST + 1, 1);
  if (!file) {
    perror(path);
    exit(1);
  }
  text[fread(text, 1, MOST, file)] = '\0';
  fclose(file);
  return text;
}

/* What a kernel moves that does nothing else: the measure of all others. */
static double measure_copy(struct bare *g) {
  enum { TIMES = 15 };
  size_t left = 0, total = 0;
  must(g, g->driver.memory_info(&left, &total), "asking for memory");
  long pairs = (long)(left / 16 / 16 < 1L << 27 ? left / 16 / 16 : 1L << 27);
  cuda_address from = bare_array(g, NULL, (size_t)pairs * 16), to = bare_array(g, NULL, (size_t)pairs * 16);
  cuda_module module = bare_compile(g, "double", false, false);
  cuda_function copy = bare_kernel(g, module, "copy");
  double times[TIMES];
  void *values[] = {&from, &to, &pairs};
  for (int i = -2; i < TIMES; i++) {
    float milliseconds = 0;
    must(g, g->driver.event_record(g->before, g->stream), "timing");
    bare_launch(g, copy, pairs, values);
    must(g, g->driver.event_record(g->after, g->stream), "timing");
    must(g, g->driver.event_wait(g->after), "copying");
    must(g, g->driver.event_elapsed(&milliseconds, g->before, g->after), "timing");
    if (i >= 0)
      times[i] = 1e-3 * (double)milliseconds;
  }
  bare_release(g, from);
  bare_release(g, to);
  g->driver.module_unload(module);
  return 32.0 * (double)pairs / median(times, TIMES);
}

void bare_open(struct bare *g, const char *path) {
  struct error err = {0};
  void *context = NULL;
  const char *driver = getenv("OP2_CUDA_DRIVER"), *home = getenv("CUDA_HOME");
  const struct nvrtc_places places = {.named = getenv("OP2_NVRTC"),
                                      .cuda_home = home ? home : getenv("CUDA_PATH"),
                                      .home = getenv("HOME"),
                                      .virtual_env = getenv("VIRTUAL_ENV")};
  *g = (struct bare){.path = path, .source = read_file(path)};
  if (cuda_family_open(&g->driver, &cuda_family, driver ? driver : "", &err) ||
      cuda_device_choose(&g->driver, -1, 0, &g->device, &err) || nvrtc_open(&g->nvrtc, &places, &err))
    end("there is no GPU to measure", &err);
  must(g, g->driver.context_retain(&context, g->device.handle), "starting");
  must(g, g->driver.context_set(context), "starting");
  must(g, g->driver.stream_create(&g->stream, 0), "starting");
  must(g, g->driver.event_create(&g->before, 0), "starting");
  must(g, g->driver.event_create(&g->after, 0), "starting");
  g->copy = measure_copy(g);
}

void bare_close(struct bare *g) {
  g->driver.event_destroy(g->before);
  g->driver.event_destroy(g->after);
  g->driver.stream_destroy(g->stream);
  g->driver.context_release(g->device.handle);
  nvrtc_close(g->nvrtc);
  cuda_driver_close(&g->driver);
  free(g->source);
}

cuda_module bare_compile(struct bare *g, const char *real, bool apart, bool coloured) {
  struct text source = {0};
  text_addf(&source, "#define REAL %s\n#define SOA %d\n#define COLOURS %d\n#line 1\n%s", real, apart,
            coloured, g->source);
  const struct compile_file file = {g->path, text_str(&source), source.length};
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d", g->device.capability);
  const struct compile_request request = {.files = &file, .nfiles = 1, .cpu = arch, .fp = "contract"};
  struct compile_result result;
  cuda_module module = NULL;
  nvrtc_compile(g->nvrtc, &request, NULL, 0, &result);
  for (int i = 0; result.status && i < result.nmessages; i++)
    fprintf(stderr, "%s:%d: %s\n", result.messages[i].file, result.messages[i].line, result.messages[i].text);
  if (result.status)
    end("the hand-written kernels do not compile", NULL);
  must(g, g->driver.module_load(&module, result.binary, 0, NULL, NULL), "loading hand-written kernels");
  nvrtc_release(&result);
  text_free(&source);
  return module;
}

cuda_function bare_kernel(struct bare *g, cuda_module module, const char *name) {
  cuda_function f = NULL;
  must(g, g->driver.module_function(&f, module, name), name);
  return f;
}

int bare_registers(struct bare *g, cuda_function f) {
  enum { REGISTERS = 4 };
  int count = 0;
  must(g, g->driver.function_attribute(&count, REGISTERS, f), "counting registers");
  return count;
}

cuda_address bare_array(struct bare *g, const void *data, size_t bytes) {
  cuda_address at = 0;
  must(g, g->driver.memory_alloc(&at, bytes ? bytes : 1), "allocating memory of the GPU");
  if (data)
    must(g, g->driver.copy_in(at, data, bytes, g->stream), "copying to the GPU");
  else
    must(g, g->driver.fill(at, 0, bytes ? bytes : 1, g->stream), "clearing memory of the GPU");
  bare_wait(g);
  return at;
}

void bare_release(struct bare *g, cuda_address at) {
  g->driver.memory_free(at);
}

void bare_fetch(struct bare *g, void *out, cuda_address from, size_t bytes) {
  must(g, g->driver.copy_out(out, from, bytes, g->stream), "copying from the GPU");
  bare_wait(g);
}

void bare_launch(struct bare *g, cuda_function f, long things, void **values) {
  const long blocks = (things + GPU_BLOCK - 1) / GPU_BLOCK;
  if (blocks)
    must(g, g->driver.launch(f, (unsigned)blocks, 1, 1, GPU_BLOCK, 1, 1, 0, g->stream, values, NULL),
         "launching a hand-written kernel");
}

void bare_wait(struct bare *g) {
  must(g, g->driver.stream_wait(g->stream), "running hand-written kernels");
}
