/* program SEED STEPS [--die N] [--rank R] [--own] [--out PREFIX] [--places] [--early N] [--mesh N] [--renumber]
 * [OP2_...]: a program of random loops and calls, in whole numbers that wrap: its end is the same on any number of
 * ranks and any backend, to the last bit. It repeats itself, with something else in between. --die: before the N-th
 * of its calls the process kills itself, of several ranks R. --own: ranks fetch elements of their own. --out: files,
 * PREFIX.STEP.bin. --places: it says where checkpoints are good. --early: it ends there by op_checkpoint_keep.
 * --stop: it ends there and says that it has done its work. --renumber: elements get other numbers. --mesh: another
 * map (3) or ragged map (9) of the same size. --rename N FROM TO: before the N-th of its calls a file gets another
 * name. */
#include <op2jit_checkpoint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long ull;
struct pair {
  unsigned long long u;
  int n[2];
};
static ull factor = 6364136223846793005ULL;

#define PAIR_TEXT "struct pair { unsigned long long u; int n[2]; };\n"

OP_KERNEL_DEF(
    follow, void follow(const ull *from, ull *to) { *to = *from * factor + 1; })
OP_KERNEL_DEF(
    stir, void stir(ull *x) { *x = (*x ^ (*x >> 29)) * factor; })
OP_KERNEL_DEF(
    spread, void spread(const ull *a, const ull *b, ull *to, ull *other) {
      *to += *b >> 3;
      *other += *a ^ 5;
    })
OP_KERNEL_DEF(
    sum, void sum(const ull *x, ull *all) { *all += *x * factor; })
OP_KERNEL_DEF(
    scale, void scale(const ull *by, ull *x) { *x = *x * 3 + *by; })
OP_KERNEL_DEF(
    largest, void largest(const ull *x, const int *number, ull *most, int *where) {
      if (*x > *most) {
        *most = *x;
        *where = *number;
      }
    })
OP_KERNEL_DEF(
    neighbours, void neighbours(int n, const ull **x, ull *to) {
      ull all = 7;
      for (int k = 0; k < n; k++)
        all += *OP_ROW(x, k);
      *to = all;
    })
OP_KERNEL_DEF(
    pairs, void pairs(const ull *x, struct pair *p) {
      p->u += *x;
      p->n[*x & 1]++;
    })
OP_KERNEL_DEF(
    unpair, void unpair(const struct pair *p, ull *x) { *x += p->u + (ull)p->n[0]; })
OP_KERNEL_DEF(
    weigh,
    void weigh(const ull *x, const int *number, ull *all) { *all += (*x ^ 0x5bd1e995) * (ull)(*number + 1); })
OP_KERNEL_DEF(
    clear, void clear(ull *x) { *x = 0; })

enum { CELLS = 300, EDGES = 700, DATS = 5, OPS = 16, EACH = 6 };

static struct {
  op_set cells, edges, some;
  op_map ends, ring;
  op_dat dats[DATS], view, pairs;
  op_gbl gbl;
  ull *array, *host;
  int size, first;
  ull carried; /* what the program makes of values that it got */
  long calls, die, early, stop, renames;
  char **names; /* of the file then */
  int rank, own, places, mesh, renumber;
  const char *out;
} p = {.die = -1, .early = -1, .stop = -1, .renames = -1};

static ull mix(ull a, ull b) {
  ull x = (a * 0x9e3779b97f4a7c15ULL) ^ (b + 0x7f4a7c15);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  return x ^ (x >> 27);
}

static op_arg direct(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "ull", access);
}

static void reduce(op_dat dat) {
  ull all = 3;
  op_par_loop(OP_KERNEL_OF(sum), "sum", p.cells, direct(dat, OP_READ), op_arg_gbl(&all, 1, "ull", OP_INC));
  p.carried = mix(p.carried, all);
}

static void find_largest(op_dat dat) {
  ull most = 0;
  int where = -1;
  op_par_loop(OP_KERNEL_OF(largest), "largest", p.cells, direct(dat, OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_gbl(&most, 1, "ull", OP_MAX), op_arg_info(&where, 1, "int", 3));
  p.carried = mix(p.carried, most + (ull)where);
}

static void by_host(op_dat from, op_dat to) {
  op_fetch_data(from, p.host);
  for (int i = 0; i < p.size; i++)
    p.host[i] = p.host[i] * 5 + p.carried;
  op_put_data(to, p.host);
}

static void by_view(op_dat dat, int way) {
  if (way == 0)
    op_par_loop(OP_KERNEL_OF(follow), "follow", p.cells, direct(dat, OP_READ), direct(p.view, OP_WRITE));
  ull *array = op_acquire(p.view, way == 2 ? OP_WRITE : OP_RW);
  for (int i = 0; array && i < p.size; i++)
    array[i] = way == 2 ? (ull)(p.first + i) + p.carried : array[i] + 11;
  op_release(p.view);
  op_par_loop(OP_KERNEL_OF(spread), "spread", p.edges, op_arg_dat(p.view, 0, p.ends, 1, "ull", OP_READ),
              op_arg_dat(p.view, 1, p.ends, 1, "ull", OP_READ), op_arg_dat(dat, 0, p.ends, 1, "ull", OP_INC),
              op_arg_dat(dat, 1, p.ends, 1, "ull", OP_INC));
}

static void by_temporary(op_dat from, op_dat to) {
  op_dat temporary = op_decl_dat_temp(p.cells, 1, "ull", NULL, "temporary");
  op_par_loop(OP_KERNEL_OF(follow), "follow", p.cells, direct(from, OP_READ), direct(temporary, OP_WRITE));
  op_par_loop(OP_KERNEL_OF(follow), "follow", p.cells, direct(temporary, OP_READ), direct(to, OP_WRITE));
  op_free_dat_temp(temporary);
}

static void by_global(op_dat dat, int put) {
  ull value = p.carried;
  if (put)
    op_put_gbl(p.gbl, &value);
  op_par_loop(OP_KERNEL_OF(sum), "sum", p.cells, direct(dat, OP_READ), op_arg_global(p.gbl, OP_INC));
  op_par_loop(OP_KERNEL_OF(scale), "scale", p.cells, op_arg_global(p.gbl, OP_READ), direct(dat, OP_RW));
  if (put)
    op_get_gbl(p.gbl, &value);
  p.carried = mix(p.carried, value);
}

static void write_file(op_dat dat, int step) {
  char path[300];
  if (!p.out)
    return;
  snprintf(path, sizeof path, "%s.%d.bin", p.out, step);
  op_print_dat_to_binfile(dat, path);
}

/* One of the program's calls, or a few. */
static void do_one(ull word, int step) {
  op_dat a = p.dats[word / 16 % DATS], b = p.dats[(word / 16 % DATS + 1 + word / 128 % (DATS - 1)) % DATS];
  ull one = 0;
  if (p.calls++ == p.die && (op_rank_count() == 1 || op_rank() == p.rank))
    kill(getpid(), SIGKILL);
  if (p.calls - 1 == p.renames && rename(p.names[0], p.names[1]) != 0)
    perror("rename");
  switch (word % OPS) {
  case 0:
  case 1:
    op_par_loop(OP_KERNEL_OF(follow), "follow", p.cells, direct(a, OP_READ), direct(b, OP_WRITE));
    break;
  case 2: op_par_loop(OP_KERNEL_OF(stir), "stir", p.cells, direct(a, OP_RW)); break;
  case 3:
    op_par_loop(OP_KERNEL_OF(spread), "spread", p.edges, op_arg_dat(a, 0, p.ends, 1, "ull", OP_READ),
                op_arg_dat(a, 1, p.ends, 1, "ull", OP_READ), op_arg_dat(b, 0, p.ends, 1, "ull", OP_INC),
                op_arg_dat(b, 1, p.ends, 1, "ull", OP_INC));
    break;
  case 4: reduce(a); break;
  case 5: find_largest(a); break;
  case 6: by_host(a, b); break;
  case 7: by_temporary(a, b); break;
  case 8: /* only some elements: the others keep what they have */
    op_par_loop(OP_KERNEL_OF(follow), "follow", p.some, direct(a, OP_READ), direct(b, OP_WRITE));
    break;
  case 9:
    op_par_loop(OP_KERNEL_OF(neighbours), "neighbours", p.cells,
                op_arg_dat(a, OP_ALL, p.ring, 1, "ull", OP_READ), direct(b, OP_WRITE));
    break;
  case 10: by_view(a, (int)(word / 1024 % 3)); break;
  case 11:
    factor = mix(factor, p.carried) | 1;
    op_update_const("factor", &factor);
    break;
  case 12: by_global(a, (int)(word / 1024 % 2)); break;
  case 13:
    op_par_loop(OP_KERNEL_OF(pairs), "pairs", p.cells, direct(a, OP_READ),
                op_arg_dat(p.pairs, -1, OP_ID, 1, "struct pair", OP_RW));
    op_par_loop(OP_KERNEL_OF(unpair), "unpair", p.cells,
                op_arg_dat(p.pairs, -1, OP_ID, 1, "struct pair", OP_READ), direct(b, OP_RW));
    break;
  case 14:
    if (p.own) {
      op_fetch_data_idx(a, &one, 1, 1);
      for (int i = 0; i < p.size; i++)
        p.host[i] = one + (ull)i;
      op_put_data(b, p.host);
    } else
      op_par_loop(OP_KERNEL_OF(clear), "clear", p.cells, direct(a, OP_WRITE));
    break;
  default: write_file(a, step);
  }
}

static void declare(ull seed) {
  const int ranks = op_rank_count(), rank = op_rank();
  const int begin = (int)((long)CELLS * rank / ranks), edge = (int)((long)EDGES * rank / ranks);
  const int edges = (int)((long)EDGES * (rank + 1) / ranks) - edge;
  p.first = begin;
  p.size = (int)((long)CELLS * (rank + 1) / ranks) - begin;
  int *ends = calloc(2 * (size_t)edges + 1, sizeof *ends),
      *targets = calloc(4 * (size_t)p.size + 1, sizeof *targets);
  long long *offsets = calloc((size_t)p.size + 1, sizeof *offsets);
  int *some = calloc((size_t)p.size + 1, sizeof *some), nsome = 0;
  struct pair *pairs_ = calloc((size_t)p.size + 1, sizeof *pairs_);
  p.array = calloc((size_t)p.size + 1, sizeof *p.array);
  p.host = calloc((size_t)p.size + 1, sizeof *p.host);
  for (int i = 0; i < 2 * edges; i++)
    ends[i] = (int)(mix(seed + (ull)(p.mesh == 3), 2 * (ull)edge + (ull)i) % CELLS);
  for (int e = 0; e < p.size; e++) {
    const ull word = mix(seed + 1, (ull)begin + (ull)e);
    offsets[e + 1] = offsets[e] + (long long)(word % 5);
    for (long long k = offsets[e]; k < offsets[e + 1]; k++)
      targets[k] = (int)(mix(word + (ull)(p.mesh == 9), (ull)(k - offsets[e])) % CELLS);
    if (word % 3 == 0)
      some[nsome++] = e;
  }
  p.cells = op_decl_set(p.size, "cells");
  p.edges = op_decl_set(edges, "edges");
  p.ends = op_decl_map(p.edges, p.cells, 2, ends, "ends");
  p.ring = op_decl_map_ragged(p.cells, p.cells, offsets, targets, "ring");
  p.some = op_decl_subset(p.cells, nsome, some, "some");
  for (int d = 0; d < DATS; d++) {
    for (int i = 0; i < p.size; i++)
      p.host[i] = mix((ull)d, (ull)begin + (ull)i);
    p.dats[d] = op_decl_dat(p.cells, 1, "ull", p.host, d < 3 ? "state" : "other"); /* names need not differ */
  }
  p.view = op_decl_dat_view(p.cells, 1, "ull", p.array, "view");
  op_decl_prelude(PAIR_TEXT "typedef unsigned long long ull;\n");
  OP_TYPE(struct pair, u, n);
  p.pairs = op_decl_dat(p.cells, 1, "struct pair", pairs_, "pairs");
  p.gbl = op_decl_gbl(1, "ull", NULL, "total");
  op_decl_const("factor", 1, "ull", &factor);
  op_partition("block", "", p.cells, NULL, NULL);
  if (p.renumber)
    op_renumber(p.ends);
  free(ends);
  free(targets);
  free(offsets);
  free(some);
  free(pairs_);
}

static void say_end(void) {
  op_dat all[DATS + 1];
  memcpy(all, p.dats, sizeof p.dats);
  all[DATS] = p.view;
  for (int d = 0; d <= DATS; d++) {
    ull sum_ = 0;
    op_par_loop(OP_KERNEL_OF(weigh), "weigh", p.cells, direct(all[d], OP_READ), op_arg_idx(-1, OP_ID),
                op_arg_gbl(&sum_, 1, "ull", OP_INC));
    op_printf("dat %d %016llx\n", d, sum_);
  }
  op_printf("carried %016llx\n", p.carried);
}

int main(int argc, char **argv) {
  op_checkpoint_facts_t facts;
  const ull seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int steps = argc > 2 ? atoi(argv[2]) : 10;
  for (int i = 3; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    p.die = strcmp(argv[i], "--die") == 0 ? atol(value) : p.die;
    p.stop = strcmp(argv[i], "--stop") == 0 ? atol(value) : p.stop;
    p.early = strcmp(argv[i], "--early") == 0 ? atol(value) : p.early;
    if (strcmp(argv[i], "--rename") == 0 && i + 3 < argc) {
      p.renames = atol(value);
      p.names = argv + i + 2;
    }
    p.rank = strcmp(argv[i], "--rank") == 0 ? atoi(value) : p.rank;
    p.mesh = strcmp(argv[i], "--mesh") == 0 ? atoi(value) : p.mesh;
    p.out = strcmp(argv[i], "--out") == 0 ? value : p.out;
    p.own |= strcmp(argv[i], "--own") == 0;
    p.renumber |= strcmp(argv[i], "--renumber") == 0;
    p.places |= strcmp(argv[i], "--places") == 0;
  }
  op_init(argc, argv, 1);
  declare(seed);
  for (int step = 0; step < steps; step++) {
    if (p.places)
      op_checkpoint();
    for (int k = 0; k < EACH + (step % 7 == 6); k++)
      do_one(mix(seed, (ull)(k < EACH ? k : 1000 + step)), step);
    if (p.calls >= p.stop && p.stop >= 0) {
      op_exit();
      return 0;
    }
    if (p.calls >= p.early && p.early >= 0) {
      op_checkpoint_keep();
      break;
    }
  }
  say_end();
  op_checkpoint_facts(&facts);
  op_printf(
      "facts written %lld failed %lld dats %lld zeros %lld left_out %lld bytes %lld values %lld skipped %lld "
      "position %lld calls %ld loops %lld\n",
      facts.written, facts.failed, facts.dats, facts.zeros, facts.left_out, facts.bytes, facts.values,
      facts.skipped, facts.position, p.calls, op_counters()->loops);
  op_exit();
  free(p.array);
  free(p.host);
  return 0;
}
