#include "sha256.h"

#include <string.h>

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, int by) {
  return x >> by | x << (32 - by);
}

static uint32_t read_word(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void one_block(uint32_t state[8], const unsigned char *data) {
  uint32_t w[64], v[8];
  for (int i = 0; i < 16; i++)
    w[i] = read_word(data + 4 * i);
  for (int i = 16; i < 64; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
  }
  memcpy(v, state, sizeof v);
  for (int i = 0; i < 64; i++) {
    uint32_t e = v[4], a = v[0];
    uint32_t t1 =
        v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + rounds[i] + w[i];
    uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++)
    state[i] += v[i];
}

/* The form for processors without SHA instructions. */
static void sha256_blocks_plain(uint32_t state[8], const unsigned char *data, size_t blocks) {
  for (size_t i = 0; i < blocks; i++)
    one_block(state, data + 64 * i);
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdbool.h>

/* Four rounds a step; the instructions keep the state as (a b e f) and (c d g h). */
__attribute__((target("sha,sse4.1"))) static void blocks_sha(uint32_t state[8], const unsigned char *data,
                                                             size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)state);
  __m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)(state + 4));
  __m128i cdab = _mm_shuffle_epi32(dcba, 0xB1), efgh = _mm_shuffle_epi32(hgfe, 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
  for (; blocks; blocks--, data += 64) {
    __m128i abef_before = abef, cdgh_before = cdgh, w[4];
    for (int i = 0; i < 4; i++)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i)), swap);
    for (int i = 0; i < 16; i++) {
      __m128i now = w[i & 3];
      __m128i sum = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)(const void *)(rounds + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      __m128i w1 = w[(i + 1) & 3], w2 = w[(i + 2) & 3], w3 = w[(i + 3) & 3];
      __m128i next = _mm_add_epi32(_mm_sha256msg1_epu32(now, w1), _mm_alignr_epi8(w3, w2, 4));
      w[i & 3] = _mm_sha256msg2_epu32(next, w3);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#endif

#if defined(__x86_64__)
/* Asked once: a virtual machine takes microseconds for CPUID. Any thread may write the same answer: no order is
 * needed. */
static bool has_instructions(void) {
  static _Atomic signed char answer;
  if (!answer) {
    unsigned a, b = 0, c, d;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    answer = b >> 29 & 1 && __builtin_cpu_supports("sse4.1") ? 1 : -1;
  }
  return answer > 0;
}
#endif

static void add_blocks(uint32_t state[8], const unsigned char *data, size_t blocks) {
#if defined(__x86_64__)
  if (has_instructions()) {
    blocks_sha(state, data, blocks);
    return;
  }
#endif
  sha256_blocks_plain(state, data, blocks);
}

void sha256_begin(struct sha256 *s) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(s->state, start, sizeof start);
  s->length = 0;
}

void sha256_add(struct sha256 *s, const void *bytes, size_t length) {
  const unsigned char *p = bytes;
  size_t used = s->length % 64;
  s->length += length;
  if (used) {
    size_t take = length < 64 - used ? length : 64 - used;
    memcpy(s->block + used, p, take);
    if (used + take < 64)
      return;
    add_blocks(s->state, s->block, 1);
    p += take;
    length -= take;
  }
  add_blocks(s->state, p, length / 64);
  if (length % 64)
    memcpy(s->block, p + length / 64 * 64, length % 64);
}

void sha256_end(struct sha256 *s, unsigned char digest[32]) {
  uint64_t bits = s->length * 8;
  unsigned char tail[72] = {0x80};
  size_t pad = (119 - s->length % 64) % 64 + 1; /* up to 8 bytes before the end of a block */
  for (int i = 0; i < 8; i++)
    tail[pad + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
  sha256_add(s, tail, pad + 8);
  for (int i = 0; i < 32; i++)
    digest[i] = (unsigned char)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const unsigned char digest[32], char out[65]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < 32; i++) {
    out[2 * i] = digits[digest[i] >> 4];
    out[2 * i + 1] = digits[digest[i] & 15];
  }
  out[64] = '\0';
}
