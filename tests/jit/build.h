/* Descriptions for tests, built argument by argument. */
#ifndef OP2JIT_TESTS_JIT_BUILD_H
#define OP2JIT_TESTS_JIT_BUILD_H

#include <stdlib.h>
#include <string.h>

#include "jit/kernel/kernel.h"

static inline struct desc build_loop(const char *name, const char *text) {
  struct desc d = {.nsets = 1};
  d.kernel_name = strdup(name);
  d.text = strdup(text);
  d.fp = strdup("contract");
  d.consts = calloc(8, sizeof *d.consts);
  return d;
}

static inline int build_map(struct desc *d, int arity, int to) {
  d->maps[d->nmaps] = (struct desc_map){.arity = arity, .to = to};
  if (to >= d->nsets)
    d->nsets = to + 1;
  return d->nmaps++;
}

static inline int build_dat(struct desc *d, enum type_code type, int dim, int set, bool soa) {
  d->dats[d->ndats] = (struct desc_dat){.type = type, .dim = dim, .set = set, .soa = soa};
  return d->ndats++;
}

static inline int build_arg(struct desc *d, int dat, int map, int idx, int access) {
  d->args[d->nargs] = (struct desc_arg){.form = DESC_DAT,
                                        .type = d->dats[dat].type,
                                        .dim = d->dats[dat].dim,
                                        .access = access,
                                        .map = map,
                                        .idx = idx,
                                        .dat = dat,
                                        .ref = -1,
                                        .info = -1,
                                        .present = true};
  return d->nargs++;
}

static inline int build_gbl(struct desc *d, enum type_code type, int dim, int access) {
  d->args[d->nargs] = (struct desc_arg){.form = DESC_GBL,
                                        .type = type,
                                        .dim = dim,
                                        .access = access,
                                        .map = -1,
                                        .idx = -1,
                                        .dat = -1,
                                        .ref = -1,
                                        .info = -1,
                                        .present = true};
  return d->nargs++;
}

static inline int build_idx(struct desc *d, int map, int idx) {
  int arg = build_gbl(d, TYPE_INT, map >= 0 && idx < 0 ? d->maps[map].arity : 1, OP_READ);
  d->args[arg].form = DESC_IDX;
  d->args[arg].map = map;
  d->args[arg].idx = idx;
  return arg;
}

static inline int build_info(struct desc *d, enum type_code type, int dim, int ref) {
  int arg = build_gbl(d, type, dim, d->args[ref].access);
  d->args[arg].form = DESC_INFO;
  d->args[arg].ref = ref;
  d->args[ref].info = arg;
  return arg;
}

static inline void build_const(struct desc *d, const char *name, enum type_code type, int dim,
                               const void *value) {
  struct desc_const *c = &d->consts[d->nconsts++];
  size_t bytes = (size_t)dim * type_info(type)->size;
  *c = (struct desc_const){.name = strdup(name), .type = type, .dim = dim, .folded = value != NULL};
  if (value) {
    c->value = malloc(bytes);
    memcpy(c->value, value, bytes);
  }
}

#endif
