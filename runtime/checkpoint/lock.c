/* FILE.lock: one run at a time has a checkpoint. The kernel lets go of it when the process ends, however it does. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/together.h"

/* Ranks of a run that was killed live on for a second or two. */
static const double patience = 6;
static const struct timespec pause_between = {.tv_nsec = 50000000};
#define LOCK_SUFFIX ".lock"

/* The run before may have removed the file while this one opened it: then others lock another one. */
static bool is_there_still(int file, const char *path) {
  struct stat mine, there;
  return fstat(file, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

/* 0, or what errno says; EAGAIN: another has it, and `who` is what it wrote. */
static int try_to_lock(struct checkpoint *k, const char *path, char *who, size_t room) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (file < 0)
    return errno;
  int why = fcntl(file, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
  if (why == EACCES)
    why = EAGAIN;
  if (why == EAGAIN) {
    const ssize_t length = pread(file, who, room - 1, 0);
    who[length > 0 ? length : 0] = '\0';
  } else if (!why && !is_there_still(file, path)) {
    why = EAGAIN;
    *who = '\0';
  }
  if (why)
    close(file);
  else
    k->lock = file;
  return why;
}

/* For the messages of others. Where that fails they say less. */
static void sign(const struct checkpoint *k) {
  struct text words = {0};
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  text_addf(&words, "process %ld on %s", (long)getpid(), host);
  if (!text_ok(&words) || ftruncate(k->lock, 0) != 0 ||
      pwrite(k->lock, text_str(&words), words.length, 0) < 0)
    errno = 0;
  text_free(&words);
}

static int lock_at(struct op_context *ctx, struct checkpoint *k, const char *path, struct error *err) {
  const double start = clock_seconds();
  char who[HOST_NAME_MAX + 64];
  int why = try_to_lock(k, path, who, sizeof who);
  if (why == EAGAIN)
    log_line(ctx->log, LOG_INFO, "io", "%s: waits for %s", path, *who ? who : "another run");
  while (why == EAGAIN && clock_seconds() - start < patience) {
    nanosleep(&pause_between, NULL);
    why = try_to_lock(k, path, who, sizeof who);
  }
  if (why == EAGAIN)
    return error_set(
        err, OP_ERR_FILE,
        "OP2_CHECKPOINT: %s is in use by %s; wait until that run has ended, or name another file", k->path,
        *who ? who : "another run");
  if (why)
    log_line(ctx->log, LOG_WARN, "io", "%s: %s; whether another run uses the checkpoint is not known", path,
             strerror(why));
  else
    sign(k);
  return OP_OK;
}

int checkpoint_lock(struct op_context *ctx, struct checkpoint *k, struct error *err) {
  struct text path = {0};
  int code = OP_OK;
  if (together_is_root(ctx->comm)) {
    text_addf(&path, "%s" LOCK_SUFFIX, k->path);
    code = text_ok(&path) ? lock_at(ctx, k, text_str(&path), err)
                          : error_memory(err, "a file's name", path.length);
  }
  text_free(&path);
  return together_agree(ctx->comm, code, err);
}

/* The file goes while nobody else can have locked it. */
void checkpoint_unlock(struct checkpoint *k) {
  struct text path = {0};
  if (k->lock < 0)
    return;
  text_addf(&path, "%s" LOCK_SUFFIX, k->path);
  if (text_ok(&path))
    unlink(text_str(&path));
  text_free(&path);
  close(k->lock);
  k->lock = -1;
}
