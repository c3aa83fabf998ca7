/* A kernel as C text. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "kernel.h"

/* How each operation is written: @0 @1 @2 kids, @w the node's whole number, @k the kernel's name, @f the
 * suffix of functions and numbers in single precision, @T the floating type, @s and @m a name and a number that a
 * prelude may have. */
static const char *const forms[][2] = {
    /* whole, floating */
    [N_NUMBER] = {"(@wLL)", NULL},
    [N_CALL] = {"blend_@k(@0, @1)", "mix_@k(@0, @1)"},
    [N_ADD] = {"(@0 + @1)", "(@0 + @1)"},
    [N_SUB] = {"(@0 - @1)", "(@0 - @1)"},
    [N_MUL] = {"(@0 * @1)", "(@0 * @1)"},
    [N_MIN] = {"lower_@s(@0, @1)", "fmin@f(@0, @1)"},
    [N_MAX] = {"higher_@s(@0, @1)", "fmax@f(@0, @1)"},
    [N_ABS] = {"higher_@s(@0, -(@0))", "fabs@f(@0)"},
    [N_NEG] = {"(-@0)", "(-@0)"},
    [N_SELECT] = {"(@0 ? @1 : @2)", "(@0 ? @1 : @2)"},
    [N_FLOOR] = {NULL, "floor@f(@0)"},
    [N_CLAMP] = {"lower_@s(higher_@s(@0, -@wLL), @wLL)", "fmin@f(fmax@f(@0, -@w), @w)"},
    [N_LESS] = {"(@0 < @1)", NULL},
    [N_BOTH] = {"(@0 & @1)", NULL},
    [N_EITHER] = {"(@0 | @1)", NULL},
    [N_XOR] = {"(@0 ^ @1)", NULL},
    [N_SHIFT_LEFT] = {"((@0 & @m) << @w)", NULL},
    [N_SHIFT_RIGHT] = {"((@0 & 1048575) >> @w)", NULL},
    [N_DIV] = {"(@0 / @wLL)", NULL},
    [N_MOD] = {"(@0 % @wLL)", NULL},
    [N_TABLE] = {"table_@k[@0 & 3]", NULL},
    [N_FLOATING] = {NULL, "(@T)@0"},
    [N_WHOLE] = {"(long long)@0", NULL},
    [N_ROOT] = {NULL, "sqrt@f(1 + fabs@f(@0))"},
    [N_SINE] = {NULL, "sin@f(@0)"},
    [N_QUOTIENT] = {NULL, "(@0 / (1 + fabs@f(@1)))"},
    [N_DECAY] = {NULL, "exp@f(-fabs@f(@0))"},
};

void box_name(enum vtype type, int dim, char *out, size_t size) {
  snprintf(out, size, "struct box_%d_%d", (int)type, dim);
}

const char *kernel_shared(void) {
  static char text[sizeof SHARED_TEXT + V_TYPES * MAX_BOXED * 64] = "";
  size_t at = 0;
  if (*text)
    return text;
  at += (size_t)snprintf(text, sizeof text, "%s", SHARED_TEXT);
  for (int t = 0; t < V_TYPES; t++)
    for (int d = 1; d <= MAX_BOXED; d++) {
      char name[24];
      box_name((enum vtype)t, d, name, sizeof name);
      at += (size_t)snprintf(text + at, sizeof text - at, "%s { %s v[%d]; };\n", name, vtypes[t].c, d);
    }
  return text;
}

/* The component that is this element's own. */
static void own_part(const struct param *p, int entry, struct text *out) {
  if (is_ragged(p))
    text_addf(out, "OP_ROW(p%d, j %% n%d)[0]", p->beside, p->ragged);
  else if (entry == BY_LOOP)
    text_addf(out, "p%d[j]", p->beside);
  else
    text_addf(out, "p%d[0]", p->beside);
}

static void place(const struct kernel *k, int which, int entry, int part, struct text *out) {
  const struct param *p = &k->params[which];
  bool numbers = p->form == FORM_IDX && p->reach == FORM_VECTOR;
  if (is_ragged(p) && entry == BY_LOOP && k->sums && p->access != OP_READ)
    text_addf(out, "OP_ROW(p%d, j)", which);
  else if (is_ragged(p) && entry == BY_LOOP)
    text_addf(out, "OP_ROW(p%d, j %% n%d)", which, p->ragged);
  else if (is_ragged(p))
    text_addf(out, "OP_ROW(p%d, %d %% n%d)", which, entry, p->ragged);
  else
    text_addf(out, "p%d", which);
  if (p->form == FORM_VECTOR || numbers) {
    if (entry == BY_LOOP)
      text_addf(out, "[j %% %d]", p->width);
    else
      text_addf(out, "[%d]", entry);
  }
  if (numbers)
    return;
  if (p->boxed)
    text_add(out, "->v");
  if (part == BY_PARTS) {
    text_add(out, "[");
    own_part(p, entry, out);
    text_add(out, "]");
  } else if (part == BY_LOOP)
    text_addf(out, "[i %% %d]", p->dim);
  else
    text_addf(out, "[%d]", part);
}

static void leaf(const struct kernel *k, const struct node *n, struct text *out) {
  const struct param *p = &k->params[n->which];
  if (p->flag >= 0)
    text_addf(out, "(*p%d ? ", p->flag);
  if (is_ragged(p))
    text_addf(out, "(n%d ? ", p->ragged);
  if (!n->floating)
    text_add(out, "(long long)");
  else if (p->type == V_FLOAT && !k->single_work)
    text_add(out, "(double)"); /* or C multiplies in single precision, where bounds are those of double */
  place(k, n->which, n->entry, n->part, out);
  if (is_ragged(p))
    text_add(out, " : 3)");
  if (p->flag >= 0)
    text_add(out, " : 3)");
}

static void expression(const struct kernel *k, int index, struct text *out) {
  const struct node *n = &k->nodes[index];
  const char *f = k->single_work ? "f" : "";
  if (n->op == N_LEAF) {
    leaf(k, n, out);
  } else if (n->op == N_LOCAL) {
    text_addf(out, "t%d", n->which);
  } else if (n->op == N_FORMAL) {
    text_add_char(out, "ab"[n->which]);
  } else if (n->op == N_CONSTANT) {
    text_addf(out, "%s%s", n->floating ? "" : "(long long)", constants[n->which].name);
    if (constants[n->which].dim > 1)
      text_addf(out, "[%d]", n->part);
  } else if (n->op == N_NUMBER && n->floating) {
    text_addf(out, "(%#.10g%s)", n->number, f);
  } else {
    for (const char *c = forms[n->op][n->floating]; *c; c++) {
      if (*c != '@') {
        text_add_char(out, *c);
        continue;
      }
      c++;
      if (*c >= '0' && *c <= '2')
        expression(k, n->kid[*c - '0'], out);
      else if (*c == 'w')
        text_addf(out, "%lld", n->whole);
      else if (*c == 's' || *c == 'm')
        text_add(out, *c == 's'          ? (kernel_shares(k) ? "shared" : k->name)
                      : kernel_shares(k) ? "SHARED_MASK"
                                         : "1023");
      else
        text_add(out, *c == 'k' ? k->name : *c == 'f' ? f : k->single_work ? "float" : "double");
    }
  }
}

/* Helpers that some node needs. */
static bool uses(const struct kernel *k, enum op a, enum op b, enum op c) {
  for (int i = 0; i < k->nnodes; i++)
    if (!k->nodes[i].floating && (k->nodes[i].op == a || k->nodes[i].op == b || k->nodes[i].op == c))
      return true;
  return false;
}

static bool calls(const struct kernel *k, bool floating) {
  for (int i = 0; i < k->nnodes; i++)
    if (k->nodes[i].op == N_CALL && k->nodes[i].floating == floating)
      return true;
  return false;
}

static void print_helpers(const struct kernel *k, struct text *out) {
  const char *name = k->name, *T = k->single_work ? "float" : "double";
  if (!kernel_shares(k) && uses(k, N_MIN, N_CLAMP, N_CLAMP))
    text_addf(out, "static long long lower_%s(long long a, long long b) { return a < b ? a : b; }\n", name);
  if (!kernel_shares(k) && uses(k, N_MAX, N_CLAMP, N_ABS))
    text_addf(out,
              "static inline long long higher_%s(long long a, long long b) {\n  if (a > b)\n    return a;\n  "
              "return b;\n}\n",
              name);
  if (uses(k, N_TABLE, N_TABLE, N_TABLE))
    text_addf(out, "static const int table_%s[4] = {%d, %d, %d, %d};\n", name, k->table[0], k->table[1],
              k->table[2], k->table[3]);
  for (int floating = 0; floating < 2; floating++)
    if (calls(k, floating != 0)) {
      const char *type = floating ? T : "long long";
      text_addf(out, "static %s %s_%s(%s a, %s b) {\n  return ", type, floating ? "mix" : "blend", name, type,
                type);
      expression(k, k->helper[floating], out);
      text_add(out, ";\n}\n");
    }
  for (int p = 0; p < k->nparams; p++)
    for (int s = 0; s < k->nstatements; s++)
      if (k->statements[s].what == S_ADD && k->statements[s].target == p && k->statements[s].style == 4) {
        const char *type = vtypes[k->params[p].type].c;
        text_addf(out, "static void add%d_%s(%s *to, %s step) { *to += step; }\n", p, name, type, type);
        break;
      }
}

/* Every spelling that the contract allows means the same parameter. */
static void print_param(const struct kernel *k, int which, struct text *out) {
  const struct param *p = &k->params[which];
  bool reads = p->access == OP_READ || p->form == FORM_IDX;
  if (p->form == FORM_INFO)
    reads = false;
  const char *type = p->form == FORM_IDX ? "int" : vtypes[p->type].c;
  char head[64], box[24];
  box_name(p->type, p->dim, box, sizeof box);
  if (p->boxed)
    type = box;
  if (p->spelling == 1)
    snprintf(head, sizeof head, "%s%s", type, reads ? " const" : "");
  else
    snprintf(head, sizeof head, "%s%s", reads ? "const " : "", type);
  if (is_ragged(p))
    text_addf(out, "%s **p%d", head, which);
  else if (p->form == FORM_VECTOR)
    text_addf(out,
              p->spelling == 0             ? "%s *p%d[%d]"
              : p->spelling == 1 || !reads ? "%s **p%d"
                                           : "%s *const p%d[%d]",
              head, which, p->width);
  else
    text_addf(out,
              p->spelling == 2   ? "%s p%d[%d]"
              : p->spelling == 3 ? "%s *restrict p%d"
                                 : "%s *p%d",
              head, which,
              p->form == FORM_IDX ? p->reach == FORM_VECTOR ? p->width : 1
              : p->boxed          ? 1
                                  : p->dim);
}

static void print_extreme(const struct kernel *k, const struct statement *s, struct text *out) {
  const struct param *p = &k->params[s->target];
  const char *sign = keeps_least(p) ? "<" : ">", *type = vtypes[p->type].c;
  struct text best = {0};
  place(k, s->target, s->entry, s->part, &best);
  const char *m = text_str(&best);
  text_addf(out, "{ %s v = (%s)", type, type);
  expression(k, s->value, out);
  text_add(out, "; ");
  if (s->info < 0 && s->style == 1) {
    text_addf(out, "%s = v %s %s ? v : %s; }\n", m, sign, m, m);
  } else if (s->info < 0 && s->style == 2 && vtypes[p->type].floating) {
    text_addf(out, "%s = f%s%s(%s, v); }\n", m, keeps_least(p) ? "min" : "max", p->type == V_FLOAT ? "f" : "",
              m);
  } else {
    text_addf(out, "if (v %s %s) { %s = v; ", sign, m, m);
    for (int c = 0; s->info >= 0 && c < k->params[s->info].dim; c++) {
      text_addf(out, "p%d[%d] = (%s)", s->info, c, vtypes[k->params[s->info].type].c);
      expression(k, s->payload[c], out);
      text_add(out, "; ");
    }
    text_add(out, "} }\n");
  }
  text_free(&best);
}

static void print_write(const struct kernel *k, const struct statement *s, int node, struct text *out) {
  static const char *const after[] = {" += ", " -= ", "++;\n", "--;\n", ""};
  const struct param *p = &k->params[s->target];
  const char *type = vtypes[p->type].c;
  bool helper = s->what == S_ADD && s->style == 4;
  if (helper)
    text_addf(out, "add%d_%s(&", s->target, k->name);
  place(k, s->target, s->entry, s->part, out);
  if (s->what == S_ADD && (s->style == 2 || s->style == 3)) {
    text_add(out, after[s->style]);
    return;
  }
  text_addf(out, "%s(%s)", helper ? ", " : s->what == S_SET ? " = " : after[s->style], type);
  expression(k, node, out);
  text_add(out, helper ? ");\n" : ";\n");
}

static void print_target(const struct kernel *k, const struct statement *s, struct text *out) {
  const struct param *p = &k->params[s->target];
  if (s->over >= 0)
    text_addf(out, "  OP_ANY_ORDER\n  for (int j = 0; j < n%d; j++)\n", k->params[s->over].ragged);
  else if (s->entry == BY_LOOP && is_ragged(p))
    text_addf(out, "  OP_ANY_ORDER\n  for (int j = 0; j < n%d; j++)\n", p->ragged);
  else if (s->entry == BY_LOOP)
    text_addf(out, "  for (int j = 0; j < %d; j++)\n", p->width);
  else if (is_ragged(p))
    text_addf(out, "  if (n%d)\n", p->ragged);
  if (s->part == BY_LOOP)
    text_addf(out, "  for (int i = 0; i < %d; ++i)\n", p->dim);
  text_add(out, "    ");
  if (s->part == BY_PARTS) {
    text_add(out, "if (");
    own_part(p, s->entry, out);
    text_add(out, " >= 0 && ");
    own_part(p, s->entry, out);
    text_addf(out, " < %d)\n      ", p->dim);
  }
  if (s->what == S_EXTREME) {
    print_extreme(k, s, out);
    return;
  }
  if (s->condition >= 0) {
    text_add(out, "if (");
    expression(k, s->condition, out);
    text_add(out, ") {\n      ");
  }
  print_write(k, s, s->value, out);
  if (s->condition >= 0 && s->other >= 0) {
    text_add(out, "    } else {\n      ");
    print_write(k, s, s->other, out);
  }
  if (s->condition >= 0)
    text_add(out, "    }\n");
}

static void print_statement(const struct kernel *k, const struct statement *s, struct text *out) {
  if (s->what == S_LOCAL) {
    text_addf(out, "  %s t%d = ",
              !k->local_floating[s->target] ? "const long long"
              : k->single_work              ? "float"
                                            : "double",
              s->target);
    expression(k, s->value, out);
    text_add(out, ";\n");
    return;
  }
  if (s->what == S_RETURN) {
    text_add(out, "  if (");
    expression(k, s->condition, out);
    text_add(out, ")\n    return;\n");
    return;
  }
  const struct param *p = &k->params[s->target];
  if (p->flag >= 0)
    text_addf(out, "  if (*p%d) {\n", p->flag);
  print_target(k, s, out);
  if (p->flag >= 0)
    text_add(out, "  }\n");
}

void kernel_print(const struct kernel *k, struct text *out) {
  print_helpers(k, out);
  text_addf(out, "%svoid %s(", k->table[0] & 1 ? "static " : "", k->name);
  for (int p = 0; p < k->nparams; p++) {
    text_add(out, p ? ", " : "");
    bool first = is_ragged(&k->params[p]);
    for (int q = 0; q < p; q++)
      first &= !is_ragged(&k->params[q]) || k->params[q].ragged != k->params[p].ragged;
    if (first)
      text_addf(out, "int n%d, ", k->params[p].ragged);
    print_param(k, p, out);
  }
  text_add(out, ") {\n");
  if (kernel_shares(k)) /* what always holds, of values that a kernel has */
    text_add(out, "  op_assert(lower_shared(3, SHARED_MASK) == 3);\n");
  for (int s = 0; s < k->nstatements; s++)
    print_statement(k, &k->statements[s], out);
  text_add(out, "}\n");
}
