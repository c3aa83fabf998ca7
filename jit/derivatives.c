#include "jit/derivatives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "jit/prove.h"
#include "jit/targets.h"

void derived_free(struct derived *derived) {
  free(derived->name);
  free(derived->text);
  free(derived->parameters);
  *derived = (struct derived){0};
}

/* ---- what is remembered ----
 * Of a derivative a line "N NAME", one "ROLE ARGUMENT CONSTANT ACCESS ZEROS" for each of N parameters, and the text; of a refusal
 * "-1", and why. */

static void make_key(const struct plugin *plugin, const struct desc *d, const struct derive_wish *wish,
                     struct text *key) {
  text_addf(key, "deriver %d %d\n%s\n", DERIVER_ABI, (int)wish->mode, text_str(&plugin->identity));
  for (int i = 0; i < d->nargs; i++)
    text_add_char(key, wish->active[i] ? 'a' : '-');
  for (int i = 0; i < d->nconsts; i++)
    text_add_char(key, wish->active_constants && wish->active_constants[i] ? 'a' : '-');
  text_add_char(key, '\n');
  facts_print_rows(d, key);
}

/* The deriver counts active constants only. */
static int constant_of(const struct desc *d, const struct derive_wish *wish, int number) {
  for (int i = 0; number >= 0 && i < d->nconsts; i++)
    if (wish->active_constants[i] && number-- == 0)
      return i;
  return -1;
}

static void print(const struct desc *d, const struct derive_wish *wish, const struct derive_result *result,
                  struct text *out) {
  text_addf(out, "%d %s\n", result->nparameters, result->derived);
  for (int i = 0; i < result->nparameters; i++) {
    const struct derive_parameter *p = &result->parameters[i];
    text_addf(out, "%d %d %d %d %d\n", (int)p->role, p->argument, constant_of(d, wish, p->constant),
              (int)p->access, p->zeros);
  }
  text_add(out, result->text);
}

static int not_remembered(struct error *err) {
  return error_set(err, OP_ERR_INTERNAL, "what the store has of a derivative cannot be read");
}

static int read_back(const char *words, struct derived *out, struct error *err) {
  int count = 0, used = 0;
  if (sscanf(words, "%d %n", &count, &used) != 1 || used == 0)
    return not_remembered(err);
  words += used;
  if (count < 0)
    return error_set(err, OP_ERR_KERNEL, "%s", words);
  const size_t length = strcspn(words, "\n");
  out->name = strndup(words, length);
  out->parameters = array_new((size_t)count + 1, sizeof *out->parameters);
  words += length;
  for (int i = 0; i < count && out->parameters; i++, words += used) {
    struct derive_parameter *p = &out->parameters[i];
    int role, access, zeros;
    if (sscanf(words, "%d %d %d %d %d%n", &role, &p->argument, &p->constant, &access, &zeros, &used) != 5)
      return not_remembered(err);
    p->zeros = zeros != 0;
    p->role = (enum derive_role)role;
    p->access = (op_access)access;
  }
  out->nparameters = count;
  out->text = strdup(words + (*words == '\n'));
  return out->name && out->text && out->parameters ? OP_OK : error_memory(err, "a derivative", length);
}

/* ---- the plugin ---- */

static void ask(const struct deriver *deriver, const struct desc *d, const struct derive_wish *wish,
                const struct generated *files, struct derive_result *result) {
  struct derive_argument arguments[OP_MAX_ARGS];
  struct derive_constant *constants = array_new((size_t)d->nconsts + 1, sizeof *constants);
  struct compile_file texts[GENERATED_FILES];
  struct derive_request request = {.files = texts,
                                   .nfiles = GENERATED_FILES,
                                   .kernel = d->entry ? d->entry : d->kernel_name,
                                   .mode = wish->mode,
                                   .arguments = arguments,
                                   .narguments = d->nargs,
                                   .most = OP_MAX_ARGS,
                                   .constants = constants};
  *result = (struct derive_result){.status = 3};
  if (!constants)
    return;
  generated_files(files, texts);
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    arguments[i] = (struct derive_argument){.is = prove_argument_of(d, a),
                                            .active = wish->active[i],
                                            .present = a->present,
                                            .map = a->map,
                                            .ref = a->ref};
    arguments[i].is.ragged =
        arguments[i].is.ragged || (a->form == DESC_IDX && a->idx < 0 && desc_is_ragged(d, a));
  }
  for (int i = 0; i < d->nconsts; i++)
    if (wish->active_constants && wish->active_constants[i])
      constants[request.nconstants++] = (struct derive_constant){
          .name = d->consts[i].name, .type = type_info(d->consts[i].type)->name, .dim = d->consts[i].dim};
  deriver->derive(&request, result);
  free(constants);
}

/* Why a kernel has no derivative: codes become words here, and nowhere else. */
/* $x is the name, $0 the number. */
struct words {
  const char *reason, *remedy;
};

static const struct words table[DERIVE_REFUSAL_COUNT] = {
    [DERIVE_FINE] = {"", ""},
    [DERIVE_NO_RULE] = {"the derivative of $x is not known",
                        "write the function into the kernel's text, or give the kernel's adjoint by hand"},
    [DERIVE_WRITTEN_AT] =
        {"$x is written at an index that is known at run time only",
         "give the loop over it a constant number of rounds, or branch over constant indices"},
    [DERIVE_POINTER] = {"the pointer$x may lead to several places, or beyond its row",
                        "choose between the values in place of the pointers"},
    [DERIVE_POINTER_CAST] = {"memory$x is used as another type", "use it as the type it has"},
    [DERIVE_NO_BOUND] =
        {"the loop carries values that its reverse needs of each round, and nothing says how many rounds "
         "there are at most",
         "add a bound to its condition, as in `it < 30 && ...` (up to 4096), or carry sums only"},
    [DERIVE_GOTO] = {"goto has no derivative here", "use loops, break and return"},
    [DERIVE_STATEMENT] = {"$x has no rule here", "write it in another way"},
    [DERIVE_TYPE] = {"there is no rule for the type $x",
                     "use float, double, integers, arrays and structs of them"},
    [DERIVE_CXX] = {"it is C++, and only C is differentiated", "write it as C"},
    [DERIVE_UNSET] = {"$x is read before it has a value", "give it a value where it is declared"},
    [DERIVE_RAGGED_EXTREMUM] = {"$x is OP_MIN or OP_MAX through a ragged map",
                                "loop over the entries, and pass the target by an ordinary map"},
    [DERIVE_KEPT] = {"$x keeps its value from element to element", "make it a constant, or an argument"},
    [DERIVE_TOO_LONG] = {"the derivative's text would be too long: more than $0 operations",
                         "make the kernel smaller, or several of it"},
    [DERIVE_TOO_MANY] = {"the derivative would have $0 arguments, more than a loop takes",
                         "declare dats that need no derivative passive, or make several loops of it"},
    [DERIVE_NO_KERNEL] = {"its parameters are not the arguments of the loop",
                          "pass one argument per parameter"},
};

static void put(const char *words, const struct derive_result *result, struct text *out) {
  for (; *words; words++)
    if (*words != '$')
      text_add_char(out, *words);
    else if (*++words == '0')
      text_addf(out, "%d", result->numbers[0]);
    else {
      /* "the pointer p", but "the pointer" of one without a name */
      const bool apart = out->length && out->data[out->length - 1] != ' ' && result->name[0];
      text_addf(out, "%s%s", apart ? " " : "", result->name);
    }
}

/* Why not, in the user's words: "flux.h:12: kernel flux cannot be differentiated: ...". */
static void derive_tell(const struct desc *d, const struct derive_result *result, const char *kernel_file,
                        struct text *out) {
  const struct words *words = &table[result->refusal];
  const bool placed = prove_title(d, result->file, result->line, result->column, kernel_file, out);
  text_add(out, " cannot be differentiated: ");
  put(words->reason, result, out);
  text_add(out, "; ");
  put(words->remedy, result, out);
  if (placed)
    prove_excerpt(d, result->line, result->column, out);
}

static int find_new(struct plugin *plugin, const struct desc *d, const struct derive_wish *wish,
                    struct text *words, struct error *err) {
  const struct shape scalar = {0};
  struct generated files = {0};
  struct derive_result result = {0};
  if (plugin_open(plugin, err) != OP_OK)
    return err->code;
  const struct deriver *deriver = plugin->compiler->deriver;
  if (generate_c(d, &scalar, &files, err) == OP_OK) {
    ask(deriver, d, wish, &files, &result);
    if (result.status == 3)
      error_memory(err, "a derivative", 0);
    else if (result.status != 0)
      prove_refuse(plugin, d, &files, result.messages, result.nmessages, err);
    else if (result.refusal == DERIVE_FINE)
      print(d, wish, &result, words);
    else {
      text_add(words, "-1 ");
      derive_tell(d, &result, files.kernel_file, words);
    }
    deriver->release(&result);
  }
  generated_free(&files);
  return err->code;
}

/* As words, which are what is remembered. */
static int find(const struct derive_source *source, const struct desc *d, const struct derive_wish *wish,
                struct text *words, struct error *err) {
  struct text key = {0};
  if (plugin_find(source->plugin, source->plugins, err) != OP_OK)
    return err->code;
  make_key(source->plugin, d, wish, &key);
  if (words_get(source->store, &key, words))
    return OP_OK;
  if (source->load)
    return error_set(err, OP_ERR_CACHE_MISS, "OP2_JIT=load, and the cache does not have its derivative");
  text_clear(words);
  if (find_new(source->plugin, d, wish, words, err) == OP_OK) {
    make_key(source->plugin, d, wish, &key);
    words_put(source->store, &key, words);
  }
  return err->code;
}

int derive_kernel(const struct derive_source *source, const struct desc *d, const struct derive_wish *wish,
                  struct derived *out, struct error *err) {
  const struct jit_share *share = source->share;
  struct jit_outcome words = {0};
  int code = err->code;
  *out = (struct derived){0};
  if (!code && (!share || share->leads))
    code = find(source, d, wish, &words.binary, err);
  if (share)
    code = jit_share_outcome(share, &words, code, err);
  else if (!code && !text_ok(&words.binary))
    code = error_memory(err, "a derivative", words.binary.length);
  if (!code)
    code = read_back(text_str(&words.binary), out, err);
  if (code)
    derived_free(out);
  jit_outcome_free(&words);
  return code;
}
