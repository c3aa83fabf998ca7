/* OpenCL's compiler: files put into one text, its log as messages, the program's binary. */
#include <stdlib.h>
#include <string.h>

#include "backend/gpu/log.h"
#include "backend/opencl/opencl.h"
#include "base/clock.h"

enum { BUILD_LOG = 0x1183, PROGRAM_SIZES = 0x1165, PROGRAM_BINARIES = 0x1166 };

static void take_log(const struct opencl *cl, opencl_object program, struct gpu_log *o) {
  size_t size = 0;
  if (cl->driver.build_info(program, cl->choice.device, BUILD_LOG, 0, NULL, &size) || size <= 1)
    return;
  char *log = calloc(size + 1, 1);
  if (log && !cl->driver.build_info(program, cl->choice.device, BUILD_LOG, size, log, NULL))
    text_add(&o->words, log);
  free(log);
}

/* The first file, with the others where it includes them: OpenCL 1.2 may read no files. */
static void join(const struct compile_request *r, struct text *out) {
  int line = 1;
  for (const char *at = r->files[0].text, *end; *at; at = end, line++) {
    const struct compile_file *file = NULL;
    end = strchr(at, '\n');
    end = end ? end + 1 : at + strlen(at);
    for (int i = 1; i < r->nfiles && strncmp(at, "#include \"", 10) == 0; i++)
      if (strncmp(at + 10, r->files[i].name, strlen(r->files[i].name)) == 0)
        file = &r->files[i];
    if (file)
      text_addf(out, "#line 1 \"%s\"\n%s\n#line %d \"%s\"\n", file->name, file->text, line + 1,
                r->files[0].name);
    else
      text_add_bytes(out, at, (size_t)(end - at));
  }
}

static void add_options(const struct opencl *cl, const struct compile_request *r, struct text *out) {
  text_addf(out, "-cl-std=%s -w", opencl_standard(&cl->choice));
  text_add(out, cl->choice.has_double ? " -DOP2_DOUBLE" : " -cl-single-precision-constant");
  text_add(out, cl->choice.has_atomics ? " -DOP2_ATOMICS" : "");
  text_add(out, cl->choice.has_tickets ? " -DOP2_TICKETS" : "");
  if (cl->choice.lanes)
    text_addf(out, " -DOP2_SUBGROUPS -DOP2_LANES=%d%s", cl->choice.lanes,
              cl->choice.are_sized ? " -DOP2_REQUIRED" : "");
  text_add(out, r->fp && strcmp(r->fp, "fast") == 0 ? " -cl-fast-relaxed-math" : "");
}

static int take_binary(const struct opencl *cl, opencl_object program, struct compile_result *result) {
  size_t size = 0;
  if (cl->driver.program_info(program, PROGRAM_SIZES, sizeof size, &size, NULL) || !size)
    return 2;
  unsigned char *binary = malloc(size + 1);
  if (!binary)
    return 3;
  if (cl->driver.program_info(program, PROGRAM_BINARIES, sizeof binary, &binary, NULL)) {
    free(binary);
    return 2;
  }
  binary[size] = 0;
  result->binary = binary;
  result->size = size;
  return 0;
}

static int build(const struct opencl *cl, const struct compile_request *r, struct gpu_log *o,
                 struct compile_result *result, int *why) {
  struct text source = {0}, options = {0};
  int code = 0;
  if (r->fp && (strcmp(r->fp, "strict") == 0 || r->fp[0] == 'r')) /* reproducible */
    text_add(&source, "#pragma OPENCL FP_CONTRACT OFF\n");
  text_addf(&source, "#line 1 \"%s\"\n", r->files[0].name);
  join(r, &source);
  add_options(cl, r, &options);
  const char *text = text_str(&source);
  if (!text_ok(&source) || !text_ok(&options)) {
    text_free(&source);
    text_free(&options);
    return 3;
  }
  opencl_object program = cl->driver.program_source(cl->context, 1, &text, &source.length, &code);
  if (!code)
    code = cl->driver.program_build(program, 1, &cl->choice.device, text_str(&options), NULL, NULL);
  if (code && program)
    take_log(cl, program, o);
  const int status = code ? (code == OPENCL_BUILD_FAILED ? 1 : 2) : take_binary(cl, program, result);
  if (program)
    cl->driver.program_free(program);
  text_free(&source);
  text_free(&options);
  *why = code;
  return status;
}

void opencl_compile(void *self, const struct compile_request *request, struct compile_result *result) {
  const struct opencl *cl = self;
  struct gpu_log *log = gpu_log_new(result);
  if (!log)
    return;
  const double start = clock_seconds();
  int code = 0;
  result->status = build(cl, request, log, result, &code);
  result->seconds_front = clock_seconds() - start;
  gpu_log_finish(log, code ? opencl_code(code) : "OpenCL made no binary", result);
}
