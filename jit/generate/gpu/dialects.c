/* The languages of GPUs as tables of words, and what else they differ in. */
#include "jit/generate/gpu/write.h"

/* ---- CUDA C ---- */
static const struct word cuda_named[] = {
    {"global", ""},
    {"wide", "long long"},
    {"widen", "(long long)"}, /* an int, before it is multiplied */
    {"restricted", "__restrict__"},
    {"constant", "static __device__ const"},
    {"variable", "__constant__"}, /* that the host sets */
    {"helper", "static __device__ __forceinline__ void"},
    {"kernel", "extern \"C\" __global__ void"},
    {"bounds", "__launch_bounds__"},
    {"thread", "threadIdx.x"},
    {"threads", "blockDim.x"},
    {"block", "blockIdx.x"},
    {"blocks", "gridDim.x"},
    {"barrier", "__syncthreads();"},
    {"shared", "extern __shared__"},
    {"aligned", "__align__(16)"},
    /* what is around the user's text, and before a name of it */
    {"openuser", "namespace op2_user {"},
    {"closeuser", "}"},
    {"user", "op2_user::"},
    {NULL, NULL},
};

static const struct words cuda_words = {
    .types = {[TYPE_DOUBLE] = "double",
              [TYPE_FLOAT] = "float",
              [TYPE_INT] = "int",
              [TYPE_UINT] = "unsigned int",
              [TYPE_LONGLONG] = "long long",
              [TYPE_ULONGLONG] = "unsigned long long",
              [TYPE_BOOL] = "bool",
              [TYPE_CHAR] = "char",
              [TYPE_SHORT] = "short"},
    .named = cuda_named,
    .wraps = true,
    .before_name = cuda_before_name,
};

static const struct gpu_language languages[GPU_DIALECTS] = {
    [GPU_DIALECT_CUDA] = {.words = &cuda_words,
                          .main_ending = ".loop.cu",
                          .prelude_file = "op2jit_cuda.h",
                          .prelude = cuda_prelude,
                          .check = cuda_check_kernel,
                          .copy_text = cuda_copy_text},
};

const struct gpu_language *gpu_language(enum gpu_dialect dialect) {
  return &languages[dialect];
}
