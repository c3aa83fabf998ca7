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

/* ---- OpenCL C ---- */
static const struct word opencl_named[] = {
    {"global", "__global "},
    {"wide", "long"},
    {"widen", "(long)"},
    {"toint", "(int)"},
    {"restricted", "restrict"},
    {"constant", "__constant const"},
    {"variable", "__constant"},
    {"helper", "static void"},
    {"kernel", "__kernel void"},
    {"bounds", "op2_bounds"},
    {"thread", "get_local_id(0)"},
    {"threads", "get_local_size(0)"},
    {"block", "get_group_id(0)"},
    {"blocks", "get_num_groups(0)"},
    {"barrier", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"},
    {"shared", "__local "},
    {"aligned", "__attribute__((aligned(16)))"},
    {"openuser", ""},
    {"closeuser", ""},
    {"user", ""},
    {NULL, NULL},
};

static const struct words opencl_words = {.types = {[TYPE_DOUBLE] = "double",
                                                    [TYPE_FLOAT] = "float",
                                                    [TYPE_INT] = "int",
                                                    [TYPE_UINT] = "uint",
                                                    [TYPE_LONGLONG] = "long",
                                                    [TYPE_ULONGLONG] = "ulong",
                                                    [TYPE_BOOL] = "bool",
                                                    [TYPE_CHAR] = "char",
                                                    [TYPE_SHORT] = "short"},
                                          .named = opencl_named,
                                          .wraps = true,
                                          .before_name = opencl_before_name};

static const struct gpu_language languages[GPU_DIALECTS] = {
    [GPU_DIALECT_CUDA] = {.words = &cuda_words,
                          .main_ending = ".loop.cu",
                          .prelude_file = "op2jit_cuda.h",
                          .prelude = cuda_prelude,
                          .check = cuda_check_kernel,
                          .copy_text = cuda_copy_text},
    [GPU_DIALECT_OPENCL] = {.words = &opencl_words,
                            .main_ending = ".loop.cl",
                            .prelude_file = "op2jit_opencl.h",
                            .prelude = opencl_prelude,
                            .copies = true,
                            .check = opencl_check_kernel,
                            .copy_text = opencl_copy_text},
};

const struct gpu_language *gpu_language(enum gpu_dialect dialect) {
  return &languages[dialect];
}
