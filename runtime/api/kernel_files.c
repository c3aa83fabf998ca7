/* Kernels whose text is in a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "api/fortran/fortran.h"
#include "base/list.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/types.h"
#include "check/cell.h"
#include "context/env.h"
#include "jit/kernel/kernel.h"
#include "jit/kernel/unit.h"
#include "loop/loop.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/record.h"

static int read_all(FILE *file, const char *path, struct text *out, struct error *err) {
  char part[4096];
  size_t n;
  while ((n = fread(part, 1, sizeof part, file)) > 0)
    text_add_bytes(out, part, n);
  if (ferror(file))
    return error_set(err, OP_ERR_FILE, "kernel file %s cannot be read: %s; expected a file of C text", path,
                     strerror(errno));
  return text_ok(out) ? OP_OK : error_memory(err, "a kernel file", out->length);
}

/* Kept as one block, "name NUL source NUL text": one name in the folders of two sources may be two files. The text
 * starts with a #line that says where the file is. A path that no source stands behind has the source "". */
static const char *find_file(const struct op_context *ctx, const char *name, const char *source) {
  for (int i = 0; i < ctx->kernel_files->count; i++) {
    const char *block = ctx->kernel_files->items[i], *of = block + strlen(block) + 1;
    if (strcmp(block, name) == 0 && strcmp(of, source) == 0)
      return of + strlen(of) + 1;
  }
  return NULL;
}

static int load_file(struct op_context *ctx, const char *name, const char *source, const char *path,
                     const char **out, struct error *err) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return error_set(err, OP_ERR_FILE, "kernel file %s cannot be opened: %s; expected a file of C text", path,
                     strerror(errno));
  struct text block = {0};
  text_add_bytes(&block, name, strlen(name) + 1);
  text_add_bytes(&block, source, strlen(source) + 1);
  text_add(&block, "#line 1 \"");
  for (const char *p = path; *p; p++)
    text_addf(&block, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
  text_add(&block, "\"\n");
  size_t before = block.length;
  int code = read_all(file, path, &block, err);
  fclose(file);
  if (!code && memchr(block.data + before, '\0', block.length - before))
    code = error_set(err, OP_ERR_FILE, "kernel file %s holds a NUL byte; expected C text", path);
  char *kept = code ? NULL : text_take(&block);
  if (!code && (!kept || !list_add(ctx->kernel_files, kept))) {
    free(kept);
    return error_memory(err, "a kernel file", before);
  }
  text_free(&block);
  *out = kept ? find_file(ctx, name, source) : NULL;
  return code;
}

const char *op2jit_kernel_file(const char *path) {
  struct op_context *ctx = api_enter("op_kernel_file", KEEP);
  if (!ctx)
    return NULL;
  const char *text = NULL;
  int code = OP_OK;
  if (!path)
    code = error_set(api_error(), OP_ERR_ARGUMENT,
                     "op_kernel_file: the path is NULL; expected the name of a file");
  else if (!(text = find_file(ctx, path, "")))
    code = load_file(ctx, path, "", path, &text, api_error());
  return api_leave_local(code) ? NULL : text;
}

/* ---- beside the program's source ---- */

/* `path` with its last name cut off: "" if it has no folder; "/" stays. */
static void cut_name(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash)
    *path = '\0';
  else
    slash[slash == path] = '\0';
}

struct places {
  const char *first;      /* OP2_KERNELS, NULL if it is not set */
  char *source, *program; /* the folders of the program's source and of the program */
  struct text path;       /* of the file, when it was found */
  bool failed;            /* for want of memory */
};

/* The file folder/below/file can be read; the first two may be "". */
static bool there(struct places *p, const char *folder, const char *below, const char *file) {
  text_clear(&p->path);
  text_addf(&p->path, "%s%s%s%s%s", folder, *folder ? "/" : "", below, *below ? "/" : "", file);
  p->failed |= !text_ok(&p->path);
  return text_ok(&p->path) && access(text_str(&p->path), R_OK) == 0;
}

/* A relative path of a source was right in the folder that the compiler ran in. That is often the one of the
 * program or, of a build tree, one above it. */
static bool above_program(struct places *p, const char *file) {
  char *folder = strdup(p->program);
  bool found = false;
  p->failed |= !folder;
  while (folder && *folder && !(found = there(p, folder, p->source, file)) && strcmp(folder, "/") != 0)
    cut_name(folder);
  free(folder);
  return found;
}

static bool is_found(struct places *p, const char *file) {
  if (*file == '/')
    return there(p, "", "", file);
  return (p->first && there(p, p->first, "", file)) || (*p->source != '/' && above_program(p, file)) ||
         there(p, "", p->source, file) || there(p, p->program, "", file) || there(p, "", "", file);
}

static void list_places(const struct places *places, struct text *out) {
  text_addf(out, "OP2_KERNELS (%s), that of the source (%s), that of the program (%s), the working folder",
            places->first ? places->first : "not set", *places->source ? places->source : ".",
            *places->program ? places->program : "not known");
}

static int not_found(const struct places *places, const char *file, struct error *err) {
  struct text list = {0};
  if (*file == '/')
    return error_set(err, OP_ERR_FILE, "kernel file %s cannot be opened: %s", file, strerror(errno));
  list_places(places, &list);
  error_set(err, OP_ERR_FILE,
            "kernel file %s is in none of these folders: %s; set OP2_KERNELS to the folder that has it", file,
            text_str(&list));
  text_free(&list);
  return OP_ERR_FILE;
}

static bool places_make(const struct op_context *ctx, struct places *p, char program[4096],
                        const char *source) {
  const char *first = env_value(ctx->env, ENV_KERNELS);
  const ssize_t length = readlink("/proc/self/exe", program, 4095);
  program[length > 0 ? length : 0] = '\0';
  *p = (struct places){first && *first ? first : NULL, strdup(source), program, {0}, false};
  if (!p->source)
    return false;
  cut_name(p->source);
  cut_name(p->program);
  return true;
}

static const char *time_of(const struct stat *status, char out[32]) {
  struct tm tm;
  if (!localtime_r(&status->st_mtime, &tm) || !strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm))
    *out = '\0';
  return out;
}

/* The program has functions of the file as it was. */
static void warn_if_newer(const struct op_context *ctx, const char *path) {
  struct stat file, program;
  char times[2][32];
  if (ctx->comm->rank == 0 && stat(path, &file) == 0 && stat("/proc/self/exe", &program) == 0 &&
      file.st_mtime > program.st_mtime)
    log_line(
        ctx->log, LOG_WARN, "loop",
        "kernel file %s is of %s, and the program of %s: the native backend runs what was compiled then, the "
        "others the file as it is; compile the program again",
        path, time_of(&file, times[0]), time_of(&program, times[1]));
}

static int look_for(struct op_context *ctx, const char *file, const char *source, bool compiled,
                    const char **text, struct error *err) {
  char program[4096] = "";
  struct places places;
  int code = OP_OK;
  if (places_make(ctx, &places, program, source)) {
    if (is_found(&places, file)) {
      code = load_file(ctx, file, source, text_str(&places.path), text, err);
      if (!code && compiled)
        warn_if_newer(ctx, text_str(&places.path));
    } else if (!places.failed)
      code = not_found(&places, file, err);
  }
  if (!code && !*text)
    code = error_memory(err, "the places of a kernel file", strlen(file) + strlen(source));
  text_free(&places.path);
  free(places.source);
  return code;
}

/* Where OP_KERNEL_FILE would find that file, seen from a source; false: in none of the folders that are
 * listed in `path` then, if the file has no folder of its own. */
static bool kernel_file_place(struct op_context *ctx, const char *file, const char *source,
                              struct text *path) {
  char program[4096] = "";
  struct places places;
  if (!source || !places_make(ctx, &places, program, source))
    return false;
  const bool found = is_found(&places, file);
  if (found)
    *path = places.path;
  else {
    text_free(&places.path);
    if (*file != '/')
      list_places(&places, path);
  }
  free(places.source);
  return found;
}

const char *op2jit_f_kernel_file(const char *path) {
  struct op_context *ctx = api_enter("op_kernel_file", KEEP);
  if (!ctx)
    return NULL;
  const char *text = find_file(ctx, path, "");
  const int code = text ? OP_OK : look_for(ctx, path, "", false, &text, api_error());
  return api_leave_local(code) ? NULL : text;
}

/* Kept as files are, as one without a name. */
static int keep_text(struct op_context *ctx, const char *text, const char **out, struct error *err) {
  for (int i = 0; i < ctx->kernel_files->count; i++) {
    const char *block = ctx->kernel_files->items[i];
    if (!block[0] && !block[1] && strcmp(block + 2, text) == 0)
      return *out = block + 2, OP_OK;
  }
  struct text block = {0};
  text_add_bytes(&block, "\0", 2);
  text_add_bytes(&block, text, strlen(text));
  char *kept = text_take(&block);
  if (!kept || !list_add(ctx->kernel_files, kept)) {
    free(kept);
    return error_memory(err, "a kernel text", strlen(text));
  }
  *out = kept + 2;
  return OP_OK;
}

const char *op2jit_f_kernel_text(const char *text) {
  const char *kept = NULL;
  struct op_context *ctx = api_enter("op_kernel_text", KEEP);
  if (!ctx)
    return NULL;
  return api_leave_local(keep_text(ctx, text, &kept, api_error())) ? NULL : kept;
}

const char *op2jit_kernel_included(const char *file, const char *name, op_kernel_function function,
                                   const char *source) {
  struct op_context *ctx = api_enter("OP_KERNEL_FILE", KEEP);
  if (!ctx)
    return NULL;
  const char *text = NULL;
  int code;
  if (!file || !name || !function || !source)
    code = error_set(
        api_error(), OP_ERR_ARGUMENT,
        "OP_KERNEL_FILE: an argument is NULL; expected the name of a file and the name of a kernel in it");
  else
    code =
        (text = find_file(ctx, file, source)) ? OP_OK : look_for(ctx, file, source, true, &text, api_error());
  if (!code)
    code = native_add(ctx->natives, text, name, function, api_error());
  return api_leave_local(code) ? NULL : text;
}

/* Shared by kernels: text, and types of the program. */

/* Ranks compare what the text came to, files included. */
static int agree_on_text(struct op_context *ctx, int code, const char *call) {
  const struct text *text = &ctx->shared->before.text;
  struct sha256 h;
  unsigned char digest[32];
  char hash[65];
  sha256_begin(&h);
  sha256_add(&h, text_str(text), text->length);
  sha256_end(&h, digest);
  sha256_hex(digest, hash);
  return agree_on_call(ctx, code, api_error(), "%s\ntext\tof %zu bytes, SHA-256 %s\n", call, text->length,
                       hash);
}

static int share(struct op_context *ctx, const char *call, const char *text, const char *path) {
  bool again = true;
  int code = api_error()->code;
  if (!code && !text && !path)
    code = error_set(api_error(), OP_ERR_ARGUMENT,
                     "%s: the argument is NULL; expected C text, or the name of a file of it", call);
  else if (!code)
    code = text ? shared_add_text(ctx->shared, text, &again, api_error())
                : shared_add_file(ctx->shared, path, &again, api_error());
  const bool added = !code && !again;
  if (added)
    code = shared_check(ctx->shared, api_error());
  if (code && api_error()->code != OP_ERR_ARGUMENT)
    error_prefix(api_error(), "%s: ", call);
  code = agree_on_text(ctx, code, call);
  if (code && added)
    shared_undo(ctx->shared);
  else if (added)
    loop_forget(ctx, NULL);
  return code;
}

/* Inside a kernel, so that no call is entered. */
void op2jit_assert_failed(const char *condition) {
  trap_assert_failed(condition);
}

int op2jit_decl_type(const char *name, size_t size, int nmembers, const op2jit_member members[]) {
  struct text layout = {0};
  struct op_context *ctx = api_enter("OP_TYPE", KEEP);
  if (!ctx)
    return api_refused();
  int code = api_error()->code;
  if (!code)
    code = type_declare(name, size, nmembers, members, api_error());
  if (!code)
    type_print_layout(type_parse(name, NULL), &layout);
  code = agree_on_call(ctx, code, api_error(), "OP_TYPE of %s\nlayout\t%s\n", name ? name : "NULL",
                       text_str(&layout));
  text_free(&layout);
  return api_leave(code);
}

int op2jit_decl_prelude(const char *text) {
  struct op_context *ctx = api_enter("op_decl_prelude", FLUSH);
  return ctx ? api_leave(share(ctx, "op_decl_prelude", text, NULL)) : api_refused();
}

int op2jit_prelude_file(const char *path, const char *source) {
  struct text place = {0};
  struct op_context *ctx = api_enter("op_prelude_file", FLUSH);
  if (!ctx)
    return api_refused();
  const bool found = path && kernel_file_place(ctx, path, source, &place);
  const int code = share(ctx, "op_prelude_file", NULL, found ? text_str(&place) : path);
  if (code == OP_ERR_FILE && !found && place.length)
    text_addf(&api_error()->message, "; before that in these folders: %s", text_str(&place));
  text_free(&place);
  return api_leave(code);
}
