#include "coverage.h"

/* A kind that must not be missing counts for more cells than chance leaves empty. */
enum { NEVER = 100 };

enum layout coverage_rarer(const struct coverage *c, const struct param *p) {
  return c->cells[LAYOUT_SOA][p->access][p->type][p->dim] < c->cells[LAYOUT_AOS][p->access][p->type][p->dim]
             ? LAYOUT_SOA
             : LAYOUT_AOS;
}

void coverage_count(struct coverage *c, const struct param *p, enum layout layout) {
  c->forms[p->form][p->access]++;
  if (p->form != FORM_IDX && p->form != FORM_INFO)
    c->cells[layout][p->access][p->type][p->dim]++;
}

void coverage_count_meeting(struct coverage *c, const struct param *p, bool soa, bool subset) {
  c->meeting[p->form][p->access]++;
  c->meets[p->meets]++;
  c->meets_soa += soa && p->dim > 1;
  c->meets_subsets += subset;
  c->twins += p->twin >= 0 && p->with >= 0;
}

int coverage_print_meeting(const struct coverage *c, FILE *out) {
  static const enum form met[] = {FORM_COLUMN, FORM_VECTOR, FORM_RAGGED};
  static const char *const names[] = {"column", "vector", "ragged"};
  static const char *const how[MEETS] = {NULL, "parts", "equal", "adds", "least", "most", "or", "and", "xor"};
  int missing = !c->meets_soa + !c->meets_subsets + !c->twins;
  fprintf(out, "elements met:");
  for (int f = 0; f < 3; f++) {
    fprintf(out, " %s WRITE %d RW %d,", names[f], c->meeting[met[f]][OP_WRITE], c->meeting[met[f]][OP_RW]);
    missing += !c->meeting[met[f]][OP_WRITE] + !c->meeting[met[f]][OP_RW];
  }
  for (int m = MEETS_PARTS; m < MEETS; m++) {
    fprintf(out, " %s %d,", how[m], c->meets[m]);
    missing += !c->meets[m];
  }
  fprintf(out, " soa %d, in subsets %d, by two arguments of a dat %d\n", c->meets_soa, c->meets_subsets,
          c->twins);
  return missing;
}

static bool legal(enum layout layout, int access) {
  return layout == LAYOUT_GLOBAL || access != OP_WORK;
}

int coverage_print(const struct coverage *c, const char *backend, const char *strategy, FILE *out) {
  static const char *const layouts[] = {"aos", "soa", "global"};
  static const char *const accesses[] = {"READ", "WRITE", "RW", "INC", "MIN", "MAX", "WORK"};
  static const char *const forms[] = {"direct", "column", "vector", "ragged",
                                      "entry",  "global", "idx",    "info"};
  int empty = 0, missing = 0;
  fprintf(out, "arguments run, by backend, strategy, layout, access, type and dim 1..%d\n", MAX_DIM);
  for (int l = 0; l < LAYOUTS; l++)
    for (int a = 0; a < ACCESSES; a++)
      for (int t = 0; legal((enum layout)l, a) && t < V_TYPES; t++) {
        fprintf(out, "  %-7s %-10s %-6s %-5s %-18s", backend, strategy, layouts[l], accesses[a], vtypes[t].c);
        for (int d = 1; d <= MAX_DIM; d++) {
          fprintf(out, " %4d", c->cells[l][a][t][d]);
          empty += c->cells[l][a][t][d] == 0;
        }
        fputc('\n', out);
      }
  fprintf(out, "by form:\n");
  for (int f = 0; f <= FORM_INFO; f++) {
    fprintf(out, "  %-7s", forms[f]);
    for (int a = 0; a < ACCESSES; a++)
      if (c->forms[f][a])
        fprintf(out, " %s %d", accesses[a], c->forms[f][a]);
    fputc('\n', out);
  }
  for (int a = OP_READ; a <= OP_MAX; a++)
    missing += !c->forms[FORM_RAGGED][a] + !c->forms[FORM_ENTRY][a];
  fprintf(out, "structs: READ %d WRITE %d RW %d\n", c->boxed[OP_READ], c->boxed[OP_WRITE], c->boxed[OP_RW]);
  missing += coverage_print_meeting(c, out);
  return empty + (missing + !c->boxed[OP_READ] + !c->boxed[OP_WRITE] + !c->boxed[OP_RW]) * NEVER;
}

int coverage_print_drawn(const long drawn[DRAWN], FILE *out) {
  static const char *const kinds[DRAWN] = {"absent", "repeated", "numbers", "results", "loops over subsets"};
  int missing = 0;
  fprintf(out, "in cases where loops were fused:");
  for (int k = 0; k < DRAWN; k++) {
    fprintf(out, "%s %s %ld", k ? "," : "", kinds[k], drawn[k]);
    missing += drawn[k] == 0;
  }
  fputc('\n', out);
  return missing;
}
