/* SHA-256 (FIPS 180-4), with the processor's own instructions where it has them. */
#ifndef OP2JIT_BASE_SHA256_H
#define OP2JIT_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
  uint32_t state[8];
  uint64_t length; /* bytes so far */
  unsigned char block[64];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t length);
void sha256_end(struct sha256 *s, unsigned char digest[32]);
/* 64 lower-case digits and a NUL. */
void sha256_hex(const unsigned char digest[32], char out[65]);

#endif
