/* A loop as lines of text, which ranks compare. */
#include "loop/loop.h"

#include <string.h>

#include "context/context.h"
#include "exec/executor.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "record/record.h"

static const char *const forms[] = {[DESC_DAT] = "a dat",
                                    [DESC_GBL] = "a global",
                                    [DESC_IDX] = "the element's number",
                                    [DESC_INFO] = "a payload"};

static void print_argument(const struct loop_arg *arg, int number, struct text *out) {
  text_addf(out, "argument %d\t%s\n", number, forms[arg->form]);
  text_addf(out, "argument %d\t%s\n", number, access_name(arg->access));
  text_addf(out, "argument %d\tdim %d\n", number, arg->dim);
  text_addf(out, "argument %d\t%s\n", number, type_info(arg->type)->name);
  text_addf(out, "argument %d\t%s\n", number, arg->present ? "present" : "absent");
  if (arg->dat)
    text_addf(out, "argument %d\tdat \"%s\" (number %d)%s\n", number, arg->dat->name, arg->dat->id,
              arg->dat->apart ? ", soa" : "");
  if (arg->map)
    text_addf(out, "argument %d\tmap \"%s\" (number %d)\n", number, arg->map->name, arg->map->id);
  text_addf(out, "argument %d\tindex %d\n", number, arg->idx);
  if (arg->form == DESC_INFO)
    text_addf(out, "argument %d\tof argument %d\n", number, arg->ref + 1);
}

/* Without the #line in front, which names the file as it was compiled: the same program, built in another folder,
 * is the same. */
static void print_kernel(const char *text, struct text *out) {
  if (strncmp(text, "#line ", 6) == 0)
    text += strcspn(text, "\n") + (strchr(text, '\n') != NULL);
  for (int line = 1; *text; line++) {
    const size_t length = strcspn(text, "\n");
    text_addf(out, "kernel text, line %d\t%.*s\n", line, (int)length, text);
    text += length + (text[length] == '\n');
  }
}

static void print_loop(const struct op_context *ctx, const struct loop *loop, struct text *out) {
  text_addf(out, "set\t\"%s\" (number %d)\narguments\t%d\n", loop->set->name, loop->set->id, loop->nargs);
  for (int i = 0; i < loop->nargs; i++)
    print_argument(&loop->args[i], i + 1, out);
  print_kernel(loop->compiled ? loop->key.text : loop->desc.text + loop->desc.origins.own, out);
  for (int i = 0; i < loop->desc.nconsts; i++) {
    const struct desc_const *known = &loop->desc.consts[i];
    text_addf(out, "constant %s\t", known->name);
    agree_print_values(out, (int)known->type, known->dim, known->value);
    text_add(out, known->folded ? ", compiled in\n" : "\n");
  }
  text_addf(out, "native form\t%s\nruns plainly\t%s\n", loop->native ? "yes" : "no",
            loop->form ? "no" : "yes");
  text_addf(out, "shadow\t%s\nmesh changes\t%u\n", loop->shadow ? "yes" : "no", ctx->mesh->epoch);
}

/* Numbers that may differ between ranks and must not: flags of the description, and the size by which variants are
 * chosen. */
enum {
  NUMBER_MOST,
  NUMBER_THREADS,
  NUMBER_RANGED,
  NUMBER_WIDE,
  NUMBER_ORDER = NUMBER_WIDE + OP_MAX_ARGS,
  NUMBERS = NUMBER_ORDER + OP_MAX_ARGS + 1
};
_Static_assert((int)NUMBERS <= (int)AGREE_NUMBERS, "all of a loop's numbers travel in one agreement");

/* The same loop on a second backend. */
static void follow(struct loop *shadow, const struct loop *loop) {
  shadow->ready.most_elements = loop->ready.most_elements;
  shadow->ready.most_threads = loop->ready.most_threads;
  memcpy(shadow->desc.renumbered, loop->desc.renumbered, sizeof shadow->desc.renumbered);
  for (int i = 0; i < loop->desc.ndats; i++)
    shadow->desc.dats[i].wide = loop->desc.dats[i].wide;
}

int agree_on_loop(struct op_context *ctx, struct loop *loop, const char *name, int code, struct error *err) {
  struct text facts = {0};
  struct agreement a = {.code = code, .facts = &facts};
  if (loop) {
    loop->ready.most_elements = loop->set->extents[EXTENT_EXEC];
    loop->ready.most_threads = ctx->team ? executor_threads(ctx->team, loop->ready.most_elements, 0) : 1;
  }
  if (comm_alone(ctx->comm)) {
    if (loop && loop->shadow)
      follow(loop->shadow, loop);
    return code;
  }
  text_addf(&facts, "call\tloop %s\n", name ? name : "without a name");
  if (loop && !code) {
    print_loop(ctx, loop, &facts);
    a.numbers[NUMBER_MOST] = loop->ready.most_elements;
    a.numbers[NUMBER_THREADS] = loop->ready.most_threads;
    a.numbers[NUMBER_RANGED] = loop->ranged;
    for (int i = 0; i < loop->desc.ndats; i++)
      a.numbers[NUMBER_WIDE + i] = loop->desc.dats[i].wide;
    for (int i = 0; i < loop->desc.nsets; i++)
      a.numbers[NUMBER_ORDER + i] = loop->desc.renumbered[i];
  }
  code = agree_named(ctx, &a, err);
  text_free(&facts);
  if (code)
    return code;
  loop->ready.most_elements = (long)a.numbers[NUMBER_MOST];
  loop->ready.most_threads = (int)a.numbers[NUMBER_THREADS];
  /* One rank without a text: all do without, and describe the loop anew. */
  if (a.numbers[NUMBER_RANGED] && loop->source) {
    loop->ready.epoch = ctx->mesh->epoch - 1;
    return loop->functions->give_up(ctx, loop, OP_OK, "another rank has no text of it", err);
  }
  for (int i = 0; i < loop->desc.ndats; i++)
    loop->desc.dats[i].wide = a.numbers[NUMBER_WIDE + i] != 0;
  for (int i = 0; i < loop->desc.nsets; i++)
    loop->desc.renumbered[i] = a.numbers[NUMBER_ORDER + i] != 0;
  if (loop->shadow)
    follow(loop->shadow, loop);
  return OP_OK;
}
