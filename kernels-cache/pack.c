/* Binaries and sources on their way into the file: checksummed, and smaller where zstd is built in. */
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "inner.h"

#ifdef OP2JIT_ZSTD
#include <zstd.h>
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

const char no_memory[] = "out of memory";

void *unpack(const void *data, size_t stored, enum encoding encoding, size_t size, const char **why) {
  *why = no_memory;
  void *bytes = size < PTRDIFF_MAX ? malloc(size ? size : 1) : NULL;
  if (!bytes)
    return NULL;
  *why = "its length is not what was noted";
  if (encoding == ENCODING_PLAIN && stored == size) {
    if (size)
      memcpy(bytes, data, size);
    return bytes;
  }
#ifdef OP2JIT_ZSTD
  if (encoding == ENCODING_ZSTD) {
    size_t got = ZSTD_decompress(bytes, size, data, stored);
    if (!ZSTD_isError(got) && got == size)
      return bytes;
    *why = ZSTD_isError(got) ? ZSTD_getErrorName(got) : *why;
  }
#endif
  free(bytes);
  return NULL;
}
