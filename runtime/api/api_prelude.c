/* Shared by kernels: text, and types of the program. */
#include <string.h>

#include "api/api.h"
#include "base/sha256.h"
#include "base/types.h"
#include "check/trap.h"
#include "jit/front/kernel.h"
#include "jit/front/unit/unit.h"
#include "loop/loop.h"
#include "ranks/agree.h"

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
  struct op_context *ctx = api_enter("OP_TYPE", KEEP);
  struct text layout = {0};
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
  struct op_context *ctx = api_enter("op_prelude_file", FLUSH);
  struct text place = {0};
  if (!ctx)
    return api_refused();
  const bool found = path && kernel_file_place(ctx, path, source, &place);
  const int code = share(ctx, "op_prelude_file", NULL, found ? text_str(&place) : path);
  if (code == OP_ERR_FILE && !found && place.length)
    text_addf(&api_error()->message, "; before that in these folders: %s", text_str(&place));
  text_free(&place);
  return api_leave(code);
}
