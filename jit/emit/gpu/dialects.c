/* The languages of GPUs as tables of words, and what else they differ in. */
#include <string.h>

#include "jit/emit/gpu/write.h"
#include "jit/kernel/parameters.h"

/* ---- CUDA C ---- */
/* Words that CUDA C and HIP share: `user` and its neighbours stand around the user's text, and before a name of it.
 * */
#define CUDA_NAMED                                                                                           \
  {"global", ""}, {"wide", "long long"}, {"widen", "(long long)"}, {"restricted", "__restrict__"},           \
      {"constant", "static __device__ const"}, {"variable", "__constant__"},                                 \
      {"helper", "static __device__ __forceinline__ void"}, {"kernel", "extern \"C\" __global__ void"},      \
      {"bounds", "__launch_bounds__"}, {"thread", "threadIdx.x"}, {"threads", "blockDim.x"},                 \
      {"place", "threadIdx.x"}, {"block", "blockIdx.x"}, {"blocks", "gridDim.x"},                            \
      {"barrier", "__syncthreads();"}, {"shared", "extern __shared__"}, {"aligned", "__align__(16)"},        \
      {"openuser", "namespace op2_user {"}, {"closeuser", "}"}, {"user", "op2_user::"},                      \
      {"floatbits", "__float_as_int"}, {"doublebits", "__double_as_longlong"},
static const struct word cuda_named[] = {
    CUDA_NAMED{"lanes", "32"}, /* threads that run in step */
    {"half", "16"},
    {"step", "__syncwarp();"}, /* what one lane of a warp stored is there for the others */
    {NULL, NULL},
};
static const struct word hip_named[] = {
    CUDA_NAMED{"lanes", "OP2_LANES"}, /* which the compiler is told */
    {"half", "(OP2_LANES / 2)"},
    {"step", "__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, \"wavefront\"); __builtin_amdgcn_wave_barrier();"},
    {NULL, NULL},
};

/* Through a map elements may meet. */
static bool cuda_adds_apart(const struct generator *g, const struct desc_arg *a) {
  return a->map >= 0 || dat_is_apart(g->d, a->dat);
}

/* The user's text, which is C, for a compiler that reads C++: every change to it, and the names that change. */
/* Words of C++ that are names in C. */
static const char foreign[] =
    " alignas alignof and and_eq bitand bitor catch char16_t char32_t char8_t class co_await "
    "co_return co_yield compl concept const_cast consteval constexpr constinit decltype delete "
    "dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public reinterpret_cast requires static_assert "
    "static_cast template this thread_local throw try typeid typename using virtual xor xor_eq ";

static bool is_foreign(const char *word, size_t length) {
  return word_is_among(word, length, foreign);
}

/* The prefix of a name of the user's: nothing, or letters that make a word of C++ a name again. */
static const char *cuda_before_name(const char *name) {
  return is_foreign(name, strlen(name)) ? "op2_c_" : "";
}

#define CUDA_WORDS(named_)                                                                                   \
  {                                                                                                          \
    .types = {[TYPE_DOUBLE] = "double",                                                                      \
              [TYPE_FLOAT] = "float",                                                                        \
              [TYPE_INT] = "int",                                                                            \
              [TYPE_UINT] = "unsigned int",                                                                  \
              [TYPE_LONGLONG] = "long long",                                                                 \
              [TYPE_ULONGLONG] = "unsigned long long",                                                       \
              [TYPE_BOOL] = "bool",                                                                          \
              [TYPE_CHAR] = "char",                                                                          \
              [TYPE_SHORT] = "short"},                                                                       \
    .named = named_, .wraps = true, .before_name = cuda_before_name, .adds_apart = cuda_adds_apart,          \
  }
static const struct words cuda_words = CUDA_WORDS(cuda_named), hip_words = CUDA_WORDS(hip_named);

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
    {"place", "op2_place()"}, /* in the order of sub-groups, where they are */
    {"lanes", "OP2_LANES"},   /* which the compiler is told, where they are */
    {"step", "op2_step();"},
    {"sized", "op2_sized "}, /* the kernel has sub-groups of so many, where that can be asked for */
    {"block", "get_group_id(0)"},
    {"blocks", "get_num_groups(0)"},
    {"barrier", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"},
    {"shared", "__local "},
    {"aligned", "__attribute__((aligned(16)))"},
    {"floatbits", "as_int"},
    {"doublebits", "as_long"},
    {"openuser", ""},
    {"closeuser", ""},
    {"user", ""},
    {NULL, NULL},
};

static bool opencl_adds_apart(const struct generator *g, const struct desc_arg *a) {
  (void)g, (void)a;
  return true;
}

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
                                          .before_name = opencl_before_name,
                                          .adds_apart = opencl_adds_apart};

/* Names of CUDA C that HIP lacks, or calls otherwise. Wavefronts are 32 or 64 wide: all of a block's are whole. */
static const char hip_front[] =
    "#pragma clang force_cuda_host_device begin\n" /* functions without a word are the device's too */
    "#define int64_t op2_int64\n#define uint64_t op2_uint64\n" /* its own are of other types */
    "#define __align__(n) __attribute__((aligned(n)))\n"
    "#define __shfl_down_sync(mask, v, down) __shfl_down(v, down, OP2_LANES)\n"
    "#define __shfl_xor_sync(mask, v, with) __shfl_xor(v, with, OP2_LANES)\n"
    "#define __shfl_sync(mask, v, lane, width) __shfl(v, lane, width)\n"
    "#define __ldcg(p) __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)\n";

/* Shuffles between the OP2_ROWS threads of an element, which are neighbours in a warp: others of the warp may be
 * elsewhere. */
static const char cuda_rows[] =
    "static __device__ __forceinline__ unsigned op2_row_mask() {\n"
    "  return (0xffffffffu >> (32 - OP2_ROWS)) << (threadIdx.x % 32 / OP2_ROWS * OP2_ROWS);\n"
    "}\n"
    "static __device__ __forceinline__ int op2_row_down(int v, int down) {\n"
    "  return __shfl_down_sync(op2_row_mask(), v, down, OP2_ROWS);\n"
    "}\n"
    "static __device__ __forceinline__ int op2_row_first(int v) {\n"
    "  return __shfl_sync(op2_row_mask(), v, 0, OP2_ROWS);\n"
    "}\n"
    "static __device__ __forceinline__ void op2_row_meet() { __syncwarp(op2_row_mask()); }\n";
/* They run in step; only the compiler could move what is stored before what is read. */
static const char hip_rows[] =
    "static __device__ __forceinline__ int op2_row_down(int v, int down) { return __shfl_down(v, down, "
    "OP2_ROWS); }\n"
    "static __device__ __forceinline__ int op2_row_first(int v) { return __shfl(v, 0, OP2_ROWS); }\n"
    "static __device__ __forceinline__ void op2_row_meet() {\n"
    "  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, \"wavefront\");\n"
    "  __builtin_amdgcn_wave_barrier();\n"
    "}\n";

static const char cuda_near[] = "#define OP2_FROM(v, lane) __shfl_sync(0xffffffffu, v, lane)\n"
                                "#ifndef OP2_LANES\n#define OP2_LANES 32\n#endif\n";
static const char hip_near[] = "#define OP2_FROM(v, lane) __shfl(v, lane, OP2_LANES)\n";

/* Tokens `first` up to `end` become blanks; lines stay. */
static void blank(const struct tokens *t, size_t first, size_t end, char *text) {
  for (size_t at = t->items[first].begin; first < end && at < t->items[end - 1].end; at++)
    if (text[at] != '\n')
      text[at] = ' ';
}

/* Words that C allows in a parameter's brackets and C++ does not: `double b[restrict 2]`. */
static void blank_qualifiers(const struct tokens *t, size_t open, char *text) {
  static const char *const words[] = {"static", "restrict", "const", "volatile"};
  for (size_t at = open + 1, w = 0; w < sizeof words / sizeof *words; w++)
    if (token_is(t, at, words[w])) {
      blank(t, at, at + 1, text);
      at++;
      w = (size_t)-1;
    }
}

/* `double w[n]` is a pointer, whatever n is. `open`: the parenthesis of a function's parameters. */
static void blank_lengths(const struct tokens *t, size_t open, char *text) {
  const size_t end = kernel_skip_brackets(t, open);
  for (size_t i = open + 1; i < end; i++)
    if (token_is(t, i, "[") || token_is(t, i, "(")) {
      const size_t behind = kernel_skip_brackets(t, i);
      bool named = false;
      for (size_t j = i + 1; j < behind; j++)
        named |= token_is_identifier(t, j);
      if (named && token_is(t, i, "[") && token_is_identifier(t, i - 1))
        blank(t, i + 1, behind - 1, text);
      i = behind - 1;
    }
}

static bool declares_function(const struct tokens *t, size_t open) {
  return open > 1 && token_is(t, open, "(") && token_is_identifier(t, open - 1) &&
         (token_is_identifier(t, open - 2) || token_is(t, open - 2, "*"));
}

/* `(void *)0`, which C++ converts to no other pointer: C's NULL, with its macro replaced. */
static bool is_null(const struct tokens *t, size_t i) {
  return token_is(t, i, "(") && token_is(t, i + 1, "void") && token_is(t, i + 2, "*") &&
         token_is(t, i + 3, ")") && token_is(t, i + 4, "0");
}

static void change(const struct tokens *t, char *text) {
  static const char null[] = {'N', 'U', 'L', 'L'};
  int depth = 0;
  for (size_t i = 0; i < t->count; i++) {
    if (token_is(t, i, "["))
      blank_qualifiers(t, i, text);
    if (is_null(t, i)) {
      blank(t, i, i + 5, text);
      memcpy(text + t->items[i].begin, null, sizeof null);
    }
    if (t->items[i].directive)
      continue;
    depth += token_is(t, i, "{") - token_is(t, i, "}");
    if (depth == 0 && declares_function(t, i))
      blank_lengths(t, i, text);
  }
}

/* The user's text, changed where C++ would read something else. Lines stay. */
static void cuda_copy_text(const struct kernel *k, const struct desc *d, struct text *out) {
  (void)d;
  const struct tokens *t = &k->tokens;
  struct text changed = {0};
  size_t done = 0;
  text_add_bytes(&changed, k->text, k->length);
  if (text_ok(&changed) && changed.length)
    change(t, changed.data);
  const char *text = text_str(&changed);
  for (size_t i = 0; text_ok(&changed) && i < t->count; i++) {
    const struct token *token = &t->items[i];
    if (token->kind != TOKEN_IDENTIFIER || !is_foreign(text + token->begin, token->end - token->begin))
      continue;
    text_add_bytes(out, text + done, token->begin - done);
    text_add(out, "op2_c_");
    done = token->begin;
  }
  text_add_bytes(out, text + done, changed.length - done);
  text_add_char(out, '\n');
  out->failed |= changed.failed;
  text_free(&changed);
}

static const struct gpu_language languages[GPU_DIALECTS] = {
    [GPU_DIALECT_CUDA] = {.words = &cuda_words,
                          .main_ending = ".loop.cu",
                          .prelude_file = "op2jit_cuda.h",
                          .prelude = cuda_prelude,
                          .copy_text = cuda_copy_text,
                          .rows = cuda_rows,
                          .near = cuda_near},
    [GPU_DIALECT_HIP] = {.words = &hip_words,
                         .main_ending = ".loop.hip",
                         .prelude_file = "op2jit_hip.h",
                         .front = hip_front,
                         .prelude = cuda_prelude,
                         .copy_text = cuda_copy_text,
                         .rows = hip_rows,
                         .near = hip_near},
    [GPU_DIALECT_OPENCL] = {.words = &opencl_words,
                            .main_ending = ".loop.cl",
                            .prelude_file = "op2jit_opencl.h",
                            .prelude = opencl_prelude,
                            .copies = true,
                            .copy_text = opencl_copy_text},
};

const struct gpu_language *gpu_language(enum gpu_dialect dialect) {
  return &languages[dialect];
}

void cuda_constant_symbol(const char *name, struct text *out) {
  const char *before = cuda_before_name(name);
  text_addf(out, "_ZN8op2_user%zu%s%sE", strlen(before) + strlen(name), before, name);
}
