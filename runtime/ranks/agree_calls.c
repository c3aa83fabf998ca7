/* Agreements on calls, which say of themselves what they are, line by line. */
#include <stdarg.h>
#include <string.h>

#include "base/types.h"
#include "context/context.h"
#include "ranks/agree.h"
#include "ranks/comm.h"

int agree_named(struct op_context *ctx, struct agreement *a, struct error *err) {
  const char *call = ctx->agreement->where;
  ctx->agreement->where = text_str(a->facts) + strcspn(text_str(a->facts), "\t");
  const int code = agree(ctx->agreement, a, err);
  ctx->agreement->where = call;
  return code;
}

int agree_on_call(struct op_context *ctx, int code, struct error *err, const char *format, ...) {
  struct text facts = {0};
  if (comm_alone(ctx->comm))
    return code;
  va_list args;
  va_start(args, format);
  text_add(&facts, "call\t");
  text_vaddf(&facts, format, args);
  va_end(args);
  code = agree_named(ctx, &(struct agreement){.code = code, .facts = &facts}, err);
  text_free(&facts);
  return code;
}

void agree_print_values(struct text *out, int type, int count, const void *values) {
  const enum type_code code = (enum type_code)type;
  const unsigned char *value = values;
  text_add(out, type_info(code)->name);
  for (int i = 0; value && i < count; i++) {
    text_add(out, i ? ", " : " ");
    type_add(code, value + (size_t)i * type_info(code)->size, out);
  }
}
