#include "jit/prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "jit/found.h"
#include "jit/kernel/excerpt.h"
#include "jit/messages.h"
#include "jit/targets.h"
#include "jit/trial.h"

struct prove_argument prove_argument_of(const struct desc *d, const struct desc_arg *a) {
  static const enum prove_form forms[] = {[DESC_DAT] = PROVE_DATA,
                                          [DESC_GBL] = PROVE_DATA,
                                          [DESC_IDX] = PROVE_NUMBERS,
                                          [DESC_INFO] = PROVE_PAYLOAD};
  const bool vector = desc_is_vector(a), ragged = vector && desc_is_ragged(d, a);
  const bool numbers = a->present && a->type != TYPE_BOOL && !type_is_struct(a->type);
  return (struct prove_argument){
      .form = vector ? PROVE_VECTOR : forms[a->form],
      /* A payload and an element's own matrix are free, and what the kernel does with an absent argument it does not do. */
      .access = a->present && a->form != DESC_INFO && !a->matrix ? (op_access)a->access : OP_RW,
      .type = type_info(a->type)->name,
      .dim = desc_row(d, a),
      .arity = vector ? d->maps[a->map].arity : 1,
      .ragged = ragged,
      .own = ragged && a->entry && a->access != OP_READ,
      .adds = numbers && !vector && (a->form == DESC_DAT || a->form == DESC_GBL) && a->access != OP_READ,
      .stays = numbers && ragged && !a->dropped,
      .same = a->form == DESC_GBL && a->access == OP_READ && a->present,
      .counted = a->counted};
}

const char *prove_of(const struct proof *proof) {
  return proof->without_targets ? "of an element without targets, " : "";
}

bool prove_title(const struct desc *d, const char *file, int line, int column, const char *kernel_file,
                 struct text *out) {
  const struct source source = desc_source(d);
  const bool placed = line > 0 && strcmp(file, kernel_file) == 0;
  text_addf(out, "kernel %s", d->kernel_name);
  if (placed) {
    text_add(out, " (");
    source_place(&source, line, column, out);
    text_add_char(out, ')');
  }
  return placed;
}

void prove_excerpt(const struct desc *d, int line, int column, struct text *out) {
  const struct source source = desc_source(d);
  text_add_char(out, '\n');
  source_excerpt(&source, line, column, out);
  while (out->length && out->data[out->length - 1] == '\n')
    out->data[--out->length] = '\0';
}

void prove_tell(const struct desc *d, const struct proof *proof, int finding, const char *kernel_file,
                struct text *out) {
  const struct prove_finding *f = &proof->result.findings[finding];
  const bool placed = prove_title(d, f->file, f->line, f->column, kernel_file, out);
  struct text remedy = {0};
  text_addf(out, ": %s", prove_of(proof));
  found_reason(d, f, out);
  if (proof->without_targets && found_evidence(f->what) == EVIDENCE_PROMISE)
    text_add(&remedy, "write it before the loop over the targets, too");
  else
    found_remedy(d, f, &remedy);
  if (remedy.length)
    text_addf(out, "; %s", text_str(&remedy));
  text_free(&remedy);
  if (placed)
    prove_excerpt(d, f->line, f->column, out);
  if (proof->witnesses[finding].length)
    text_addf(out, "\n%s", text_str(&proof->witnesses[finding]));
}

void prove_warnings(const struct desc *d, const struct prove_result *result, const struct generated *files,
                    struct text *out) {
  struct text kept = {0};
  const struct told t = {.desc = d, .files = files};
  messages_keep(result->messages, result->nmessages, files, &kept);
  messages_warnings(text_str(&kept), &t, out);
  text_free(&kept);
}

/* One text may be proved several times, for loops that differ. */
static void warn(const struct log *log, struct text *told, const struct desc *d,
                 const struct prove_result *result, const struct generated *files) {
  struct text warnings = {0};
  prove_warnings(d, result, files, &warnings);
  if (warnings.length && !names_have(told, text_str(&warnings), warnings.length)) {
    log_line(log, LOG_WARN, "jit", "kernel %s has warnings\n%s", d->kernel_name, text_str(&warnings));
    names_note(told, text_str(&warnings));
  }
  text_free(&warnings);
}

/* A program of OP2 is only warned: there a promise that the text breaks counts, whether or not a run with made-up
 * values came that way. */
static bool is_violated(const struct desc *d, const struct proof *proof, int finding) {
  const struct prove_finding *f = &proof->result.findings[finding];
  const int access = f->argument >= 0 ? d->args[f->argument].access : OP_READ;
  return f->verdict == PROVE_VIOLATED ||
         (d->entry && f->verdict == PROVE_UNKNOWN && found_evidence(f->what) == EVIDENCE_PROMISE &&
          proof->witnesses[finding].length && (access == OP_WRITE || access == OP_INC));
}

static int judge(const struct desc *d, const struct proof *proof, const struct generated *files,
                 const struct log *log, enum reading reads, struct error *err) {
  for (int i = 0; i < proof->result.nfindings; i++) {
    const struct prove_finding *f = &proof->result.findings[i];
    struct text words = {0};
    prove_tell(d, proof, i, files->kernel_file, &words);
    if (is_violated(d, proof, i)) {
      error_set(err, found_code(f->what), "%s", text_str(&words));
      err->fact = (int)f->what;
    } else if (f->verdict == PROVE_C_ONLY && reads >= found_reading(f->what))
      error_set(err, OP_ERR_KERNEL, "%s", text_str(&words));
    else if (f->verdict == PROVE_UNKNOWN)
      log_line(log, LOG_INFO, "check", "not proved: %s", text_str(&words));
    text_free(&words);
    if (err->code)
      return err->code;
  }
  return OP_OK;
}

static int count_violated(const struct prove_result *result) {
  int count = 0;
  for (int i = 0; i < result->nfindings; i++)
    count += result->findings[i].verdict == PROVE_VIOLATED;
  return count;
}

/* A constant whose value is no part of the description. */
static bool has_passed_constant(const struct desc *d) {
  for (int i = 0; i < d->nconsts; i++)
    if (!d->consts[i].folded)
      return true;
  return false;
}

static void ask(const struct plugin *plugin, const struct desc *d, const struct generated *files,
                const struct compile_request *then, struct prove_result *result) {
  struct prove_argument arguments[OP_MAX_ARGS];
  struct compile_file texts[GENERATED_FILES];
  generated_files(files, texts);
  for (int i = 0; i < d->nargs; i++)
    arguments[i] = prove_argument_of(d, &d->args[i]);
  const struct prove_request request = {.files = texts,
                                        .nfiles = GENERATED_FILES,
                                        .kernel = d->entry ? d->entry : d->kernel_name,
                                        .arguments = arguments,
                                        .narguments = d->nargs,
                                        .then = then,
                                        .any_order = strcmp(d->fp, "fast") == 0};
  plugin->compiler->prover->prove(&request, result);
}

/* ---- ragged maps: elements of a few lengths are looked at, as if the rows were a vector of so many ---- */

/* Kernels may count on lengths that their mesh has, on three targets at least or on one more by one map than by another.
 * So what is found counts only if it is found whatever the lengths: with few targets and many, by each map in turn. */
enum { MANY = 200, RAGGED_MOST = 3 };

/* `many`: a bit for each ragged map. Beside one length of one map others are as short as may be, for what the mesh
 * promises of them together is not known. */
static void set_lengths(struct desc *d, const struct prove_length *only, unsigned many) {
  unsigned bit = 0;
  for (int m = 0; m < d->nmaps; m++)
    if (d->maps[m].ragged && only && only->map == m)
      d->maps[m].arity = only->targets;
    else if (d->maps[m].ragged) {
      const int least = !only ? DESC_FEW : !d->maps[m].none;
      d->maps[m].arity = many >> bit & 1 ? MANY : least;
      bit += bit + 1 < RAGGED_MOST;
    }
}

static bool is_found(const struct prove_result *result, const struct prove_finding *f) {
  for (int i = 0; i < result->nfindings; i++)
    if (result->findings[i].verdict == PROVE_VIOLATED && result->findings[i].argument == f->argument &&
        found_evidence(result->findings[i].what) == found_evidence(f->what))
      return true;
  return false;
}

/* A length is looked at for one thing only: values that nobody gave where there are no targets, and rows beyond the
 * last one of any element. What else there is was found of few and of many. */
static void keep_asked(const struct desc *d, const struct prove_length *only, struct prove_result *result) {
  for (int i = 0; only && i < result->nfindings; i++) {
    struct prove_finding *f = &result->findings[i];
    const bool unwritten = found_evidence(f->what) == EVIDENCE_PROMISE && f->argument >= 0 &&
                           d->args[f->argument].access == OP_WRITE;
    const bool asked = only->targets ? found_evidence(f->what) == EVIDENCE_OUTSIDE && f->argument >= 0 &&
                                           d->args[f->argument].map == only->map
                                     : unwritten || found_evidence(f->what) == EVIDENCE_UNSET;
    if (f->verdict != PROVE_VIOLATED || !asked)
      f->verdict = PROVE_PROVED;
  }
}

/* *fixed is the description with few targets. */
static void ask_lengths(const struct plugin *plugin, const struct desc *d, const struct generated *files,
                        const struct prove_length *only, const struct compile_request *then,
                        struct desc *fixed, struct prove_result *result) {
  unsigned maps = 0;
  for (int m = 0; m < d->nmaps; m++)
    maps += d->maps[m].ragged && !(only && only->map == m) && maps < RAGGED_MOST;
  *fixed = *d;
  set_lengths(fixed, only, 0);
  ask(plugin, fixed, files, then, result);
  keep_asked(d, only, result);
  for (unsigned many = 1; many < 1u << maps && result->status == 0 && count_violated(result); many++) {
    struct prove_result other = {0};
    struct desc longer = *d;
    set_lengths(&longer, only, many);
    ask(plugin, &longer, files, NULL, &other);
    for (int i = 0; i < result->nfindings; i++)
      if (result->findings[i].verdict == PROVE_VIOLATED && !is_found(&other, &result->findings[i]))
        result->findings[i].verdict = PROVE_UNKNOWN;
    plugin->compiler->prover->release(&other);
  }
}

void prove_ask(const struct plugin *plugin, const struct desc *d, const struct generated *files,
               const struct prove_length *only, const struct compile_request *then, struct proof *proof) {
  struct prove_result *result = &proof->result;
  struct desc fixed;
  *proof = (struct proof){.without_targets = only && only->targets == 0};
  if (desc_any_ragged(d)) {
    ask_lengths(plugin, d, files, only, then, &fixed, result);
    d = &fixed;
  } else
    ask(plugin, d, files, then, result);
  proof->witnesses = array_new((size_t)result->nfindings, sizeof *proof->witnesses);
  if (proof->witnesses) {
    const int said = count_violated(result);
    /* Kernels have branches for elements that this mesh does not have: what goes too far must do so in each run. */
    proof->untried = !witness_find(plugin->compiler, d, only && only->targets, result, proof->witnesses);
    /* Another day such a constant has another value, and the key is the same. */
    proof->untried |= count_violated(result) < said && has_passed_constant(d);
  } else {
    result->nfindings = 0;
    proof->untried = true;
  }
}

int prove_next_length(const struct desc *d, int i, struct prove_length *out) {
  for (; i < 2 * d->nmaps; i++) {
    const struct desc_map *m = &d->maps[i / 2];
    *out = (struct prove_length){.map = i / 2, .targets = i % 2 ? m->longest : 0};
    if (m->ragged && (i % 2 ? m->longest > 0 : m->none))
      return i + 1;
  }
  return 0;
}

void proof_free(const struct plugin *plugin, struct proof *proof) {
  for (int i = 0; proof->witnesses && i < proof->result.nfindings; i++)
    text_free(&proof->witnesses[i]);
  free(proof->witnesses);
  plugin->compiler->prover->release(&proof->result);
}

/* Elements as the mesh has them. */
static int judge_lengths(const struct plugin *plugin, const struct desc *d, const struct generated *files,
                         const struct log *log, enum reading reads, bool *untried, struct error *err) {
  struct prove_length only;
  int code = OP_OK;
  for (int next = 0; !code && (next = prove_next_length(d, next, &only)) > 0;) {
    struct proof proof = {0};
    prove_ask(plugin, d, files, &only, NULL, &proof);
    code = judge(d, &proof, files, log, reads, err);
    *untried |= proof.untried;
    proof_free(plugin, &proof);
  }
  return code;
}

int prove_refuse(const struct plugin *plugin, const struct desc *d, const struct generated *files,
                 const struct compile_message *messages, int count, struct error *err) {
  struct text kept = {0}, label = {0};
  plugin_label(plugin, &label);
  messages_keep(messages, count, files, &kept);
  const struct told t = {.desc = d, .files = files, .compiler = text_str(&label)};
  const int code = messages_error(text_str(&kept), &t, err);
  text_free(&kept);
  text_free(&label);
  return code;
}

static enum reading first_refused(const struct prove_result *result) {
  enum reading first = READ_AS_C;
  for (int i = 0; i < result->nfindings; i++)
    if (result->findings[i].verdict == PROVE_C_ONLY && first != READ_AS_OPENCL)
      first = found_reading(result->findings[i].what);
  return first;
}

/* With such constants the text is longer, and places differ from one language to the other. */
static bool has_struct_constant(const struct desc *d) {
  for (int i = 0; i < d->nconsts; i++)
    if (type_is_struct(d->consts[i].type))
      return true;
  return false;
}

/* With ragged maps only elements with few targets were looked at. With more of them the kernel may do anything to rows that
 * meet. */
static void take_facts(const struct desc *d, const struct proof *proof, struct facts *out) {
  *out = (struct facts){.known = proof->result.facts != NULL,
                        .untried = proof->untried,
                        .c_only = first_refused(&proof->result),
                        .says = proof->result.says};
  if (proof->result.rows && !has_struct_constant(d))
    out->rows = *proof->result.rows;
  for (int i = 0; out->known && i < d->nargs; i++)
    out->args[i] = desc_any_ragged(d)
                       ? (struct prove_fact){.partial = proof->result.facts[i].partial, .reads = true}
                       : proof->result.facts[i];
}

/* The prover understands the text. */
static int judge_all(const struct proving *p, const struct desc *d, const struct generated *files,
                     struct proof *proof, struct facts *facts, struct error *err) {
  int code = judge(d, proof, files, p->log, p->reads, err);
  if (!code)
    code = judge_lengths(p->plugin, d, files, p->log, p->reads, &proof->untried, err);
  if (code == OP_ERR_VIOLATION && !has_passed_constant(d))
    facts_put_violation(p->plugin, p->store, d, err);
  if (code)
    return code;
  warn(p->log, p->told, d, &proof->result, files);
  take_facts(d, proof, facts);
  facts_put(p->plugin, p->store, d, facts);
  return OP_OK;
}

int prove_kernel(const struct proving *p, const struct desc *d, const struct generated *files,
                 struct facts *facts, struct prove_result *kept, struct error *err) {
  struct proof proof = {0};
  int code = OP_OK;
  if (d->nmembers || d->unproved) /* they were asked for before */
    return OP_OK;
  if (facts_get(p->plugin, p->store, d, facts) && !facts->untried && !facts_refuse(facts, p->reads))
    return OP_OK;
  const struct facts before = *facts;
  *facts = (struct facts){0};
  prove_ask(p->plugin, d, files, NULL, p->then, &proof);
  if (proof.result.status == 0)
    code = judge_all(p, d, files, &proof, facts, err);
  else if (proof.result.nfindings)
    code = judge(d, &proof, files, p->log, p->reads, err);
  else if (p->alone && proof.result.status == 1)
    code = prove_refuse(p->plugin, d, files, proof.result.messages, proof.result.nmessages, err);
  if (!code && kept && proof.result.lowered) {
    *kept = proof.result;
    proof.result = (struct prove_result){.nfindings = kept->nfindings};
  }
  if (!code && !facts->known)
    *facts = before;
  proof_free(p->plugin, &proof);
  return code;
}
