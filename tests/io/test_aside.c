/* Files are replaced as a whole; devices, pipes and streams are written as they are. */
#include "../unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/aside.h"

static char folder[] = "/tmp/op2jit-aside-XXXXXX";

FIXTURE(enter_folder) {
  return mkdtemp(folder) ? chdir(folder) : -1;
}

FIXTURE(leave_folder) {
  return chdir("/") || rmdir(folder);
}

static int write_words(const char *path, const char *words) {
  struct aside a;
  struct error err = {0};
  int code = aside_check(path, &err);
  if (!code)
    code = aside_open(&a, path, &err);
  if (!code)
    fputs(words, a.file);
  code = code ? code : aside_close(&a, code, &err);
  error_free(&err);
  return code;
}

static void has(const char *path, const char *words) {
  char found[64] = "";
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  assert_non_null(fgets(found, sizeof found, f));
  fclose(f);
  assert_string_equal(found, words);
}

/* A file has the whole of the new text, or what it had; a link stays one. */
TEST(files_are_replaced) {
  struct aside a;
  struct error err = {0};
  struct stat now;
  assert_int_equal(write_words("file", "one"), OP_OK);
  has("file", "one");
  assert_int_equal(symlink("file", "link"), 0);
  assert_int_equal(write_words("link", "two"), OP_OK);
  has("file", "two");
  assert_int_equal(lstat("link", &now), 0);
  assert_true(S_ISLNK(now.st_mode));
  assert_int_equal(aside_open(&a, "link", &err), OP_OK);
  fputs("three", a.file);
  assert_int_equal(aside_close(&a, OP_ERR_FILE, &err), OP_ERR_FILE);
  has("file", "two");
  assert_int_equal(write_words("none/file", "x"), OP_ERR_FILE);
  assert_int_equal(write_words(".", "x"), OP_ERR_FILE);
  unlink("link");
  unlink("file");
}

/* As root a device could be replaced by a file. */
TEST(what_is_no_file_stays) {
  struct stat now;
  char read_back[8] = "";
  assert_int_equal(mkfifo("pipe", 0600), 0);
  const int reader = open("pipe", O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  assert_int_equal(write_words("pipe", "words"), OP_OK);
  assert_int_equal(read(reader, read_back, sizeof read_back), 5);
  assert_string_equal(read_back, "words");
  assert_int_equal(stat("pipe", &now), 0);
  assert_true(S_ISFIFO(now.st_mode));
  close(reader);
  unlink("pipe");
}

/* The words that others wrote to the stream, and write after, are there too. */
TEST(streams_go_on) {
  char path[32];
  const int stream = open("out", O_WRONLY | O_CREAT | O_APPEND, 0600);
  assert_int_equal(write(stream, "a", 1), 1);
  snprintf(path, sizeof path, "/proc/self/fd/%d", stream);
  assert_int_equal(write_words(path, "b"), OP_OK);
  snprintf(path, sizeof path, "/dev/fd/%d", stream);
  assert_int_equal(write_words(path, "c"), OP_OK);
  assert_int_equal(write(stream, "d", 1), 1);
  close(stream);
  has("out", "abcd");
  unlink("out");
}

AROUND_ALL(enter_folder, leave_folder)
