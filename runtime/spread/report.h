/* A dat as a file, in the user's order. Written aside and renamed: the file is whole or not there. */
#ifndef OP2JIT_SPREAD_REPORT_H
#define OP2JIT_SPREAD_REPORT_H

#include "base/error.h"

struct op_context;
struct dat;

typedef int print_function(struct op_context *ctx, struct dat *dat, const char *path, struct error *err);
int print_text(struct op_context *ctx, struct dat *dat, const char *path, struct error *err);
int print_binary(struct op_context *ctx, struct dat *dat, const char *path, struct error *err);

#endif
