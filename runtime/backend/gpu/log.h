/* Messages of clang when it compiles for a GPU: OpenCL's drivers and HIPRTC are made of it. */
#ifndef OP2JIT_BACKEND_GPU_LOG_H
#define OP2JIT_BACKEND_GPU_LOG_H

#include "base/text.h"
#include "jit/compiler.h"

struct gpu_log {
  struct text words; /* the messages point into it */
  struct compile_message *messages;
  int count;
};
/* NULL, and then in `result` status 2: no memory. It is the result's owner. */
struct gpu_log *gpu_log_new(struct compile_result *result);
/* Makes messages of log->words; a compile of this status that has no error has `why` for one. */
void gpu_log_finish(struct gpu_log *log, const char *why, struct compile_result *result);
/* The binary becomes the result's, or is freed if reading it `failed`; NULL: no memory. Returns the status. */
int gpu_log_take(struct compile_result *result, void *binary, size_t size, bool failed);
/* The binary, the log and its messages. */
void gpu_log_release(void *self, struct compile_result *result);

#endif
