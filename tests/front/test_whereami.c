/* The path of the library and of its plugins, in the build tree and in a tree laid out as installed. */
#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/whereami.h"

TEST(test_program_itself) {
  struct text path = {0};
  struct error err = {0};
  char expected[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", expected, sizeof expected - 1);
  assert_true(length > 0);
  expected[length] = '\0';
  assert_int_equal(whereami(&path, &err), OP_OK);
  assert_string_equal(text_str(&path), expected);
  text_free(&path);
  error_free(&err);
}

TEST(test_missing_plugin) {
  struct text path = {0};
  struct error err = {0};
  assert_int_equal(plugin_path("op2jit-nobody.so", NULL, &path, &err), OP_ERR_NOT_BUILT);
  assert_non_null(strstr(error_message(&err), "op2jit-nobody.so"));
  assert_non_null(strstr(error_message(&err), "tests/front/op2jit"));
  assert_int_equal(plugin_path("op2jit-nobody.so", "/nowhere", &path, &err), OP_ERR_NOT_BUILT);
  assert_non_null(strstr(error_message(&err), "/nowhere and not in"));
  text_free(&path);
  error_free(&err);
}

/* Makes FOLDER/NAME, an empty file, beside this program; the caller removes both. */
static void make_beside(struct text *folder, struct text *file, const char *inner, const char *name) {
  struct error err = {0};
  assert_int_equal(whereami(folder, &err), OP_OK);
  *strrchr(folder->data, '/') = '\0';
  folder->length = strlen(folder->data);
  text_addf(folder, "/%s", inner);
  text_addf(file, "%s/%s", text_str(folder), name);
  assert_true(mkdir(text_str(folder), 0777) == 0 || errno == EEXIST);
  int descriptor = open(text_str(file), O_CREAT | O_WRONLY, 0666);
  assert_true(descriptor >= 0);
  close(descriptor);
}

TEST(test_plugin_beside_the_library) {
  struct text folder = {0}, file = {0}, path = {0};
  struct error err = {0};
  make_beside(&folder, &file, "op2jit", "op2jit-somebody.so");
  int code = plugin_path("op2jit-somebody.so", "/nowhere", &path, &err);
  struct text named = {0};
  int named_code = plugin_path("op2jit-somebody.so", text_str(&folder), &named, &err);
  unlink(text_str(&file));
  rmdir(text_str(&folder));
  assert_int_equal(code, OP_OK);
  assert_string_equal(text_str(&path), text_str(&file));
  assert_int_equal(named_code, OP_OK);
  assert_string_equal(text_str(&named), text_str(&file));
  text_free(&named);
  text_free(&folder);
  text_free(&file);
  text_free(&path);
  error_free(&err);
}

TEST(test_plugin_in_the_build_tree) {
  struct text folder = {0}, file = {0}, path = {0};
  struct error err = {0};
  make_beside(&folder, &file, "../../jit/clang", "op2jit-builder.so");
  int code = plugin_path("op2jit-builder.so", NULL, &path, &err);
  unlink(text_str(&file));
  assert_int_equal(code, OP_OK);
  assert_non_null(strstr(text_str(&path), "/jit/clang/op2jit-builder.so"));
  text_free(&folder);
  text_free(&file);
  text_free(&path);
  error_free(&err);
}
