#include "jit/kernel/fused.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "jit/kernel/kernel.h"
#include "jit/kernel/parameters.h"
#include "jit/kernel/says.h"

bool fused_texts_may_join(const struct desc *a, const struct desc *b) {
  return !a->entry && !b->entry && !a->compiled && !b->compiled;
}

/* The texts, each once; `of`: which of them a member's is. */
struct join {
  struct part {
    struct kernel kernel;
    bool *declares; /* tokens that are the name of something declared outside of functions */
  } parts[DESC_MOST_MEMBERS];
  int count;
  int of[DESC_MOST_MEMBERS];
};

/* ---- one text of several ---------------------------------------------------------------------------*/

static bool is_constant(const struct desc *out, const char *name) {
  for (int i = 0; i < out->nconsts; i++)
    if (strcmp(out->consts[i].name, name) == 0)
      return true;
  return false;
}

static bool declares(const struct part *p, const char *name) {
  const struct tokens *t = &p->kernel.tokens;
  for (size_t i = 0; i < t->count; i++)
    if (p->declares[i] && token_is(t, i, name))
      return true;
  return false;
}

/* True: the name, which text `which` declares, means something else in another text. */
static bool meets(const struct join *j, const struct desc *out, int which, const char *name) {
  bool found = j->count > 1 && is_constant(out, name);
  for (int i = 0; i < j->count; i++)
    found |= i != which && kernel_uses(&j->parts[i].kernel, name);
  return found;
}

static void add_name(const struct join *j, const struct desc *out, int which, const char *name,
                     struct text *to) {
  if (declares(&j->parts[which], name) && meets(j, out, which, name))
    text_addf(to, "op2_k%d_", which);
  text_add(to, name);
}

/* Texts of OP_KERNEL may lack the last line break. */
static void add_text(const struct join *j, const struct desc *out, int which, struct text *to) {
  const struct kernel *k = &j->parts[which].kernel;
  size_t done = 0;
  for (size_t i = 0; i < k->tokens.count; i++) {
    const struct token *t = &k->tokens.items[i];
    if (t->kind != TOKEN_IDENTIFIER)
      continue;
    struct text name = {0};
    text_add_bytes(&name, k->text + t->begin, t->end - t->begin);
    text_add_bytes(to, k->text + done, t->begin - done);
    add_name(j, out, which, text_str(&name), to);
    to->failed |= !text_ok(&name);
    text_free(&name);
    done = t->end;
  }
  text_add_bytes(to, k->text + done, k->length - done);
  text_add_char(to, '\n');
}

static int add_const(struct desc *out, const struct desc_const *c, struct error *err) {
  if (is_constant(out, c->name) || desc_copy_const(&out->consts[out->nconsts++], c))
    return OP_OK;
  return error_memory(err, "a loop's constant", (size_t)c->dim * type_info(c->type)->size);
}

static int add_consts(struct desc *out, const struct desc *const *members, int n, struct error *err) {
  size_t most = 0;
  int code = OP_OK;
  for (int m = 0; m < n; m++)
    most += (size_t)members[m]->nconsts;
  out->consts = array_new(most, sizeof *out->consts);
  if (!out->consts)
    return error_memory(err, "a loop's constants", most * sizeof *out->consts);
  for (int m = 0; m < n; m++)
    for (int i = 0; !code && i < members[m]->nconsts; i++)
      code = add_const(out, &members[m]->consts[i], err);
  return code;
}

static int read_text(struct part *p, const struct desc *d, struct error *err) {
  const int code = kernel_parse(&p->kernel, d->text, strlen(d->text), d->kernel_name, err);
  if (code)
    return code;
  p->declares = array_new(p->kernel.tokens.count, sizeof *p->declares);
  if (!p->declares)
    return error_memory(err, "a kernel text", p->kernel.tokens.count);
  tokens_declared(&p->kernel.tokens, p->declares);
  return OP_OK;
}

static int read_texts(struct join *j, const struct desc *const *members, int n, struct error *err) {
  int code = OP_OK;
  for (int m = 0; !code && m < n; m++) {
    int same = 0;
    while (same < m && strcmp(members[same]->text, members[m]->text) != 0)
      same++;
    j->of[m] = same < m ? j->of[same] : j->count;
    if (same == m)
      code = read_text(&j->parts[j->count++], members[m], err);
  }
  return code;
}

static int fill(struct desc *out, const struct join *j, const struct desc *const *members, int n,
                struct error *err) {
  struct text all = {0};
  bool good = true;
  for (int i = 0; i < j->count; i++)
    add_text(j, out, i, &all);
  for (int m = 0; good && m < n; m++) {
    struct text name = {0};
    add_name(j, out, j->of[m], members[m]->kernel_name, &name);
    out->members[m].name = strdup(members[m]->kernel_name);
    out->members[m].function = text_take(&name);
    good = out->members[m].name && out->members[m].function;
    out->nmembers = m + 1;
    out->says |= desc_says(members[m]);
  }
  const size_t length = all.length;
  out->text = text_take(&all);
  return good && out->text ? OP_OK : error_memory(err, "a fused loop's text", length);
}

int fused_text(struct desc *out, const struct desc *const *members, int n, struct error *err) {
  struct join *j = calloc(1, sizeof *j);
  out->members = array_new((size_t)n, sizeof *out->members);
  int code = j && out->members ? OP_OK : error_memory(err, "a fused loop's text", sizeof *j);
  if (!code)
    code = add_consts(out, members, n, err);
  if (!code)
    code = read_texts(j, members, n, err);
  if (!code)
    code = fill(out, j, members, n, err);
  for (int i = 0; j && i < j->count; i++) {
    kernel_free(&j->parts[i].kernel);
    free(j->parts[i].declares);
  }
  free(j);
  return code;
}
