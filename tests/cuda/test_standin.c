/* The stand-in for CUDA itself: right programs run right in every order, and the checker finds each kind of mistake,
 * with its line, and reports none in the right ones. */
#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

enum { N = 1000, THREADS = 96 };

static struct device device;

static const char right_source[] =
    "extern \"C\" __global__ void __launch_bounds__(128) add_atomic(double *sum, const double *x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) atomicAdd(&sum[i % 7], x[i]);\n"
    "}\n"
    "extern \"C\" __global__ void reduce(double *out, const double *x, int n) {\n"
    "  extern __shared__ double part[];\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  double v = i < n ? x[i] : 0.0;\n"
    "  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);\n"
    "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x == 0) {\n"
    "    for (int w = 1; w < blockDim.x / 32; w++) v += part[w];\n"
    "    out[blockIdx.x] = v;\n"
    "  }\n"
    "}\n"
    "extern \"C\" __global__ void total(double *out, const double *x, int n, double *parts, unsigned "
    "*ticket) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  bool last = false;\n"
    "  parts[i] = i < n ? x[i] : 0.0;\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x == 0) {\n"
    "    __threadfence();\n"
    "    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;\n"
    "    if (last) __threadfence();\n"
    "  }\n"
    "  if (!__syncthreads_or(last) || threadIdx.x != 5) return;\n"
    "  double sum = 0;\n"
    "  for (int k = 0; k < gridDim.x * blockDim.x; k++) sum += parts[k];\n"
    "  *out = sum;\n"
    "}\n"
    "__constant__ double factor[2];\n"
    "extern \"C\" __global__ void scale(double *y, const double *x, int n) {\n"
    "  __shared__ double row[96];\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  row[threadIdx.x] = i < n ? x[i] : 0.0;\n"
    "  __syncthreads();\n"
    "  int j = blockDim.x - 1 - threadIdx.x;\n"
    "  if (i < n) y[i] = factor[0] * row[j] + factor[1];\n"
    "}\n"
    "extern \"C\" __global__ void vote(int *out, int n) {\n"
    "  unsigned mask = __ballot_sync(0xffffffffu, threadIdx.x % 3 == 0);\n"
    "  int any = __syncthreads_or(threadIdx.x == 5);\n"
    "  int below = __shfl_up_sync(0xffffffffu, (int)threadIdx.x, 1);\n"
    "  int twin = __shfl_xor_sync(0xffffffffu, (int)threadIdx.x, 1);\n"
    "  int first = __shfl_sync(0xffffffffu, (int)threadIdx.x, 0);\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = __popc(mask) + 100 * any + 1000 * (below + twin + first);\n"
    "}\n";

static void check_no_findings(const char *what) {
  char text[4000];
  int count = device.findings(text, sizeof text);
  if (count)
    fail_msg("%s: %d findings where there is no mistake:\n%s", what, count, text);
}

static void run_right(cuda_module module, unsigned long long seed) {
  double x[N], sum[7] = {0}, expected[7] = {0}, total = 0, back[N];
  int votes[N], n = N;
  unsigned blocks = (N + THREADS - 1) / THREADS;
  for (int i = 0; i < N; i++) {
    x[i] = i % 13 - 5;
    expected[i % 7] += x[i];
    total += x[i];
  }
  device.seed(seed);
  cuda_address dx = device_array(&device, x, sizeof x), dsum = device_array(&device, sum, sizeof sum),
               dout = device_array(&device, NULL, blocks * sizeof(double)),
               dy = device_array(&device, NULL, sizeof x), dv = device_array(&device, NULL, sizeof votes);
  assert_int_equal(
      device_launch(&device, module, "add_atomic", blocks, THREADS, 0, (void *[]){&dsum, &dx, &n}), 0);
  device_fetch(&device, sum, dsum, sizeof sum);
  for (int i = 0; i < 7; i++)
    assert_true(sum[i] == expected[i]);
  assert_int_equal(
      device_launch(&device, module, "reduce", blocks, THREADS, 3 * 8, (void *[]){&dout, &dx, &n}), 0);
  device_fetch(&device, back, dout, blocks * sizeof(double));
  double got = 0;
  for (unsigned i = 0; i < blocks; i++)
    got += back[i];
  assert_true(got == total);
  /* The last block adds up what all left, into memory of the host, and resets the ticket: twice. */
  double *landed;
  unsigned ticket = 0;
  assert_int_equal(device.driver.host_alloc((void **)&landed, sizeof *landed, 0), 0);
  cuda_address host = (uintptr_t)landed, dparts = device_array(&device, NULL, blocks * THREADS * 8),
               dticket = device_array(&device, &ticket, sizeof ticket);
  for (int round = 0; round < 2; round++) {
    *landed = -1;
    assert_int_equal(device_launch(&device, module, "total", blocks, THREADS, 0,
                                   (void *[]){&host, &dx, &n, &dparts, &dticket}),
                     0);
    assert_true(*landed == total);
  }
  assert_int_equal(device.driver.host_free(landed), 0);
  cuda_address constant;
  size_t bytes;
  double factor[2] = {3, 1};
  assert_int_equal(device.driver.module_global(&constant, &bytes, module, "factor"), 0);
  assert_int_equal(bytes, sizeof factor);
  assert_int_equal(device.driver.copy_in(constant, factor, sizeof factor, NULL), 0);
  assert_int_equal(device_launch(&device, module, "scale", blocks, THREADS, 0, (void *[]){&dy, &dx, &n}), 0);
  device_fetch(&device, back, dy, sizeof back);
  for (int i = 0; i < N; i++) {
    int j = i / THREADS * THREADS + THREADS - 1 - i % THREADS;
    assert_true(back[i] == 3 * (j < N ? x[j] : 0) + 1);
  }
  assert_int_equal(device_launch(&device, module, "vote", blocks, THREADS, 0, (void *[]){&dv, &n}), 0);
  device_fetch(&device, votes, dv, sizeof votes);
  for (int i = 0; i < N; i++) {
    int t = i % THREADS, lane = t % 32, set = 0;
    for (int k = t - lane; k < t - lane + 32; k++)
      set += k % 3 == 0;
    assert_int_equal(votes[i], set + 100 + 1000 * ((lane ? t - 1 : t) + (t ^ 1) + (t - lane)));
  }
  const cuda_address all[] = {dx, dsum, dout, dy, dv, dparts, dticket};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    assert_int_equal(device.driver.memory_free(all[i]), 0);
}

TEST(right_programs) {
  struct text log = {0};
  cuda_module module = device_compile(&device, "right.cu", right_source, &log);
  if (!module)
    fail_msg("%s", text_str(&log));
  for (unsigned long long seed = 0; seed < 4; seed++) {
    run_right(module, seed);
    check_no_findings("right programs");
  }
  device.driver.module_unload(module);
  text_free(&log);
}

/* A wrong kernel `bad(double *a, double *b, int n)`, a line each; the finding's kind and the line it must name. */
struct mistake {
  const char *what, *kind;
  int line;
  const char *body;
};
static const struct mistake mistakes[] = {
    {"a plain update of one target by several blocks", "race", 4, "\n\n  a[0] += b[i % n];\n"},
    {"an atomic and a plain update", "race", 4,
     "\n  if (threadIdx.x & 1) atomicAdd(&a[0], 1.0);\n  else a[0] += 1;\n"},
    {"a missing barrier", "race", 5,
     "  __shared__ double s[96];\n  s[threadIdx.x] = 1;\n\n  a[i % n] = s[95 - threadIdx.x];\n"},
    {"a missing barrier before shared memory is used again", "race", 6,
     "  __shared__ double s[96];\n  s[threadIdx.x] = 1; __syncthreads();\n  double v = s[95 - "
     "threadIdx.x];\n\n"
     "  s[threadIdx.x] = v;\n  a[i % n] = v;\n"},
    {"lanes of one warp without __syncwarp", "race", 4,
     "  __shared__ double s[96];\n  s[threadIdx.x] = 1;\n  a[i % n] = s[threadIdx.x ^ 1];\n"},
    {"a result that is handed over without a fence", "race", 5,
     "  if (threadIdx.x) return;\n  b[blockIdx.x] = 1;\n  if (atomicAdd(&a[9], 1.0) == 2) { "
     "__threadfence();\n"
     "    a[0] = b[0] + b[1] + b[2]; }\n"},
    {"a result that is taken over without a fence", "race", 4,
     "  if (threadIdx.x) return;\n  b[blockIdx.x] = 1; __threadfence();\n"
     "  if (atomicAdd(&a[9], 1.0) == 2) a[0] = b[0] + b[1] + b[2];\n"},
    {"a result that another thread wrote, without a barrier before the fence", "race", 5,
     "  if (threadIdx.x == 40) b[blockIdx.x] = 1;\n  if (threadIdx.x) return; __threadfence();\n"
     "  if (atomicAdd(&a[9], 1.0) == 2) { __threadfence();\n    a[0] = b[0] + b[1] + b[2]; }\n"},
    {"a result that is counted before the fence, and handed over by another word", "race", 5,
     "  if (threadIdx.x) return;\n  b[blockIdx.x] = 1;\n"
     "  double before = atomicAdd(&a[9], 1.0); __threadfence(); atomicAdd(&a[8], 1.0);\n"
     "  if (before == 2) a[0] = b[0] + b[1] + b[2];\n"},
    {"a store behind the array", "out of bounds", 2, "  if (i == n - 1) a[n] = 1;\n"},
    {"a load before the array", "out of bounds", 2, "  if (i == 0) b[i] = a[i - 1];\n"},
    {"a store behind dynamic shared memory", "out of bounds", 3,
     "  extern __shared__ double d[];\n  d[threadIdx.x + 1] = 1;\n"},
    {"a misaligned vector load", "misaligned", 2,
     "  if (i == 0) { double2 v = *(double2 *)(b + 1); a[0] = v.x + v.y; }\n"},
    {"a barrier that not all reach", "divergence", 2, "  if (threadIdx.x < 40) __syncthreads();\n"},
    {"a barrier after some threads have ended", "divergence", 3,
     "  if (i >= n) return;\n  __syncthreads();\n"},
    {"two barriers for one", "divergence", 2,
     "  if (threadIdx.x < 40) __syncthreads();\n  else __syncthreads();\n"},
    {"a mask without the thread itself", "wrong mask", 2, "  a[i % n] = __shfl_down_sync(0xfu, 1.0, 1);\n"},
    {"a mask that names lanes that are elsewhere", "divergence", 2,
     "  if (threadIdx.x % 32 < 16) b[i % n] = __shfl_down_sync(0xffffffffu, 1.0, 1);\n"},
    {"a read of undefined shared memory", "uninitialised", 3,
     "  __shared__ double s[96];\n  a[i % n] = s[threadIdx.x];\n"},
    {"a read of undefined device memory", "uninitialised", 2, "  if (i == 3) b[3] = a[3];\n"},
    {"a trap", "trap", 2, "  if (i == 7) assert(n < 0);\n"},
};

static void find(const struct mistake *m, unsigned long long seed) {
  struct text source = {0}, log = {0};
  text_addf(
      &source,
      "extern \"C\" __global__ void bad(double *a, double *b, int n) { int i = blockIdx.x * blockDim.x + "
      "threadIdx.x;\n%s}\n",
      m->body);
  cuda_module module = device_compile(&device, "bad.cu", text_str(&source), &log);
  if (!module)
    fail_msg("%s: %s", m->what, text_str(&log));
  double x[200] = {0};
  int n = 200;
  device.seed(seed);
  cuda_address a = device_array(&device, strcmp(m->kind, "uninitialised") ? x : NULL, sizeof x),
               b = device_array(&device, x, sizeof x);
  int code = device_launch(&device, module, "bad", 3, THREADS, THREADS * 8, (void *[]){&a, &b, &n});
  char found[20000], wanted[64], line[64];
  int count = device.findings(found, sizeof found);
  snprintf(wanted, sizeof wanted, "standin: %s: ", m->kind);
  snprintf(line, sizeof line,
           strcmp(m->kind, "divergence") && strcmp(m->kind, "wrong mask") && strcmp(m->kind, "trap")
               ? "bad.cu:%d"
               : "line %d",
           m->line);
  if (!code || !count || !strstr(found, wanted) || !strstr(found, line))
    fail_msg("%s (seed %llu): launch gave %d, expected \"%s\" at %s, found:\n%s", m->what, seed, code, wanted,
             line, found);
  device_reset(&device);
  device.driver.module_unload(module);
  device.driver.memory_free(a);
  device.driver.memory_free(b);
  text_free(&source);
  text_free(&log);
}

TEST(wrong_programs) {
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
    for (unsigned long long seed = 0; seed < 2; seed++)
      find(&mistakes[i], seed);
}

static const char copy_source[] = "extern \"C\" __global__ void copy(double *a, const double *b, int n) {\n"
                                  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                  "  if (i < n) a[i] = b[i];\n"
                                  "}\n";

TEST(wrong_pointers) {
  struct text log = {0};
  cuda_module module = device_compile(&device, "copy.cu", copy_source, &log);
  assert_non_null(module);
  double x[10] = {0};
  int n = 10;
  char found[2000];
  cuda_address a = device_array(&device, x, sizeof x), b = device_array(&device, x, sizeof x),
               host = (uintptr_t)x;
  assert_int_equal(device_launch(&device, module, "copy", 1, 32, 0, (void *[]){&a, &host, &n}), 700);
  assert_true(device.findings(found, sizeof found) == 1 && strstr(found, "host pointer"));
  device_reset(&device);
  assert_int_equal(device.driver.memory_free(b), 0);
  assert_int_equal(device_launch(&device, module, "copy", 1, 32, 0, (void *[]){&a, &b, &n}), 700);
  assert_true(device.findings(found, sizeof found) >= 1 && strstr(found, "use after free"));
  device_reset(&device);
  assert_int_equal(device.driver.memory_free(a), 0);
  device.driver.module_unload(module);
  text_free(&log);
}

/* A stream's work is done when it is waited for, and no other's, unless it waits for that by an event. */
TEST(streams_wait_for_one_another_by_events_alone) {
  const struct cuda_driver *d = &device.driver;
  double values[2] = {1, 2}, *landed;
  cuda_stream streams[2];
  cuda_event event;
  const cuda_address at = device_array(&device, values, sizeof values);
  assert_int_equal(d->stream_wait(NULL), 0);
  assert_int_equal(d->host_alloc((void **)&landed, sizeof values, 0), 0);
  assert_int_equal(d->event_create(&event, 0), 0);
  for (int i = 0; i < 2; i++)
    assert_int_equal(d->stream_create(&streams[i], 1), 0);
  for (int waits = 0; waits < 2; waits++) {
    landed[0] = landed[1] = 0;
    assert_int_equal(d->copy_out(&landed[0], at, sizeof *values, streams[0]), 0);
    assert_int_equal(d->event_record(event, streams[0]), 0);
    if (waits)
      assert_int_equal(d->stream_wait_event(streams[1], event, 0), 0);
    assert_int_equal(d->copy_out(&landed[1], at + sizeof *values, sizeof *values, streams[1]), 0);
    assert_int_equal(d->stream_wait(streams[1]), 0);
    assert_true(landed[0] == (waits ? 1 : 0) && landed[1] == 2);
    assert_int_equal(d->event_query(event), waits ? 0 : CUDA_NOT_READY);
    assert_int_equal(d->event_wait(event), 0);
    assert_true(landed[0] == 1);
  }
  for (int i = 0; i < 2; i++)
    assert_int_equal(d->stream_destroy(streams[i]), 0);
  assert_int_equal(d->event_destroy(event), 0);
  assert_int_equal(d->host_free(landed), 0);
  assert_int_equal(d->memory_free(at), 0);
}

TEST(limits) {
  struct text log = {0};
  cuda_module module = device_compile(&device, "copy.cu", copy_source, &log);
  cuda_address p = 0;
  int n = 0;
  assert_int_equal(device.driver.memory_alloc(&p, (size_t)1 << 40), 2);
  assert_int_equal(device_launch(&device, module, "copy", 0, 32, 0, (void *[]){&p, &p, &n}), 1);
  assert_int_equal(device_launch(&device, module, "copy", 1, 2048, 0, (void *[]){&p, &p, &n}), 1);
  assert_null(device_compile(&device, "wrong.cu",
                             "extern \"C\" __global__ void f(int *a) {\n  a[0] = b;\n}\n", &log));
  assert_non_null(strstr(text_str(&log), "wrong.cu:2:"));
  device.driver.module_unload(module);
  text_free(&log);
}

int main(void) {
  if (!getenv("STANDIN_LOUD"))
    setenv("STANDIN_QUIET", "1", 1);
  device_open(&device, "checked");
  int failed = run_these(NULL, NULL);
  device_close(&device);
  return failed;
}
