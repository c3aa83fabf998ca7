/* OP2_CHECKPOINT, and the life of what it asks for. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "context/env.h"
#include "context/trace.h"
#include "files/io.h"
#include "files/layout.h"

enum { MIB = 1 << 20, MOST = 64, GAP = 16 };
static const double ten_minutes = 600;

/* ---- what is asked for ---- */

struct unit {
  const char *word;
  double factor;
};
static const struct unit times[] = {{"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}, {NULL, 0}},
                         sizes[] = {{"K", 1024}, {"M", MIB}, {"G", 1024.0 * (double)MIB}, {NULL, 0}};

/* A number with one of the units behind it, or none: *unit is 1 then, and *bare is set. */
static bool read_number(const char *text, const struct unit *units, double *out, bool *bare) {
  char *end;
  errno = 0;
  const long long number = strtoll(text, &end, 10);
  *bare = *end == '\0';
  *out = (double)number;
  for (const struct unit *u = units; !*bare && u->word; u++)
    if (strcmp(end, u->word) == 0) {
      *out *= u->factor;
      return number > 0 && !errno;
    }
  return *bare && end != text && number > 0 && !errno;
}

static bool take_every(struct checkpoint *k, const char *value) {
  bool bare;
  double number;
  if (!read_number(value, times, &number, &bare))
    return false;
  k->every_loops = bare ? (long long)number : 0;
  k->every_seconds = number;
  return true;
}

static bool take_values(struct checkpoint *k, const char *value) {
  bool bare;
  double number;
  if (!read_number(value, sizes, &number, &bare) || number > 1e18)
    return false;
  k->most = (size_t)number;
  return true;
}

static bool take_beside(struct checkpoint *k, const char *value) {
  k->beside = strcmp(value, "on") == 0;
  return k->beside || strcmp(value, "off") == 0;
}

/* Those behind the file's name. The text is changed. */
static bool take_options(struct checkpoint *k, char *text) {
  static const struct {
    const char *name;
    bool (*take)(struct checkpoint *k, const char *value);
  } options[] = {{"every", take_every}, {"values", take_values}, {"beside", take_beside}};
  for (char *rest = text, *word; (word = strtok_r(rest, ",", &text)); rest = NULL) {
    char *value = strchr(word, '=');
    bool known = false;
    if (!value)
      return false;
    *value++ = '\0';
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
      if (strcmp(word, options[i].name) == 0)
        known = options[i].take(k, value);
    if (!known)
      return false;
  }
  return true;
}

/* The program may go to another folder. */
static char *whole_path(const char *name, size_t length) {
  struct text path = {0};
  char folder[PATH_MAX];
  if (*name != '/' && getcwd(folder, sizeof folder))
    text_addf(&path, "%s/", folder);
  text_add_bytes(&path, name, length);
  return text_take(&path);
}

static int take_wishes(struct checkpoint *k, const char *value, struct error *err) {
  const size_t length = strcspn(value, ",");
  char *options = strdup(value + length);
  k->path = whole_path(value, length);
  int code = options && k->path ? OP_OK : error_memory(err, "the value of OP2_CHECKPOINT", strlen(value));
  if (!code && (!length || !take_options(k, options)))
    code = error_set(
        err, OP_ERR_ENV,
        "OP2_CHECKPOINT=%s: expected FILE, and behind it, each after a comma, every=TIME (10min, 30s, 2h, "
        "or a number of loops), values=SIZE (64M), beside=off",
        value);
  free(options);
  return code;
}

/* ---- life ---- */

/* FILE.lock: one run at a time has a checkpoint. The kernel lets go of it when the process ends, however it does. */
/* Ranks of a run that was killed live on for a second or two. */
static const double patience = 6;
static const struct timespec pause_between = {.tv_nsec = 50000000};
#define LOCK_SUFFIX ".lock"

/* The file goes while nobody else can have locked it. */
static void checkpoint_unlock(struct checkpoint *k) {
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

static void drop(struct checkpoint *k) {
  checkpoint_abandon(k);
  image_free(&k->image);
  image_free(&k->behind_image);
  past_free(k->past);
  checkpoint_unlock(k);
  happened_free(&k->happened);
  text_free(&k->values);
  text_free(&k->own);
  text_free(&k->left);
  free(k->pieces);
  free(k->marks);
  free(k->maps);
  error_free(&k->behind_error);
  free(k->path);
  free(k);
}

static int open_here(struct op_context *ctx, struct checkpoint *k, const char *value, struct error *err) {
  k->every_seconds = ten_minutes;
  k->most = (size_t)MOST * MIB;
  k->beside = true;
  k->begin_at = k->lock = -1;
  k->ask_gap = k->ask_at = GAP;
  k->opened = k->began = clock_seconds();
  k->process = getpid();
  behind_open(&k->behind, BEHIND_LOWEST / 2);
  checkpoint_record(k);
  if (ctx->compiled)
    return error_set(
        err, OP_ERR_ENV,
        "OP2_CHECKPOINT=%s: programs with OP2's own headers look at data without a call, which checkpoints "
        "cannot follow; include op2jit.h in place of op_seq.h",
        value);
  return take_wishes(k, value, err);
}

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

static int checkpoint_lock(struct op_context *ctx, struct checkpoint *k, struct error *err) {
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

int checkpoint_open(struct op_context *ctx, struct error *err) {
  const char *value = env_value(ctx->env, ENV_CHECKPOINT);
  if (!*value)
    return OP_OK;
  struct checkpoint *k = calloc(1, sizeof *k);
  int code = k ? open_here(ctx, k, value, err) : error_memory(err, "a checkpoint", sizeof *k);
  code = together_agree(ctx->comm, code, err);
  if (!code && (code = io_table(ctx, &k->files, err)))
    error_prefix(err, "OP2_CHECKPOINT=%s: ", value);
  if (!code)
    code = checkpoint_lock(ctx, k, err);
  if (!code)
    code = past_open(ctx, k->path, &k->past, err);
  if (code) {
    if (k)
      drop(k);
    return code;
  }
  ctx->recorder = &k->recorder;
  ctx->trace->checkpoints = &k->facts;
  return OP_OK;
}

static void remove_files(const struct checkpoint *k) {
  struct text previous = {0};
  text_addf(&previous, "%s" PREVIOUS, k->path);
  unlink(k->path);
  if (text_ok(&previous))
    unlink(text_str(&previous));
  text_free(&previous);
}

/* A program that did nothing leaves what is there. */
int checkpoint_end(struct op_context *ctx, struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  if (!k || k->process != getpid())
    return OP_OK;
  checkpoint_join(ctx, k);
  if (k->keep || k->happened.history.count == 0)
    return OP_OK;
  if (k->past)
    return error_set(
        err, OP_ERR_FILE,
        "the program ends after %lld events, and its checkpoint %s was written behind %lld: it is of another "
        "program, or was told to do more; the file stays, remove it to begin anew",
        k->happened.history.count, text_str(&k->past->path), k->past->facts[FACT_EVENT]);
  if (together_is_root(ctx->comm))
    remove_files(k);
  return OP_OK;
}

void checkpoint_close(struct op_context *ctx) {
  struct checkpoint *k = checkpoint_of(ctx);
  if (!k)
    return;
  ctx->recorder = NULL;
  ctx->trace->checkpoints = NULL;
  if (k->process != getpid())
    return;                      /* its thread and its lock are the parent's */
  if (together_alone(ctx->comm)) /* a rank may have failed alone */
    checkpoint_join(ctx, k);
  drop(k);
}
