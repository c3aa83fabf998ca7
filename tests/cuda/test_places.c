/* The needs of the CUDA backend: what is missing is named, and where it was looked for; which GPU is taken, and what
 * an NVRTC older than it makes. */
#include <dlfcn.h>
#include <unistd.h>

#include "backend.h"
#include "backend/gpu/cuda/cuda.h"

/* ---- what is missing ---- */
TEST(missing_parts) {
  assert_int_equal(start("OP2_CUDA_DRIVER=/nowhere/libcuda.so.1", NULL), OP_ERR_BACKEND);
  says("CUDA driver");
  says("/nowhere/libcuda.so.1");
  says("NVRTC 13.0");
  assert_int_equal(start("OP2_NVRTC=/nowhere/libnvrtc.so", NULL), OP_ERR_BACKEND);
  says("NVRTC");
  says("/nowhere/libnvrtc.so");
  assert_int_equal(start("OP2_CUDA_DRIVER=libm.so.6", NULL), OP_ERR_BACKEND);
  says("no CUDA driver");
  assert_int_equal(start("OP2_DEVICE=5", NULL), OP_ERR_BACKEND);
  says("numbered from 0");
  setenv("STANDIN_DEVICES", "0", 1);
  assert_int_equal(start(NULL, NULL), OP_ERR_BACKEND);
  says("no GPU");
  unsetenv("STANDIN_DEVICES");
  works(start(NULL, NULL));
  works(op_exit());
}

TEST(nvrtc_search) {
  struct nvrtc *n = NULL;
  struct error err = {0};
  struct text out = {0};
  const struct nvrtc_places places = {.named = "", .cuda_home = "/nowhere/cuda", .home = "/nowhere/home"};
  if (nvrtc_open(&n, &places, &err)) {
    assert_int_equal(err.code, OP_ERR_BACKEND);
    assert_non_null(strstr(error_message(&err), "/nowhere/cuda/lib64/libnvrtc.so"));
    assert_non_null(strstr(error_message(&err), "libnvrtc.so.13"));
    assert_non_null(strstr(error_message(&err), "OP2_NVRTC"));
  }
  nvrtc_close(n);
  nvrtc_describe(&(struct nvrtc_places){.named = "/nowhere/nvrtc"}, &out);
  assert_non_null(strstr(text_str(&out), "no NVRTC: "));
  text_free(&out);
  error_free(&err);
}

/* A copy of the stand-in at a place where NVRTC may be. */
static void put_nvrtc(const char *root, const char *folder, const char *file) {
  struct text path = {0};
  text_addf(&path, "mkdir -p '%s%s' && cp \"$OP2_NVRTC\" '%s%s/%s'", root, folder, root, folder, file);
  assert_int_equal(system(text_str(&path)), 0);
  text_free(&path);
}

static void finds(const struct nvrtc_places *places, const char *where) {
  struct nvrtc *n = NULL;
  struct error err = {0};
  if (nvrtc_open(&n, places, &err))
    fail_msg("%s", error_message(&err));
  if (!strstr(n->path, where))
    fail_msg("expected one in %s, got %s", where, n->path);
  nvrtc_close(n);
}

/* The named one first; then what the linker knows; then CUDA_HOME; then the wheels, those of the virtual
 * environment first. */
TEST(search_order) {
  char root[] = "/tmp/op2jit-nvrtc-XXXXXX", home[64], environment[64], toolkit[64], command[96];
  assert_non_null(mkdtemp(root));
  snprintf(home, sizeof home, "%s/home", root);
  snprintf(environment, sizeof environment, "%s/venv", root);
  snprintf(toolkit, sizeof toolkit, "%s/cuda", root);
  put_nvrtc(toolkit, "/lib64", "libnvrtc.so.13");
  put_nvrtc(environment, "/lib/python3.11/site-packages/nvidia/cu13/lib", "libnvrtc.so.13");
  put_nvrtc(home, "/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib", "libnvrtc.so.12");
  struct nvrtc_places places = {
      .named = getenv("OP2_NVRTC"), .cuda_home = toolkit, .home = home, .virtual_env = environment};
  finds(&places, "standin_nvrtc");
  places.named = "";
  void *known = dlopen("libnvrtc.so.13", RTLD_LAZY),
       *other = known ? NULL : dlopen("libnvrtc.so.12", RTLD_LAZY);
  const bool elsewhere = access("/usr/local/cuda/lib64", F_OK) == 0;
  if (known || other)
    finds(&places, known ? "libnvrtc.so.13" : "libnvrtc.so.12");
  else {
    finds(&places, toolkit);
    places.cuda_home = NULL;
    if (!elsewhere) {
      finds(&places, environment);
      places.virtual_env = NULL;
      finds(&places, home);
    }
  }
  if (known || other)
    dlclose(known ? known : other);
  snprintf(command, sizeof command, "rm -r '%s'", root);
  assert_int_equal(system(command), 0);
}

/* A program that the stand-in made without its checks finds nothing in checked mode, so no cache may give it then. */
TEST(modes_share_no_cache) {
  static const struct {
    const char *mode;
    int compiles;
  } runs[] = {{"fast", 1}, {"checked", 1}, {"fast", 0}, {"checked", 0}};
  char folder[] = "/tmp/op2jit-modes-XXXXXX", cache[64], command[64];
  assert_non_null(mkdtemp(folder));
  snprintf(cache, sizeof cache, "OP2_CACHE=%s/kernels.db", folder);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    setenv("STANDIN_MODE", runs[i].mode, 1);
    works(start(cache, NULL));
    op_set set = op_decl_set(10, "points");
    op_dat dat = op_decl_dat(set, 1, "double", NULL, "x");
    works(op_par_loop("void one(double *x) { *x = 1; }", "one", set,
                      op_arg_dat(dat, -1, OP_ID, 1, "double", OP_WRITE)));
    assert_int_equal(op_counters()->compiles, runs[i].compiles);
    works(op_exit());
  }
  unsetenv("STANDIN_MODE");
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
}

TEST(description) {
  struct text out = {0};
  works(start(NULL, NULL));
  backend_cuda.describe(api_context(), &out);
  assert_non_null(strstr(text_str(&out), "driver 13.0"));
  assert_non_null(strstr(text_str(&out), "GPU 0: stand-in 0, sm_90"));
  assert_non_null(strstr(text_str(&out), "NVRTC 13.0"));
  text_free(&out);
  works(op_exit());
}

TEST(devices_in_turn) {
  setenv("STANDIN_DEVICES", "3", 1);
  works(start("OP2_DEVICE=2", NULL));
  assert_int_equal(gpu_of(api_context(), space_of_device(0))->device.ordinal, 2);
  for (int rank = 0; rank < 7; rank++) {
    struct cuda_device device;
    struct error err = {0};
    assert_int_equal(
        cuda_device_choose(&((struct cuda *)gpu_of(api_context(), space_of_device(0))->self)->driver, -1,
                           rank, &device, &err),
        OP_OK);
    assert_int_equal(device.ordinal, rank % 3);
  }
  works(op_exit());
  unsetenv("STANDIN_DEVICES");
}

/* Keeps the library's words on standard error while the backend starts; returns its code. */
static int start_said(const char *first, char *said, size_t size) {
  FILE *file = tmpfile();
  const int before = dup(STDERR_FILENO);
  assert_non_null(file);
  fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  const int code = start("OP2_LOG=info,cuda", first);
  fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  rewind(file);
  said[fread(said, 1, size - 1, file)] = '\0';
  fclose(file);
  return code;
}

/* The log tells of PTX, and only then. */
TEST(ptx_is_told) {
  char said[4000];
  setenv("STANDIN_NVRTC", "11.8", 1);
  setenv("STANDIN_CAPABILITY", "120", 1);
  works(start_said(NULL, said, sizeof said));
  works(op_exit());
  assert_non_null(
      strstr(said, "NVRTC 11.8 is older than GPU 0 (sm_120): kernels are made as PTX of compute_90"));
  setenv("STANDIN_CAPABILITY", "90", 1);
  works(start_said(NULL, said, sizeof said));
  works(op_exit());
  assert_null(strstr(said, "PTX"));
  unsetenv("STANDIN_NVRTC");
  unsetenv("STANDIN_CAPABILITY");
}

int main(void) {
  begin_tests();
  return run_these(NULL, NULL);
}
