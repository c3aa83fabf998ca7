#include "api/fortran/known.h"

#include <stdlib.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/handles.h"

bool known_add(struct op_context *ctx, struct known known) {
  struct known *k = calloc(1, sizeof *k);
  if (!k || !list_add(ctx->arrays, k)) {
    free(k);
    return false;
  }
  *k = known;
  return true;
}

bool known_lives(const struct op_context *ctx, const struct known *k) {
  return handle_object(ctx->handles, k->handle, k->is_map ? HANDLE_MAP : HANDLE_DAT) != NULL;
}

void known_free(struct op_context *ctx) {
  for (int i = 0; i < ctx->arrays->count; i++) {
    struct known *k = ctx->arrays->items[i];
    free(k->copy);
    free(k);
  }
  list_free(ctx->arrays);
}
