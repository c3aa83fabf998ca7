/* The persistent kernel of a graph of tasks: each group of threads takes ready tasks until none is left. The rule is that of
 * runtime/tasks: the heaviest task whose locks are free, and nobody waits for a lock.
 *
 * Tasks have numbers by weight, the heaviest is 0. Which are ready is a bit for each; a bit of the next level says that a
 * word of the level below may have some. A group that finds a word empty takes its bit away, looks again, and puts it
 * back if a task came meanwhile. No group waits for another one: where groups run one by one, the first does it all. */
#include "jit/emit/gpu/write.h"

/* The scheduler's words in the languages. Reads go to memory, since others change it. */
static const char cuda_front[] =
    "#define op_task_memory\n"
    "#define op_task_thread ((int)threadIdx.x)\n"
    "#define op_task_barrier() __syncthreads()\n"
    "#define OP2_M\n#define OP2_FN static __device__\n#define OP2_WIDE long long\n"
    "#define OP2_SHARED __shared__\n#define OP2_THREAD threadIdx.x\n#define OP2_MEET __syncthreads()\n"
    "#ifdef __EDG__\n" /* NVRTC, which may take __ldcg out of loops; others have one that it is not */
    "#define OP2_PEEK(p) (*(volatile int *)(p))\n"
    "#else\n"
    "#define OP2_PEEK(p) ((int)__ldcg((const unsigned *)(p)))\n"
    "#endif\n"
    "#define OP2_OR(p, v) atomicOr(p, v)\n#define OP2_AND(p, v) atomicAnd(p, v)\n"
    "#define OP2_ADD(p, v) atomicAdd(p, v)\n#define OP2_CAS(p, old, v) atomicCAS(p, old, v)\n"
    "#define OP2_FENCE __threadfence()\n"
    "#define OP2_LAST(w) (31 - __clz((int)(w)))\n"
    "struct op2_any {\n"
    "  char *at;\n"
    "  template <class T> __device__ operator T *() const { return (T *)at; }\n"
    "};\n"
    "static __device__ op2_any op2_passed(char *data, long long at) {\n"
    "  op2_any place;\n"
    "  place.at = at < 0 ? (char *)0 : data + at;\n"
    "  return place;\n"
    "}\n";

/* A fence of OpenCL C 1.2 orders what one work-item does; where groups see what others write (HELPERS_OF_TICKETS), what the device
 * sees: not all devices of later versions have that. */
static const char opencl_front[] =
    "#define op_task_memory __global\n"
    "#define op_task_thread ((int)get_local_id(0))\n"
    "#define OP2_M __global\n#define OP2_FN static\n#define OP2_WIDE long\n"
    "#define OP2_THREAD get_local_id(0)\n"
    "#define OP2_PEEK(p) (*(volatile __global int *)(p))\n"
    "#define OP2_OR(p, v) atomic_or((volatile __global int *)(p), v)\n"
    "#define OP2_AND(p, v) atomic_and((volatile __global int *)(p), v)\n"
    "#define OP2_ADD(p, v) atomic_add((volatile __global int *)(p), v)\n"
    "#define OP2_CAS(p, old, v) atomic_cmpxchg((volatile __global int *)(p), old, v)\n"
    "#ifdef OP2_TICKETS\n"
    "#define OP2_FENCE atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, "
    "memory_scope_device)\n"
    "#else\n"
    "#define OP2_FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)\n"
    "#endif\n"
    "#define OP2_LAST(w) (31 - (int)clz((uint)(w)))\n"
    "static __global void *op2_passed(__global char *data, long at) {\n"
    "  return at < 0 ? (__global void *)0 : (__global void *)(data + at);\n"
    "}\n";

/* A group of one thread waits for nobody. */
static const char opencl_one[] = "#define op_task_barrier() ((void)0)\n"
                                 "#define OP2_SHARED\n#define OP2_MEET ((void)0)\n";
static const char opencl_many[] =
    "#define op_task_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"
    "#define OP2_SHARED __local\n#define OP2_MEET op_task_barrier()\n";

/* t: the tables; what begins where in them they say themselves (enum tasks_table of runtime/tasks/device.h). */
static const char scheduler[] =
    "#define OP2_BIT(i) ((int)(1u << ((i) & 31)))\n"
    "OP2_FN void op2_push(OP2_M int *t, int task) {\n"
    "  OP2_OR(t + t[6] + (task >> 5), OP2_BIT(task));\n"
    "  OP2_FENCE;\n"
    "  OP2_OR(t + t[7] + (task >> 10), OP2_BIT(task >> 5));\n"
    "  OP2_FENCE;\n"
    "  OP2_OR(t + t[8] + (task >> 15), OP2_BIT(task >> 10));\n"
    "}\n"
    "OP2_FN void op2_emptied(OP2_M int *t, int task) {\n"
    "  OP2_M int *low = t + t[6] + (task >> 5), *middle = t + t[7] + (task >> 10), *high = t + t[8] + (task "
    ">> "
    "15);\n"
    "  const int old = OP2_AND(middle, ~OP2_BIT(task >> 5));\n"
    "  OP2_FENCE;\n"
    "  if (!(old & ~OP2_BIT(task >> 5))) {\n"
    "    OP2_AND(high, ~OP2_BIT(task >> 10));\n"
    "    OP2_FENCE;\n"
    "    if (OP2_PEEK(middle)) OP2_OR(high, OP2_BIT(task >> 10));\n"
    "  }\n"
    "  if (OP2_PEEK(low)) {\n"
    "    OP2_OR(middle, OP2_BIT(task >> 5));\n"
    "    OP2_FENCE;\n"
    "    OP2_OR(high, OP2_BIT(task >> 10));\n"
    "  }\n"
    "}\n"
    "OP2_FN int op2_hold(OP2_M int *state) {\n"
    "  int old = OP2_PEEK(state);\n"
    "  while (old != -1) {\n"
    "    const int seen = OP2_CAS(state, old, old + 1);\n"
    "    if (seen == old) return 1;\n"
    "    old = seen;\n"
    "  }\n"
    "  return 0;\n"
    "}\n"
    "OP2_FN void op2_give_one(OP2_M int *t, int r, int end) {\n"
    "  for (int a = t[t[11] + r]; a != end; a = t[t[11] + a]) OP2_ADD(t + t[10] + a, -1);\n"
    "  OP2_AND(t + t[10] + r, 0);\n"
    "}\n"
    "OP2_FN int op2_take_one(OP2_M int *t, int r) {\n"
    "  if (OP2_PEEK(t + t[10] + r) != 0 || OP2_CAS(t + t[10] + r, 0, -1) != 0) return 0;\n"
    "  for (int a = t[t[11] + r]; a >= 0; a = t[t[11] + a])\n"
    "    if (!op2_hold(t + t[10] + a)) {\n"
    "      op2_give_one(t, r, a);\n"
    "      return 0;\n"
    "    }\n"
    "  return 1;\n"
    "}\n"
    "OP2_FN void op2_give(OP2_M int *t, int first, int end) {\n"
    "  while (end-- > first) op2_give_one(t, t[end], -1);\n"
    "}\n"
    "OP2_FN int op2_take(OP2_M int *t, int task) {\n"
    "  const int first = t[15] + t[t[14] + task], end = t[15] + t[t[14] + task + 1];\n"
    "  for (int at = first; at < end; at++)\n"
    "    if (!op2_take_one(t, t[at])) {\n"
    "      op2_give(t, first, at);\n"
    "      OP2_ADD(t + 1, 1);\n"
    "      return 0;\n"
    "    }\n"
    "  const int old = OP2_AND(t + t[6] + (task >> 5), ~OP2_BIT(task));\n"
    "  if (!(old & OP2_BIT(task))) {\n" /* another group was first */
    "    op2_give(t, first, end);\n"
    "    return 0;\n"
    "  }\n"
    "  if (!(old & ~OP2_BIT(task))) op2_emptied(t, task);\n"
    "  return 1;\n"
    "}\n"
    "OP2_FN int op2_first(unsigned w) { return OP2_LAST(w & (0u - w)); }\n"
    /* all: words of bits are looked at whatever the levels above say. */
    "OP2_FN int op2_next(OP2_M int *t, int all) {\n"
    "  for (int c = 0; c < t[5]; c++)\n"
    "    for (unsigned high = all ? ~0u : (unsigned)OP2_PEEK(t + t[8] + c); high; high &= high - 1) {\n"
    "      const int b = c * 32 + op2_first(high);\n"
    "      if (b >= t[4]) break;\n"
    "      for (unsigned middle = all ? ~0u : (unsigned)OP2_PEEK(t + t[7] + b); middle; middle &= middle - "
    "1) {\n"
    "        const int a = b * 32 + op2_first(middle);\n"
    "        if (a >= t[3]) break;\n"
    "        for (unsigned low = (unsigned)OP2_PEEK(t + t[6] + a); low; low &= low - 1)\n"
    "          if (op2_take(t, a * 32 + op2_first(low))) return a * 32 + op2_first(low);\n"
    "      }\n"
    "    }\n"
    "  return -1;\n"
    "}\n"
    "OP2_FN void op2_done(OP2_M int *t, int task) {\n"
    "  op2_give(t, t[15] + t[t[14] + task], t[15] + t[t[14] + task + 1]);\n"
    "  for (int at = t[t[16] + task]; at < t[t[16] + task + 1]; at++)\n"
    "    if (OP2_ADD(t + t[9] + t[t[17] + at], -1) == 1) op2_push(t, t[t[17] + at]);\n"
    "  OP2_ADD(t + 2, 1);\n"
    "  OP2_FENCE;\n"
    "  OP2_ADD(t, -1);\n"
    "}\n";

/* Groups of several threads meet twice for each task: all know it, all have done it. */
static const char kernel_body[] =
    "  OP2_SHARED int op2_task;\n"
    "  int op2_now, op2_tries = 0;\n"
    "  do {\n"
    "    if (OP2_THREAD == 0) {\n"
    "      op2_task = OP2_PEEK(op2_t) == 0 ? -2 : op2_next(op2_t, op2_tries++ % 64 == 63);\n"
    "      OP2_FENCE;\n"
    "    }\n"
    "    OP2_MEET;\n"
    "    op2_now = op2_task;\n"
    "    op2_work(op2_data, op2_t, op2_places, op2_now);\n"
    "    OP2_FENCE;\n"
    "    OP2_MEET;\n"
    "    if (OP2_THREAD == 0 && op2_now >= 0) op2_done(op2_t, op2_now);\n"
    "  } while (op2_now != -2);\n"
    "}\n";

/* A call for each type. */
static void put_work(const struct gpu_writer *w) {
  const struct gpu_tasks *tasks = w->shape->tasks;
  struct text *out = w->g.out;
  text_add(
      out,
      "OP2_FN void op2_work(OP2_M char *op2_data, OP2_M int *op2_t, OP2_M OP2_WIDE *op2_places, int op2_now) "
      "{\n"
      "  const int op2_type = op2_now < 0 ? -1 : op2_t[op2_t[12] + op2_now];\n"
      "  OP2_M OP2_WIDE *op2_p = op2_places + (op2_now < 0 ? 0 : op2_t[op2_t[13] + op2_now]);\n"
      "  switch (op2_type) {\n");
  for (int i = 0; i < tasks->count; i++) {
    const struct gpu_task_kernel *k = &tasks->items[i];
    if (!k->name)
      continue;
    add_words(&w->g, out, "  case %d: $user%s%s(", i, word_before(&w->g, k->name), k->name);
    for (int p = 0; p < k->parameters; p++)
      text_addf(out, "%sop2_passed(op2_data, op2_p[%d])", p ? ", " : "", p);
    text_add(out, "); break;\n");
  }
  text_add(out, "  default: break;\n  }\n}\n");
}

void gpu_put_tasks(struct gpu_writer *w, const struct generated *files) {
  const bool opencl = w->language->copies;
  struct text *out = w->g.out;
  put(&w->g, "/* Made by op2jit (generator %s): tasks of a graph, %s. */", GENERATOR_VERSION, w->g.d->fp);
  text_add(out, w->language->front ? w->language->front : "");
  put(&w->g, "#include \"%s\"", files->prelude_file);
  text_addf(out, "#define op_task_threads %d\n", w->shape->block);
  text_add(out, opencl ? opencl_front : cuda_front);
  if (opencl)
    text_add(out, w->shape->block == 1 ? opencl_one : opencl_many);
  text_add(out, scheduler);
  put(&w->g, "$openuser");
  for (int i = 0; opencl && i < w->g.k->nfunctions; i++) /* they may be called as functions of OpenCL C */
    put(&w->g, "#define %s op2_u_%s", w->g.k->functions[i].name, w->g.k->functions[i].name);
  put(&w->g, "#include \"%s\"", files->kernel_file);
  put(&w->g, "$closeuser");
  put_work(w);
  put(&w->g,
      "$kernel $bounds(%d) " GPU_TASKS
      "(OP2_M char *op2_data, OP2_M int *op2_t, OP2_M OP2_WIDE *op2_places) {",
      w->shape->block);
  text_add(out, kernel_body);
}

void gpu_tasks_print(const struct gpu_shape *s, struct text *out) {
  text_addf(out, "tasks/%d", s->block);
  for (int i = 0; i < s->tasks->count; i++)
    text_addf(out, "/%s:%d", s->tasks->items[i].name ? s->tasks->items[i].name : "",
              s->tasks->items[i].parameters);
}
