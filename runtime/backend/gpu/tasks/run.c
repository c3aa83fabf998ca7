/* A run of a graph of tasks on a device: memory, copies, and the kernel. */
#include "backend/gpu/tasks/tasks.h"
#include "context/context.h"
#include "ranks/comm.h"

struct running {
  struct gpu *c;
  struct task_graph *g;
  struct gpu_graph_program program;
  gpu_address data, tables, places;
  size_t bytes[3]; /* of these */
};

static size_t all_bytes(const struct running *r) {
  return r->bytes[0] + r->bytes[1] + r->bytes[2];
}

static int refuse_memory(const struct running *r, struct error *err) {
  size_t left = 0, total = 0;
  if (r->c->driver->memory_info(r->c->self, &left, &total))
    left = total = 0;
  return error_set(
      err, OP_ERR_MEMORY,
      "graph \"%s\" needs %zu bytes on %s (%s): %zu for the data of its tasks and resources, and %zu for "
      "numbers that say what waits for what; the device has %zu bytes free of %zu. Use fewer data, "
      "larger tasks, or OP2_BACKEND=openmp",
      tasks_name(r->g), all_bytes(r), r->c->device.label, r->c->device.name, r->bytes[0],
      r->bytes[1] + r->bytes[2], left, total);
}

static int open_memory(void *self, size_t bytes, const struct tasks_tables *most, struct error *err) {
  struct running *r = self;
  const struct gpu_driver *d = r->c->driver;
  gpu_address *const parts[] = {&r->data, &r->tables, &r->places};
  const size_t sizes[] = {bytes, most->nitems * sizeof *most->items, most->nplaces * sizeof *most->places};
  size_t left = 0, total = 0;
  for (int i = 0; i < 3; i++)
    r->bytes[i] = sizes[i] ? sizes[i] : 1;
  if (!d->memory_info(r->c->self, &left, &total) && all_bytes(r) > left)
    return refuse_memory(r, err);
  for (int i = 0; i < 3; i++) {
    const int code = d->memory_alloc(r->c->self, parts[i], r->bytes[i]);
    if (code == d->out_of_memory)
      return refuse_memory(r, err);
    if (code)
      return gpu_failed(r->c, code, err, "graph \"%s\": allocating %zu bytes on %s", tasks_name(r->g),
                        r->bytes[i], r->c->device.label);
    r->c->used += r->bytes[i];
  }
  return OP_OK;
}

static void enter(void *self) {
  const struct running *r = self;
  if (r->c->driver->enter)
    r->c->driver->enter(r->c->self);
}

/* All that was given is done. */
static int waits(const struct running *r, int code, struct error *err, const char *doing) {
  if (!code)
    code = r->c->driver->wait(r->c->self);
  if (!code)
    gpu_waited(r->c);
  return gpu_failed(r->c, code, err, "graph \"%s\": copying its data %s %s", tasks_name(r->g), doing,
                    r->c->device.label);
}

static int copy_in(void *self, size_t at, const void *from, size_t bytes, struct error *err) {
  const struct running *r = self;
  r->c->counters->bytes_to_device += (long long)bytes;
  const struct gpu_driver *d = r->c->driver;
  return waits(r,
               d->part_in ? d->part_in(r->c->self, r->data, at, from, bytes)
                          : d->copy_in(r->c->self, r->data + at, from, bytes),
               err, "to");
}

static int copy_out(void *self, void *to, size_t at, size_t bytes, struct error *err) {
  const struct running *r = self;
  r->c->counters->bytes_from_device += (long long)bytes;
  const struct gpu_driver *d = r->c->driver;
  return waits(r,
               d->part_out ? d->part_out(r->c->self, to, r->data, at, bytes)
                           : d->copy_out(r->c->self, to, r->data + at, bytes),
               err, "from");
}

static int tables_in(const struct running *r, const struct tasks_tables *t, struct error *err) {
  const struct gpu_driver *d = r->c->driver;
  const size_t bytes = t->nitems * sizeof *t->items, places = t->nplaces * sizeof *t->places;
  int code = d->copy_in(r->c->self, r->tables, t->items, bytes);
  if (!code && places)
    code = d->copy_in(r->c->self, r->places, t->places, places);
  r->c->counters->bytes_to_device += (long long)(bytes + places);
  return gpu_failed(r->c, code, err, "graph \"%s\": copying its tables to %s", tasks_name(r->g),
                    r->c->device.label);
}

/* More groups than there are tasks have nothing to do. */
static int find_groups(const struct running *r, int tasks, int *groups, struct error *err) {
  const struct gpu_driver *d = r->c->driver;
  const int code = d->function_groups(r->c->self, r->program.function, r->program.threads, groups);
  *groups = *groups > tasks ? tasks : *groups < 1 ? 1 : *groups;
  return gpu_failed(r->c, code, err, "graph \"%s\": asking how many groups run at once", tasks_name(r->g));
}

static int work(void *self, const struct tasks_tables *t, int *groups, struct error *err) {
  static const int bytes[] = {0, 0, 0};
  static const struct gpu_sizes sizes = {3, bytes};
  struct running *r = self;
  const struct gpu_driver *d = r->c->driver;
  void *values[] = {&r->data, &r->tables, &r->places};
  if (find_groups(r, t->items[TABLE_LEFT], groups, err) || tables_in(r, t, err))
    return err->code;
  int code = d->launch(r->c->self, r->program.function, (unsigned)*groups, (unsigned)r->program.threads, 0,
                       values, &sizes);
  if (!code)
    code = d->wait(r->c->self);
  r->c->failed |= code != 0;
  if (!code) {
    gpu_waited(r->c);
    code = d->copy_out(r->c->self, t->items, r->tables, TABLE_HEAD * sizeof *t->items);
  }
  if (!code)
    code = d->wait(r->c->self);
  return gpu_failed(r->c, code, err, "graph \"%s\": running its kernel on %s (%s)", tasks_name(r->g),
                    r->c->device.label, r->c->device.name);
}

static int refuse_ranks(const struct op_context *ctx, const struct running *r, struct error *err) {
  if (comm_alone(ctx->comm))
    return OP_OK;
  return error_set(
      err, OP_ERR_BACKEND,
      "graph \"%s\": its types have kernels, and graphs run on devices in one process only, not on %d "
      "ranks; use OP2_BACKEND=openmp",
      tasks_name(r->g), ctx->comm->size);
}

int gpu_run_tasks(struct op_context *ctx, struct task_graph *g, const struct tasks_options *options,
                  struct error *err) {
  struct running r = {.c = gpu_of(ctx, space_of_device(0)), .g = g};
  struct tasks_device device = {.self = &r,
                                .open = open_memory,
                                .enter = enter,
                                .copy_in = copy_in,
                                .copy_out = copy_out,
                                .work = work};
  int code = refuse_ranks(ctx, &r, err);
  if (!code && r.c->failed)
    code =
        error_set(err, OP_ERR_DEVICE,
                  "graph \"%s\": %s (%s) takes no more work since an earlier kernel failed; call op_exit and "
                  "start the program again",
                  tasks_name(g), r.c->device.label, r.c->device.name);
  if (!code)
    code = gpu_graph_program(ctx, g, &r.program, err);
  device.parameters = r.program.parameters;
  if (!code)
    code = tasks_run_on_device(g, &device, options, err);
  gpu_release(r.c, r.data, r.bytes[0]);
  gpu_release(r.c, r.tables, r.bytes[1]);
  gpu_release(r.c, r.places, r.bytes[2]);
  gpu_graph_program_free(&r.program);
  return code;
}
