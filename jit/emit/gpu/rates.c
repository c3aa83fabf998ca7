/* The kernels that measure a device: a copy, and reads and atomic additions that all go to the L2 cache. */
#include "jit/emit/gpu/write.h"

/* Lanes go to neighbouring sectors of 32 bytes, and each warp to another place each time. OpenCL's atomic additions are of
 * integers. */
static const char kernels[] = "#define OP2_ME (($wide)$block * $threads + $thread)\n"
                              "#define OP2_FILL(to, n) \\\n"
                              "  int4 zero; \\\n"
                              "  zero.x = zero.y = zero.z = zero.w = 0; \\\n"
                              "  for ($wide i = OP2_ME; i < (n); i += $blocks * $threads) (to)[i] = zero\n"
                              "#define OP2_SECTOR(x, i, mask) \\\n"
                              "  unsigned x = (unsigned)(OP2_ME / 32 * 977 + (i) * 131071); \\\n"
                              "  x = (x ^ x >> 16) * 0x7feb352du; \\\n"
                              "  x = (x ^ x >> 15) * 0x846ca68bu; \\\n"
                              "  x = ((x ^ x >> 16) & (mask) & ~31u) + (unsigned)$thread %% 32\n"
                              "$kernel op2_fill(int4 $global*to, int n) { OP2_FILL(to, n); }\n"
                              "$kernel op2_copy(int4 $global*to, const int4 $global*from, int n) {\n"
                              "  for ($wide i = OP2_ME; i < n; i += $blocks * $threads) to[i] = from[i];\n"
                              "}\n"
                              "$kernel op2_read(unsigned $global*data, unsigned mask, int times) {\n"
                              "  unsigned sum = 0;\n"
                              "  OP2_UNROLL\n"
                              "  for (int i = 0; i < times; i++) {\n"
                              "    OP2_SECTOR(x, i, mask);\n"
                              "    sum += OP2_READ(&data[x * 8]);\n"
                              "  }\n"
                              "  if (sum == 0x7654321) data[0] = sum;\n"
                              "}\n"
                              "$kernel op2_red(unsigned $global*data, unsigned mask, int times) {\n"
                              "  for (int i = 0; i < times; i++) {\n"
                              "    OP2_SECTOR(x, i, mask);\n"
                              "    OP2_RED(&data[x * 8]);\n"
                              "  }\n"
                              "}\n";

static const char behind[] = GPU_WAIT_TEXT "extern \"C\" __global__ void op2_behind(int4 *to, int n) {\n"
                                           "  op2_wait_for_before();\n"
                                           "  OP2_FILL(to, n);\n"
                                           "}\n";

void gpu_rates_text(enum gpu_dialect dialect, bool dependents, struct text *out) {
  static const char *const reads[GPU_DIALECTS] = {
      [GPU_DIALECT_CUDA] = "__ldcg(p)",
      [GPU_DIALECT_HIP] = "__hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)",
      [GPU_DIALECT_OPENCL] = "(*(p))"};
  const bool opencl = dialect == GPU_DIALECT_OPENCL;
  const struct generator g = {.w = gpu_language(dialect)->words};
  text_addf(out, "#define OP2_READ(p) %s\n#define OP2_UNROLL%s\n#define OP2_RED(p) %s\n", reads[dialect],
            opencl ? "" : " _Pragma(\"unroll 4\")",
            opencl ? "atomic_inc(p)" : "atomicAdd((float *)(p), 1.0f)");
  add_words(&g, out, kernels);
  text_add(out, dependents ? behind : "");
}
