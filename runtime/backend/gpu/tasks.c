/* A run of a graph of tasks on a device: the kernel, memory, and copies. */
#include "backend/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "context/forced.h"
#include "jit/kernel/kernel.h"
#include "ranks/comm.h"
#include "tasks/device.h"

/* The compiled kernel of a graph. */
struct graph_program {
  gpu_function function;
  int threads;     /* of a group */
  int *parameters; /* of each type's kernel */
};

static void program_free(struct graph_program *p) {
  free(p->parameters);
  p->parameters = NULL;
}

/* The program of a graph: the texts of its types, each text once, and the kernel that calls them. */

struct making {
  struct op_context *ctx;
  struct gpu *c;
  const struct task_graph *g;
  const struct gpu_task_kernel *kernels;
  int threads;
  struct error *err;
};

static int of_type(const struct making *m, int type) {
  return error_prefix(m->err, "graph \"%s\", type \"%s\": ", tasks_name(m->g), tasks_kernel(m->g, type).type);
}

/* ---- each text by itself ---- */

/* Compilers would say it of generated code. What a type with a name of the program's own is, only they know. */
static int check_pointers(const struct kernel *k, struct error *err) {
  for (int i = 0; i < k->nparameters; i++) {
    const struct kernel_parameter *p = &k->parameters[i];
    if (p->understood && p->depth == 0 && p->type != TYPE_NONE)
      return error_set(
          err, OP_ERR_KERNEL,
          "kernel %s: parameter %d, \"%s\", is no pointer; the first one points to the task's data, and the "
          "others to the memory of what it locks and uses, as in \"op_task_memory const int *number\"",
          k->name, i + 1, p->spelling);
  }
  return OP_OK;
}

/* How many parameters the kernel has; what is wrong with the text without a compiler. */
static int read_text(const struct making *m, int type, int *parameters) {
  const struct tasks_kernel own = tasks_kernel(m->g, type);
  struct kernel k;
  *parameters = 0;
  if (!own.text)
    return OP_OK;
  if (kernel_parse(&k, own.text, strlen(own.text), own.name, m->err))
    return of_type(m, type);
  *parameters = k.nparameters;
  const int code = check_pointers(&k, m->err);
  kernel_free(&k);
  return code ? of_type(m, type) : OP_OK;
}

static int find_parameters(const struct making *m, int *parameters) {
  int code = OP_OK;
  for (int i = 0; !code && i < tasks_kernel_count(m->g); i++)
    code = read_text(m, i, &parameters[i]);
  return code;
}

/* ---- all of them ---- */

struct joined {
  struct text text;
  struct origins origins;
  int lines;
};

static bool is_earlier(const struct making *m, int type) {
  for (int i = 0; i < type; i++)
    if (m->kernels[i].name && strcmp(tasks_kernel(m->g, i).text, tasks_kernel(m->g, type).text) == 0)
      return true;
  return false;
}

static bool add_text(struct joined *j, const char *text) {
  size_t length = strlen(text);
  struct origin origin;
  const char *rest = origin_split(text, &length, &origin);
  const struct origin at = {.begin = j->text.length,
                            .line = j->lines + 1,
                            .file = origin.file,
                            .file_line = origin.file_line,
                            .one_line = origin.one_line};
  const bool added = origins_add(&j->origins, at);
  free(origin.file);
  text_add_bytes(&j->text, rest, length);
  text_add_char(&j->text, '\n');
  for (size_t i = 0; i < length; i++)
    j->lines += rest[i] == '\n';
  j->lines++;
  return added;
}

static int compile(const struct making *m, struct gpu_program **out) {
  struct joined j = {.lines = 0};
  struct gpu_tasks tasks = {tasks_kernel_count(m->g), (struct gpu_task_kernel *)(uintptr_t)m->kernels};
  const struct gpu_shape shape = {.dialect = m->c->driver->dialect, .block = m->threads, .tasks = &tasks};
  char *fp = strdup(context_fp(m->ctx, context_reproduces(m->ctx, tasks_name(m->g)))), *name = NULL;
  bool whole = fp;
  for (int i = 0; i < tasks.count; i++) {
    if (!m->kernels[i].name)
      continue;
    if (!name)
      whole = (name = strdup(m->kernels[i].name)) && whole;
    if (!is_earlier(m, i))
      whole = add_text(&j, tasks_kernel(m->g, i).text) && whole;
  }
  struct desc d = {.kernel_name = name, .text = j.text.data, .fp = fp, .origins = j.origins};
  const int code = whole && text_ok(&j.text)
                       ? gpu_program_get(m->ctx, m->c, NULL, &d, &shape, out, m->err)
                       : error_memory_of(m->err, "the kernels of graph", tasks_name(m->g), j.text.length);
  text_free(&j.text);
  origins_free(&j.origins);
  free(fp);
  free(name);
  return code;
}

/* OpenCL's compilers speak of address spaces at a place in generated code. */
static void hint_at_memory(const struct making *m, int type, struct text *out) {
  const struct tasks_kernel own = tasks_kernel(m->g, type);
  struct error ignored = {0};
  struct kernel k;
  if (m->c->driver->dialect == GPU_DIALECT_OPENCL &&
      !kernel_parse(&k, own.text, strlen(own.text), own.name, &ignored)) {
    for (int i = 0; !out->length && i < k.nparameters; i++)
      if (!strstr(k.parameters[i].spelling, "op_task_memory"))
        text_addf(out, "op_task_memory does not stand before parameter %d, \"%s\"; OpenCL needs it: ", i + 1,
                  k.parameters[i].spelling);
    kernel_free(&k);
  }
  error_free(&ignored);
}

/* It did not compile: which type's does not by itself? */
static int blame(const struct making *m) {
  const int count = tasks_kernel_count(m->g);
  struct gpu_task_kernel *one = array_new((size_t)count, sizeof *one);
  bool found = false;
  for (int i = 0; one && !found && i < count; i++) {
    struct error err = {0};
    struct making alone = *m;
    struct gpu_program *program = NULL;
    if (!m->kernels[i].name)
      continue;
    one[i] = m->kernels[i];
    alone.kernels = one;
    alone.err = &err;
    if (compile(&alone, &program) == OP_ERR_COMPILE) {
      struct text hint = {0};
      found = true;
      hint_at_memory(m, i, &hint);
      error_set(m->err, OP_ERR_COMPILE, "graph \"%s\", type \"%s\": %s%s", tasks_name(m->g),
                tasks_kernel(m->g, i).type, text_str(&hint), error_message(&err));
      text_free(&hint);
    }
    error_free(&err);
    one[i] = (struct gpu_task_kernel){0};
  }
  free(one);
  return found ? m->err->code
               : error_prefix(
                     m->err,
                     "graph \"%s\": its kernels do not compile together; what they share must be in one "
                     "text: ",
                     tasks_name(m->g));
}

static int find_function(const struct making *m, const struct gpu_program *program, gpu_function *out) {
  const struct gpu_driver *d = m->c->driver;
  int most = m->threads;
  int code = gpu_failed(m->c, d->module_function(m->c->self, out, program->module, GPU_TASKS), m->err,
                        "graph \"%s\": finding %s in the compiled kernel", tasks_name(m->g), GPU_TASKS);
  if (!code && d->function_threads)
    code = gpu_failed(m->c, d->function_threads(m->c->self, *out, &most), m->err,
                      "graph \"%s\": asking how many threads a group may have", tasks_name(m->g));
  if (!code && most < m->threads)
    code = error_set(
        m->err, OP_ERR_SIZE,
        "graph \"%s\": %s (%s) can run its kernels in groups of %d threads at most, not of %d; give "
        "op_graph_kernel fewer",
        tasks_name(m->g), m->c->device.label, m->c->device.name, most, m->threads);
  return code;
}

/* Neighbours of a warp share a task; on processors one thread has it for itself, and the compiler its vectors. */
static int choose_threads(const struct making *m, int *threads) {
  enum { USUAL = 128 };
  *threads = 0;
  for (int i = 0; i < tasks_kernel_count(m->g); i++)
    if (tasks_kernel(m->g, i).threads > *threads)
      *threads = tasks_kernel(m->g, i).threads;
  if (!*threads)
    *threads = m->c->device.is_cpu ? 1 : USUAL < m->c->device.max_threads ? USUAL : m->c->device.max_threads;
  return *threads <= m->c->device.max_threads ? OP_OK
                                              : error_set(m->err, OP_ERR_SIZE,
                                                          "graph \"%s\": op_graph_kernel asks for groups of "
                                                          "%d threads, and those of %s (%s) have %d at most",
                                                          tasks_name(m->g), *threads, m->c->device.label,
                                                          m->c->device.name, m->c->device.max_threads);
}

static int make_program(struct op_context *ctx, const struct task_graph *g, struct graph_program *out,
                        struct error *err) {
  const int count = tasks_kernel_count(g);
  struct making m = {.ctx = ctx, .c = gpu_of(ctx, space_of_device(0)), .g = g, .err = err};
  struct gpu_task_kernel *kernels = array_new((size_t)count, sizeof *kernels);
  struct gpu_program *program = NULL;
  *out = (struct graph_program){.parameters = array_new((size_t)count, sizeof *out->parameters)};
  int code = kernels && out->parameters ? find_parameters(&m, out->parameters)
                                        : error_memory_of(err, "the kernels of graph", tasks_name(g), 0);
  if (!code)
    code = choose_threads(&m, &out->threads);
  for (int i = 0; !code && i < count; i++)
    kernels[i] = (struct gpu_task_kernel){tasks_kernel(g, i).name, out->parameters[i]};
  m.kernels = kernels;
  m.threads = out->threads;
  if (!code)
    code = compile(&m, &program);
  if (code == OP_ERR_COMPILE)
    code = blame(&m);
  if (!code)
    code = find_function(&m, program, &out->function);
  free(kernels);
  if (code)
    program_free(out);
  return code;
}

/* ---- a run ---- */

struct running {
  struct gpu *c;
  struct task_graph *g;
  struct graph_program program;
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
    code = make_program(ctx, g, &r.program, err);
  device.parameters = r.program.parameters;
  if (!code)
    code = tasks_run_on_device(g, &device, options, err);
  gpu_release(r.c, r.data, r.bytes[0]);
  gpu_release(r.c, r.tables, r.bytes[1]);
  gpu_release(r.c, r.places, r.bytes[2]);
  program_free(&r.program);
  return code;
}
