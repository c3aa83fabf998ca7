/* The state of files in a context. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "files/io.h"
#include "files/state.h"
#include "ranks/comm.h"

struct io *io_state(struct op_context *ctx) {
  if (!ctx->io)
    ctx->io = calloc(1, sizeof *ctx->io);
  return ctx->io;
}

int io_table(struct op_context *ctx, const struct file_table **out, struct error *err) {
  struct io *io = io_state(ctx);
  struct comm *comm = ctx->comm;
  const char *flavour = together_alone(comm) ? "serial" : comm->table->name;
  int code = io ? file_plugin_open(&io->plugin, flavour, env_value(ctx->env, ENV_PLUGINS), err)
                : error_memory(err, "the state of files", sizeof *io);
  if (!io || !io->everywhere)
    code = together_agree(comm, code, err);
  if (code)
    return code;
  io->everywhere = true;
  *out = io->plugin.table;
  return OP_OK;
}

void io_free(struct io *io) {
  if (!io)
    return;
  for (int i = 0; i < io->series.count; i++) {
    struct vtk_series *series = io->series.items[i];
    text_free(&series->path);
    text_free(&series->mesh_file);
    text_free(&series->points_file);
    free(series);
  }
  list_free(&io->series);
  free(io);
}
