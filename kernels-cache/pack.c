/* Binaries and sources on their way into the file: checksummed, and smaller where zstd is built in. */
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "inner.h"

#ifdef OP2JIT_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* Below this the frame costs more than it saves. */
#define PACK_FROM 256
#define PACK_LEVEL 3

void store_checksum(const char *hash, const void *data, size_t size, unsigned char out[32]) {
  struct sha256 state;
  sha256_begin(&state);
  sha256_add(&state, hash, strlen(hash));
  sha256_add(&state, data, size);
  sha256_end(&state, out);
}

void pack(const void *data, size_t size, struct packed *out) {
  *out = (struct packed){.size = size, .encoding = ENCODING_PLAIN};
#ifdef OP2JIT_ZSTD
  if (size < PACK_FROM)
    return;
  size_t room = ZSTD_compressBound(size);
  void *bytes = ZSTD_isError(room) ? NULL : malloc(room);
  size_t packed = bytes ? ZSTD_compress(bytes, room, data, size, PACK_LEVEL) : size;
  if (!bytes || ZSTD_isError(packed) || packed >= size - size / 8) {
    free(bytes);
    return;
  }
  *out = (struct packed){bytes, packed, ENCODING_ZSTD};
#else
  (void)data;
#endif
}

/* True: the packing itself says this size. Asked before so many bytes are allocated. */
static bool size_is_right(const void *data, size_t stored, enum encoding encoding, size_t size) {
  if (encoding == ENCODING_PLAIN)
    return stored == size;
#ifdef OP2JIT_ZSTD
  return encoding == ENCODING_ZSTD && ZSTD_getFrameContentSize(data, stored) == size;
#else
  (void)data;
  return false;
#endif
}

void *unpack(const void *data, size_t stored, enum encoding encoding, size_t size, const char **why) {
  *why = "its length is not what was noted";
  if (!size_is_right(data, stored, encoding, size))
    return NULL;
  void *bytes = malloc(size ? size : 1);
  if (!bytes) {
    *why = NULL;
    return NULL;
  }
  if (encoding == ENCODING_PLAIN) {
    if (size)
      memcpy(bytes, data, size);
    return bytes;
  }
#ifdef OP2JIT_ZSTD
  size_t got = ZSTD_decompress(bytes, size, data, stored);
  if (!ZSTD_isError(got) && got == size)
    return bytes;
  if (ZSTD_isError(got))
    *why = ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation ? NULL : ZSTD_getErrorName(got);
#endif
  free(bytes);
  return NULL;
}
