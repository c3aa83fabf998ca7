/* A disk that is full, and a limit on the size of files, as a quota is: on a small tmpfs of our own, which needs
 * root. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "support.h"

static char disk[300];

static void mount_disk(const char *size) {
  char options[64];
  umount(disk);
  snprintf(options, sizeof options, "size=%s,mode=0700", size);
  assert_int_equal(mount("small", disk, "tmpfs", 0, options), 0);
}

static void fill_up(const char *path, bool *stopped, int *kept) {
  struct store *s = test_open(path);
  *kept = 0;
  *stopped = false;
  for (int i = 0; i < 3000 && !*stopped; i++) {
    if (test_put(s, "res", i))
      ++*kept;
    else
      *stopped = true;
  }
  for (int i = 0; i < *kept; i++) /* reading goes on */
    assert_true(test_get(s, "res", i));
  for (int i = 0; i < 20; i++)
    test_put(s, "more", i);
  store_close(s);
}

TEST(disk_full) {
  static const char *const sizes[] = {"300k", "1m", "2m"};
  for (int i = 0; i < 3; i++) {
    char path[320];
    bool stopped;
    int kept;
    mount_disk(sizes[i]);
    snprintf(path, sizeof path, "%s/k.db", disk);
    capture_begin();
    fill_up(path, &stopped, &kept);
    capture_end();
    assert_true(stopped && kept > 0);
    assert_int_equal(capture_count("warning"), 1);
    assert_int_equal(capture_count("the disk or quota of"), 1);
    check_integrity(path);
    struct store *s = test_open(path);
    for (int k = 0; k < kept; k++)
      assert_true(test_get(s, "res", k));
    store_close(s);
    printf("  %s: %d rows kept\n", sizes[i], kept);
  }
}

TEST(no_room_at_all) {
  static const char *const sizes[] = {"4k", "8k", "20k", "60k"};
  for (int i = 0; i < 4; i++) {
    char path[320];
    mount_disk(sizes[i]);
    snprintf(path, sizeof path, "%s/a/k.db", disk);
    capture_begin();
    struct store *s = test_open(path);
    bool works = test_put(s, "res", 1) ? test_get(s, "res", 1) : true;
    store_close(s);
    capture_end();
    assert_true(works);
    assert_true(capture_count("warning") <= 1);
  }
}

TEST(size_limit) {
  char path[320];
  bool stopped;
  int kept;
  mount_disk("10m");
  snprintf(path, sizeof path, "%s/k.db", disk);
  struct rlimit before, limit = {600 << 10, 600 << 10};
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit.rlim_max = before.rlim_max;
  capture_begin();
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  struct store *s = test_open(path);
  stopped = false;
  for (kept = 0; kept < 3000 && !stopped; kept++)
    stopped = !test_put(s, "res", kept);
  store_close(s);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  capture_end();
  assert_true(stopped);
  assert_int_equal(capture_count("warning"), 1);
  s = test_open(path);
  for (int i = 0; i < kept - 1; i++)
    assert_true(test_get(s, "res", i));
  store_close(s);
  check_integrity(path);
}

FIXTURE(leave) {
  return umount(disk);
}

int main(void) {
  snprintf(disk, sizeof disk, "%s", test_path("disk"));
  if (mkdir(disk, 0700) != 0 || unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("small", disk, "tmpfs", 0, "size=100k,mode=0700") != 0)
    skip_all("a small tmpfs cannot be mounted; this needs root, and a kernel that lets it mount");
  return run_these(NULL, leave);
}
