/* A run of a graph on a device: its data and tables go there, the kernel runs, and what tasks changed comes back. */
#include <stdlib.h>

#include "backend/gpu/tasks/tasks.h"
#include "base/clock.h"
#include "context/context.h"
#include "ranks/comm.h"

struct running {
  struct gpu *c;
  struct task_graph *g;
  struct tasks_image image;
  struct gpu_graph_program program;
  gpu_address data, tables, places;
  unsigned char *staging; /* all data, as the device has them */
  struct tasks_device_run ran;
  struct error *err;
};

static size_t table_bytes(const struct running *r) {
  return r->image.ntables * sizeof *r->image.tables;
}

static size_t place_bytes(const struct running *r) {
  return r->image.nplaces * sizeof *r->image.places;
}

static size_t all_bytes(const struct running *r) {
  return r->image.bytes + table_bytes(r) + place_bytes(r);
}

static int refuse_memory(const struct running *r) {
  size_t left = 0, total = 0;
  if (r->c->driver->memory_info(r->c->self, &left, &total))
    left = total = 0;
  return error_set(
      r->err, OP_ERR_MEMORY,
      "graph \"%s\" needs %zu bytes on %s (%s): %zu for the data of its tasks and resources, and %zu for "
      "%zu numbers that say what waits for what; the device has %zu bytes free of %zu. Use fewer data, "
      "larger tasks, or OP2_BACKEND=openmp",
      tasks_name(r->g), all_bytes(r), r->c->device.label, r->c->device.name, r->image.bytes,
      table_bytes(r) + place_bytes(r), r->image.ntables + r->image.nplaces, left, total);
}

static int allocate(struct running *r) {
  const struct gpu_driver *d = r->c->driver;
  const struct {
    gpu_address *to;
    size_t bytes;
  } parts[] = {{&r->data, r->image.bytes}, {&r->tables, table_bytes(r)}, {&r->places, place_bytes(r)}};
  size_t left = 0, total = 0;
  if (!d->memory_info(r->c->self, &left, &total) && all_bytes(r) > left)
    return refuse_memory(r);
  r->staging = malloc(r->image.bytes ? r->image.bytes : 1);
  if (!r->staging)
    return error_memory_of(r->err, "copies for the device of graph", tasks_name(r->g), r->image.bytes);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const size_t bytes = parts[i].bytes ? parts[i].bytes : 1;
    const int code = d->memory_alloc(r->c->self, parts[i].to, bytes);
    if (code == d->out_of_memory)
      return refuse_memory(r);
    if (code)
      return gpu_failed(r->c, code, r->err, "graph \"%s\": allocating %zu bytes on %s", tasks_name(r->g),
                        bytes, r->c->device.label);
    r->c->used += bytes;
  }
  return OP_OK;
}

static void release(struct running *r) {
  gpu_release(r->c, r->data, r->image.bytes ? r->image.bytes : 1);
  gpu_release(r->c, r->tables, table_bytes(r) ? table_bytes(r) : 1);
  gpu_release(r->c, r->places, place_bytes(r) ? place_bytes(r) : 1);
  free(r->staging);
  gpu_graph_program_free(&r->program);
  tasks_image_free(&r->image);
}

static int copy_in(struct running *r) {
  const struct gpu_driver *d = r->c->driver;
  tasks_image_gather(&r->image, r->staging);
  int code = r->image.bytes ? d->copy_in(r->c->self, r->data, r->staging, r->image.bytes) : 0;
  if (!code)
    code = d->copy_in(r->c->self, r->tables, r->image.tables, table_bytes(r));
  if (!code && place_bytes(r))
    code = d->copy_in(r->c->self, r->places, r->image.places, place_bytes(r));
  if (!code)
    code = d->wait(r->c->self);
  if (code)
    return code;
  gpu_waited(r->c);
  r->c->counters->bytes_to_device += (long long)all_bytes(r);
  return 0;
}

/* More groups than there are tasks have nothing to do. */
static int find_groups(struct running *r) {
  const struct gpu_driver *d = r->c->driver;
  int groups = 1;
  int code = d->function_groups(r->c->self, r->program.function, r->program.threads, &groups);
  if (groups > r->image.tables[TABLE_LEFT])
    groups = r->image.tables[TABLE_LEFT];
  r->ran.groups = groups < 1 ? 1 : groups;
  return code;
}

static int launch(struct running *r) {
  static const int bytes[] = {0, 0, 0};
  static const struct gpu_sizes sizes = {3, bytes};
  const struct gpu_driver *d = r->c->driver;
  void *values[] = {&r->data, &r->tables, &r->places};
  int code = d->launch(r->c->self, r->program.function, (unsigned)r->ran.groups, (unsigned)r->program.threads,
                       0, values, &sizes);
  if (!code)
    code = d->wait(r->c->self);
  r->c->failed |= code != 0;
  return gpu_failed(r->c, code, r->err, "graph \"%s\": running its kernel on %s (%s)", tasks_name(r->g),
                    r->c->device.label, r->c->device.name);
}

static int copy_out(struct running *r) {
  const struct gpu_driver *d = r->c->driver;
  int code = d->copy_out(r->c->self, r->image.tables, r->tables, TABLE_HEAD * sizeof *r->image.tables);
  if (!code && r->image.bytes)
    code = d->copy_out(r->c->self, r->staging, r->data, r->image.bytes);
  if (!code)
    code = d->wait(r->c->self);
  if (code)
    return code;
  r->c->counters->bytes_from_device += (long long)r->image.bytes;
  tasks_image_scatter(&r->image, r->staging);
  return 0;
}

static void begins(struct running *r, enum tasks_phase phase) {
  r->ran.start[phase] = clock_seconds();
}

static void ends(struct running *r, enum tasks_phase phase) {
  r->ran.seconds[phase] = clock_seconds() - r->ran.start[phase];
}

static int run(struct running *r) {
  begins(r, PHASE_COPY_IN);
  int code = gpu_failed(r->c, copy_in(r), r->err, "graph \"%s\": copying its data to %s", tasks_name(r->g),
                        r->c->device.label);
  ends(r, PHASE_COPY_IN);
  if (!code)
    code = gpu_failed(r->c, find_groups(r), r->err, "graph \"%s\": asking how many groups run at once",
                      tasks_name(r->g));
  if (code)
    return code;
  begins(r, PHASE_KERNEL);
  code = launch(r);
  ends(r, PHASE_KERNEL);
  if (code)
    return code;
  gpu_waited(r->c);
  begins(r, PHASE_COPY_OUT);
  code = gpu_failed(r->c, copy_out(r), r->err, "graph \"%s\": copying its data from %s", tasks_name(r->g),
                    r->c->device.label);
  ends(r, PHASE_COPY_OUT);
  return code;
}

static int refuse_ranks(const struct op_context *ctx, const struct running *r) {
  if (comm_alone(ctx->comm))
    return OP_OK;
  return error_set(
      r->err, OP_ERR_BACKEND,
      "graph \"%s\": its types have kernels, and graphs run on devices in one process only, not on %d "
      "ranks; use OP2_BACKEND=openmp",
      tasks_name(r->g), ctx->comm->size);
}

int gpu_run_tasks(struct op_context *ctx, struct task_graph *g, bool checked, struct error *err) {
  struct running r = {.c = gpu_of(ctx, space_of_device(0)), .g = g, .err = err};
  int code = refuse_ranks(ctx, &r);
  if (!code && r.c->failed)
    code =
        error_set(err, OP_ERR_DEVICE,
                  "graph \"%s\": %s (%s) takes no more work since an earlier kernel failed; call op_exit and "
                  "start the program again",
                  tasks_name(g), r.c->device.label, r.c->device.name);
  if (!code)
    code = gpu_graph_program(ctx, g, &r.program, err);
  if (!code)
    code = tasks_image_make(g, r.program.parameters, checked, &r.image, err);
  if (!code)
    code = allocate(&r);
  if (!code)
    code = run(&r);
  if (!code) {
    r.ran.executed = r.image.tables[TABLE_EXECUTED];
    r.ran.refused = r.image.tables[TABLE_REFUSED];
    r.ran.bytes = (long long)all_bytes(&r);
    tasks_ran_on_device(g, &r.ran, ctx->trace);
  }
  release(&r);
  return code;
}
