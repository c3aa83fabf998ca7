/* The kernels that measure a device: a copy, and reads and atomic additions that all go to the L2 cache. */
#include "jit/generate/gpu/write.h"

/* Lanes go to neighbouring sectors of 32 bytes, and each warp to another place each time. */
static const char kernels[] =
    "struct __attribute__((aligned(16))) op2_piece { unsigned a, b, c, d; };\n"
    "extern \"C\" __global__ void op2_fill(op2_piece *to, int n) {\n"
    "  const op2_piece zero = {0, 0, 0, 0};\n"
    "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = "
    "zero;\n"
    "}\n"
    "extern \"C\" __global__ void op2_copy(op2_piece *to, const op2_piece *from, int n) {\n"
    "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = "
    "from[i];\n"
    "}\n"
    "static __device__ unsigned op2_sector(unsigned i, unsigned mask) {\n"
    "  unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 977 + i * 131071;\n"
    "  x = (x ^ x >> 16) * 0x7feb352du;\n"
    "  x = (x ^ x >> 15) * 0x846ca68bu;\n"
    "  return ((x ^ x >> 16) & mask & ~31u) + threadIdx.x % 32;\n"
    "}\n"
    "extern \"C\" __global__ void op2_read(unsigned *data, unsigned mask, int times) {\n"
    "  unsigned sum = 0;\n"
    "#pragma unroll 4\n"
    "  for (int i = 0; i < times; i++) sum += OP2_READ(&data[op2_sector(i, mask) * 8]);\n"
    "  if (sum == 0x7654321) data[0] = sum;\n"
    "}\n"
    "extern \"C\" __global__ void op2_red(unsigned *data, unsigned mask, int times) {\n"
    "  for (int i = 0; i < times; i++) atomicAdd((float *)&data[op2_sector(i, mask) * 8], 1.0f);\n"
    "}\n";

static const char behind[] = GPU_WAIT_TEXT
    "extern \"C\" __global__ void op2_behind(op2_piece *to, int n) {\n"
    "  op2_wait_for_before();\n"
    "  const op2_piece zero = {0, 0, 0, 0};\n"
    "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = "
    "zero;\n"
    "}\n";

/* The same in OpenCL C, whose atomic additions are of integers. */
static const char opencl_kernels[] =
    "__kernel void op2_fill(__global uint4 *to, int n) {\n"
    "  for (int i = get_global_id(0); i < n; i += get_global_size(0)) to[i] = (uint4)(0);\n"
    "}\n"
    "__kernel void op2_copy(__global uint4 *to, __global const uint4 *from, int n) {\n"
    "  for (int i = get_global_id(0); i < n; i += get_global_size(0)) to[i] = from[i];\n"
    "}\n"
    "uint op2_sector(uint i, uint mask) {\n"
    "  uint x = (uint)get_global_id(0) / 32 * 977 + i * 131071;\n"
    "  x = (x ^ x >> 16) * 0x7feb352du;\n"
    "  x = (x ^ x >> 15) * 0x846ca68bu;\n"
    "  return ((x ^ x >> 16) & mask & ~31u) + (uint)get_local_id(0) % 32;\n"
    "}\n"
    "__kernel void op2_read(__global uint *data, uint mask, int times) {\n"
    "  uint sum = 0;\n"
    "  for (int i = 0; i < times; i++) sum += data[op2_sector(i, mask) * 8];\n"
    "  if (sum == 0x7654321) data[0] = sum;\n"
    "}\n"
    "__kernel void op2_red(__global uint *data, uint mask, int times) {\n"
    "  for (int i = 0; i < times; i++) atomic_inc(&data[op2_sector(i, mask) * 8]);\n"
    "}\n";

void gpu_rates_text(enum gpu_dialect dialect, bool dependents, struct text *out) {
  if (dialect == GPU_DIALECT_OPENCL) {
    text_add(out, opencl_kernels);
    return;
  }
  text_add(out, dialect == GPU_DIALECT_HIP
                    ? "#define OP2_READ(p) __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)\n"
                    : "#define OP2_READ(p) __ldcg(p)\n");
  text_add(out, kernels);
  text_add(out, dependents ? behind : "");
}
