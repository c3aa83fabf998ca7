/* Messages of ranks on a stream of their own: they are copied to and from the host while kernels run, and the host waits for
 * them alone. */
#include <stdlib.h>

#include "backend/cuda/cuda.h"

enum { BESIDE_STREAM_0 = 1, NO_TIMES = 2 }; /* flags of streams and of events, of CUDA and HIP alike */

struct cuda_messages {
  cuda_stream stream;
  cuda_event packed, sent, arrived;
};

void cuda_messages_free(struct cuda *cuda) {
  struct cuda_messages *m = cuda->messages;
  const struct cuda_driver *d = &cuda->driver;
  if (!m)
    return;
  if (m->packed)
    d->event_destroy(m->packed);
  if (m->sent)
    d->event_destroy(m->sent);
  if (m->arrived)
    d->event_destroy(m->arrived);
  if (m->stream)
    d->stream_destroy(m->stream);
  free(m);
  cuda->messages = NULL;
}

static int make(struct cuda *cuda) {
  const struct cuda_driver *d = &cuda->driver;
  struct cuda_messages *m = cuda->messages = calloc(1, sizeof *m);
  if (!m)
    return CUDA_OUT_OF_MEMORY;
  int code = d->stream_create(&m->stream, BESIDE_STREAM_0);
  if (!code)
    code = d->event_create(&m->packed, NO_TIMES);
  if (!code)
    code = d->event_create(&m->sent, NO_TIMES);
  if (!code)
    code = d->event_create(&m->arrived, NO_TIMES);
  if (code)
    cuda_messages_free(cuda);
  return code;
}

/* Launches that are held back are given, and the stream is there. */
static int begin(struct cuda *cuda) {
  const int code = cuda_give(cuda);
  return code || cuda->messages ? code : make(cuda);
}

int cuda_message_out(void *self, void *to, gpu_address from, size_t bytes) {
  struct cuda *cuda = self;
  const struct cuda_driver *d = &cuda->driver;
  int code = begin(cuda);
  struct cuda_messages *m = cuda->messages;
  if (!code)
    code = d->event_record(m->packed, cuda->stream);
  if (!code)
    code = d->stream_wait_event(m->stream, m->packed, 0);
  if (!code && bytes)
    code = d->copy_out(to, from, bytes, m->stream);
  return code ? code : d->event_record(m->sent, m->stream);
}

int cuda_message_wait(void *self) {
  const struct cuda *cuda = self;
  const int code = cuda->messages ? cuda_settle(self) : 0;
  return cuda->messages && !code ? cuda->driver.event_wait(cuda->messages->sent) : code;
}

int cuda_message_in(void *self, gpu_address to, const void *from, size_t bytes) {
  struct cuda *cuda = self;
  const struct cuda_driver *d = &cuda->driver;
  int code = begin(cuda);
  struct cuda_messages *m = cuda->messages;
  if (!code)
    code = d->copy_in(to, from, bytes, m->stream);
  if (!code)
    code = d->event_record(m->arrived, m->stream);
  return code ? code : d->stream_wait_event(cuda->stream, m->arrived, 0);
}
