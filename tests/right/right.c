/* right COUNT [FIRST]: so many kernels that are right, made at random, none of which is refused, nor found fault
 * with in the checking form; and each once more with a mistake, which the prover or the checking form finds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invent.h"
#include "jit/emit/generate.h"
#include "jit/prove.h"
#include "op2jit.h"

enum { ELEMENTS = 40, WIDEST = 4, RUN_EACH = 40 };

/* ---- the prover ---- */

static void describe(const struct right_kernel *k, struct desc *d) {
  *d = (struct desc){.kernel_name = (char *)(size_t) "k",
                     .text = k->text.data,
                     .fp = (char *)(size_t) "contract",
                     .nargs = k->nargs,
                     .nsets = 1};
  for (int i = 0; i < k->nargs; i++) {
    const struct right_arg *a = &k->args[i];
    d->args[i] = (struct desc_arg){.form = a->global ? DESC_GBL : DESC_DAT,
                                   .type = a->type,
                                   .dim = a->dim,
                                   .access = a->access,
                                   .map = a->vector ? 0 : -1,
                                   .idx = a->vector ? -RIGHT_ARITY : -1,
                                   .dat = a->global ? -1 : d->ndats,
                                   .ref = -1,
                                   .info = -1,
                                   .present = true};
    if (!a->global)
      d->dats[d->ndats++] = (struct desc_dat){.type = a->type, .dim = a->dim, .set = a->vector};
    if (a->vector) {
      d->maps[0] = (struct desc_map){.arity = RIGHT_ARITY, .to = 1};
      d->nmaps = 1;
      d->nsets = 2;
    }
  }
}

enum answer { PROVED, UNKNOWN, REFUSED };

/* `words`: why. */
static enum answer ask(const struct plugin *plugin, const struct right_kernel *k, struct text *words) {
  const struct shape scalar = {0};
  struct generated files = {0};
  struct error err = {0};
  struct proof proof = {0};
  struct desc d;
  enum answer answer = PROVED;
  describe(k, &d);
  if (generate_c(&d, &scalar, &files, &err) != OP_OK) {
    text_add(words, error_message(&err));
    error_free(&err);
    return REFUSED;
  }
  prove_ask(plugin, &d, &files, NULL, NULL, &proof);
  if (proof.result.status != 0) {
    answer = REFUSED;
    for (int i = 0; i < proof.result.nmessages; i++)
      text_addf(words, "%d: %s\n", proof.result.messages[i].line, proof.result.messages[i].text);
  }
  for (int i = 0; i < proof.result.nfindings; i++) {
    const enum prove_verdict verdict = proof.result.findings[i].verdict;
    if (verdict == PROVE_VIOLATED)
      prove_tell(&d, &proof, i, files.kernel_file, words);
    if (verdict == PROVE_VIOLATED || (verdict == PROVE_UNKNOWN && answer == PROVED))
      answer = verdict == PROVE_VIOLATED ? REFUSED : UNKNOWN;
  }
  proof_free(plugin, &proof);
  generated_free(&files);
  return answer;
}

/* ---- the checking form ---- */

struct mesh {
  op_set elements, targets;
  op_map map;
  double data[ELEMENTS * WIDEST];
  int numbers[ELEMENTS];
  double globals[RIGHT_ARGS][WIDEST];
};

static bool open_mesh(struct mesh *m) {
  char *argv[] = {(char *)(size_t) "right", (char *)(size_t) "OP2_BACKEND=seq",
                  (char *)(size_t) "OP2_CHECK=on", NULL};
  static int table[ELEMENTS * RIGHT_ARITY];
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (op_init(3, argv, 0) != OP_OK) {
    printf("%s\n", op_last_error()->message);
    return false;
  }
  unsigned seed = 1;
  for (int i = 0; i < ELEMENTS * WIDEST; i++) {
    seed = seed * 1664525u + 1013904223u;
    m->data[i] = (double)(seed >> 8) / (1 << 23);
  }
  for (int i = 0; i < ELEMENTS; i++)
    m->numbers[i] = i % 4;
  for (int i = 0; i < ELEMENTS * RIGHT_ARITY; i++)
    table[i] = (i / RIGHT_ARITY + i % RIGHT_ARITY) % ELEMENTS;
  m->elements = op_decl_set(ELEMENTS, "elements");
  m->targets = op_decl_set(ELEMENTS, "targets");
  m->map = op_decl_map(m->elements, m->targets, RIGHT_ARITY, table, "map");
  return true;
}

/* The code of the loop; what is wrong is in op_last_error. */
static int run(struct mesh *m, const struct right_kernel *k) {
  op_arg args[RIGHT_ARGS];
  op_dat dats[RIGHT_ARGS] = {NULL};
  for (int i = 0; i < k->nargs; i++) {
    const struct right_arg *a = &k->args[i];
    const char *type = type_info(a->type)->name;
    const op_access access = (op_access)a->access;
    const void *data = a->type == TYPE_INT ? (const void *)m->numbers : m->data;
    if (a->global) {
      memset(m->globals[i], 0, sizeof m->globals[i]);
      if (a->type == TYPE_DOUBLE)
        m->globals[i][0] = 1.25;
      args[i] = op_arg_gbl((void *)m->globals[i], a->dim, type, access);
      continue;
    }
    dats[i] = op_decl_dat_temp(a->vector ? m->targets : m->elements, a->dim, type, data, "dat");
    args[i] =
        op_arg_dat(dats[i], a->vector ? -RIGHT_ARITY : -1, a->vector ? m->map : OP_ID, a->dim, type, access);
  }
  const int code =
      op_par_loop_array(text_str(&k->text), "k", m->elements, k->nargs, args, __FILE__, __LINE__);
  struct text said = {0};
  text_add(&said, op_last_error()->message);
  for (int i = 0; i < k->nargs; i++)
    if (dats[i])
      op_free_dat_temp(dats[i]);
  if (code != OP_OK && code != OP_ERR_VIOLATION)
    printf("code %d: %s\n", code, text_str(&said));
  text_free(&said);
  return code;
}

/* ---- both ---- */

struct counts {
  long proved, unknown, refused, faulted; /* right ones */
  long by_prover, by_check, missed;       /* mistaken ones */
};

static bool judge_right(const struct plugin *plugin, struct mesh *m, unsigned long number, struct counts *c) {
  struct right_kernel k;
  struct text words = {0};
  right_invent(number, false, &k);
  const enum answer answer = ask(plugin, &k, &words);
  c->proved += answer == PROVED;
  c->unknown += answer == UNKNOWN;
  c->refused += answer == REFUSED;
  bool good = answer != REFUSED;
  if (good && number % RUN_EACH == 0 && run(m, &k) != OP_OK) {
    text_add(&words, op_last_error()->message);
    c->faulted++;
    good = false;
  }
  if (!good)
    printf("kernel %lu is right, and refused: %s\n%s\n", number, text_str(&words), text_str(&k.text));
  text_free(&words);
  right_free(&k);
  return good;
}

static bool judge_mistaken(const struct plugin *plugin, struct mesh *m, unsigned long number,
                           struct counts *c) {
  struct right_kernel k;
  struct text words = {0};
  right_invent(number, true, &k);
  const bool refused = ask(plugin, &k, &words) == REFUSED;
  const bool found = refused || run(m, &k) == OP_ERR_VIOLATION;
  c->by_prover += refused;
  c->by_check += found && !refused;
  c->missed += !found;
  if (!found)
    printf("kernel %lu has a mistake that is not found (%s):\n%s\n", number, k.mistake, text_str(&k.text));
  text_free(&words);
  right_free(&k);
  return found;
}

int main(int argc, char **argv) {
  static struct mesh m;
  struct plugin plugin = {0};
  struct error err = {0};
  struct counts c = {0};
  const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 100,
             first = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  if (plugin_find(&plugin, getenv("OP2_PLUGINS"), &err) != OP_OK || plugin_open(&plugin, &err) != OP_OK) {
    printf("%s\n", error_message(&err));
    return 1;
  }
  if (!open_mesh(&m))
    return 1;
  enum { MOST_SHOWN = 20 };
  int failed = 0;
  for (long i = first; i < first + count && failed < MOST_SHOWN; i++) {
    failed += !judge_right(&plugin, &m, (unsigned long)i, &c);
    failed += !judge_mistaken(&plugin, &m, (unsigned long)i, &c);
  }
  op_exit();
  plugin_free(&plugin);
  printf("right kernels: %ld proved, %ld unknown, %ld refused, %ld refused by the checking form\n"
         "mistakes: %ld found by the prover, %ld by the checking form, %ld not\n",
         c.proved, c.unknown, c.refused, c.faulted, c.by_prover, c.by_check, c.missed);
  return failed != 0;
}
