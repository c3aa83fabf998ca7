#include "cli/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/fortran/fortran.h"
#include "base/list.h"
#include "jit/kernel/prelude.h"

enum { WORD = 64, MOST_NAMES = OP_MAX_ARGS, LARGEST = 1 << 24 };

static const char *const form_names[] = {"dat", "gbl", "idx", "info"};
enum { FORMS = sizeof form_names / sizeof *form_names };

struct reader {
  struct desc *d;
  int number;                  /* of the argument, from 1; 0: the constants */
  const char *text, *at;       /* the whole, and what is left */
  char maps[MOST_NAMES][WORD]; /* by number of d->maps */
  struct error *err;
};

static int fail(const struct reader *r, int code, const char *what, const char *word, const char *expected) {
  if (r->number)
    return error_set(r->err, code, "argument %d (\"%s\"): %s%s%s%s; expected %s", r->number, r->text, what,
                     *word ? " \"" : "", word, *word ? "\"" : "", expected);
  return error_set(r->err, code, "--const \"%s\": %s%s%s%s; expected %s", r->text, what, *word ? " \"" : "",
                   word, *word ? "\"" : "", expected);
}

/* The next word, "" at the end. One that is too long is cut, and so is none that is known. */
static void next_word(struct reader *r, char word[WORD], const char *ends) {
  size_t length = 0;
  while (isspace((unsigned char)*r->at))
    r->at++;
  for (; *r->at && !isspace((unsigned char)*r->at) && !strchr(ends, *r->at); r->at++)
    if (length < WORD - 1)
      word[length++] = *r->at;
  word[length] = '\0';
}

static bool is_number(const char *word) {
  size_t digits = strspn(word, "0123456789");
  return digits > 0 && digits < 9 && !word[digits];
}

/* Also a type as Fortran has it, with its kind, "real(8)": messages about kernels in Fortran have these. */
static enum type_code parse_type(const char *name, bool *soa) {
  char room[64];
  return type_parse(strpbrk(name, "(*") ? fortran_type(name, room) : name, soa);
}

/* The words of a type, "unsigned int", and the number behind them. Only a dat's type may end in ":soa": else `soa`
 * is NULL. */
static int read_type_and_dim(struct reader *r, enum type_code *type, bool *soa, int *dim) {
  char name[2 * WORD] = "", word[WORD], first[WORD] = "";
  for (int words = 0; words < 4; words++) {
    next_word(r, word, ",");
    if (!*word || is_number(word))
      break;
    if (words == 0)
      snprintf(first, sizeof first, "%s", word);
    size_t used = strlen(name);
    snprintf(name + used, sizeof name - used, "%s%s", used ? " " : "", word);
  }
  *type = parse_type(name, soa);
  if (*type == TYPE_NONE && parse_type(first, soa) != TYPE_NONE)
    return fail(r, OP_ERR_DIM, "there is no dim behind the type", first,
                "a whole number from 1, the number of values per element");
  if (*type == TYPE_NONE && !*name && *word)
    return error_set(
        r->err, OP_ERR_TYPE, "%s \"%s\": expected %sTYPE DIM, and \"%s\" is no type; a type is %s",
        r->number ? "argument" : "--const", r->text, r->number ? "" : "NAME ", word, type_names());
  if (*type == TYPE_NONE)
    return fail(r, OP_ERR_TYPE, *name ? "there is no type" : "the type is missing", name, type_names());
  if (!is_number(word) || atoi(word) < 1 || atoi(word) > LARGEST)
    return fail(r, OP_ERR_DIM, *word ? "the dim is" : "the dim is missing", word,
                "a whole number from 1, the number of values per element");
  *dim = atoi(word);
  return OP_OK;
}

static int read_access(const struct reader *r, const char *word, bool dat, int *access) {
  for (int i = 0; i < ACCESSES; i++)
    if (strcasecmp(word, access_name(i)) == 0 || strcasecmp(word, access_rows[i].word) == 0) {
      *access = i;
      if (!dat || access_rows[i].of_dats)
        return OP_OK;
    }
  return fail(r, OP_ERR_ACCESS, *word ? "the access is" : "the access is missing", word,
              dat ? "OP_READ, OP_WRITE, OP_RW, OP_INC, OP_MIN or OP_MAX"
                  : "OP_READ, OP_INC, OP_MIN, OP_MAX, OP_WORK, OP_WRITE or OP_RW");
}

static int find_map(struct reader *r, const char *name, size_t length, bool ragged) {
  struct desc *d = r->d;
  for (int i = 0; i < d->nmaps; i++)
    if (strlen(r->maps[i]) == length && memcmp(r->maps[i], name, length) == 0)
      return i;
  memcpy(r->maps[d->nmaps], name, length);
  r->maps[d->nmaps][length] = '\0';
  d->maps[d->nmaps] = (struct desc_map){.arity = !ragged, .to = d->nsets++, .ragged = ragged};
  return d->nmaps++;
}

/* "MAP[]", "MAP[entries]": through a ragged map. The first argument of each has its number of targets before it. */
static int read_ragged(struct reader *r, const char *word, size_t name, struct desc_arg *a) {
  const int known = r->d->nmaps;
  a->entry = strcmp(word + name, "[]") != 0;
  if (a->form == DESC_IDX)
    return fail(r, OP_ERR_INDEX, "the map is ragged,", word,
                "\"dat int 1 MAP[entries] READ\", which is what op_arg_idx is there");
  a->map = find_map(r, word, name, true);
  a->counted = r->d->nmaps > known;
  return r->d->maps[a->map].ragged
             ? OP_OK
             : fail(r, OP_ERR_INDEX, "another argument names one column of the map of", word,
                    "MAP[] and MAP[entries] only, or MAP[IDX] and MAP[0..LAST] only");
}

/* "MAP[IDX]" or "MAP[0..LAST]", or a ragged one. */
static int read_map(struct reader *r, const char *word, struct desc_arg *a) {
  static const char expected[] = "MAP[IDX] for one column of a map, MAP[0..LAST] for all as a vector, or "
                                 "MAP[] for those of a ragged map";
  const size_t name = strcspn(word, "[");
  int first = -1, last = -1, used = 0;
  const bool one = sscanf(word + name, "[%6d]%n", &first, &used) == 1 && used && !word[name + (size_t)used];
  const bool all = !one && sscanf(word + name, "[%6d..%6d]%n", &first, &last, &used) == 2 && used &&
                   !word[name + (size_t)used];
  if (name > 0 && (strcmp(word + name, "[]") == 0 || strcmp(word + name, "[entries]") == 0))
    return read_ragged(r, word, name, a);
  if (name == 0 || !(one || all) || first < 0 || (all && (first != 0 || last < 0)))
    return fail(r, OP_ERR_INDEX, "the map is", word, expected);
  a->map = find_map(r, word, name, false);
  const int arity = (one ? first : last) + 1;
  struct desc_map *map = &r->d->maps[a->map];
  if (map->ragged)
    return fail(r, OP_ERR_INDEX, "another argument goes through the map as a ragged one:", word,
                "MAP[] for its targets, or MAP[entries] for a dat on its entries");
  map->arity = map->arity > arity ? map->arity : arity;
  a->idx = one ? first : -arity;
  return OP_OK;
}

/* The set that the dat is on. A ragged map's entries are one of their own. */
static int set_of(struct reader *r, const struct desc_arg *a) {
  struct desc *d = r->d;
  if (a->map < 0)
    return 0;
  if (!a->entry)
    return d->maps[a->map].to;
  for (int i = 0; i < d->nargs; i++)
    if (d->args[i].entry && d->args[i].map == a->map)
      return d->dats[d->args[i].dat].set;
  return d->nsets++;
}

static int read_dat(struct reader *r, struct desc_arg *a) {
  char word[WORD];
  bool soa;
  int code = read_type_and_dim(r, &a->type, &soa, &a->dim);
  if (code)
    return code;
  next_word(r, word, "");
  if (strchr(word, '[')) {
    if ((code = read_map(r, word, a)))
      return code;
    next_word(r, word, "");
  }
  if ((code = read_access(r, word, true, &a->access)))
    return code;
  if (soa && a->map >= 0 && r->d->maps[a->map].ragged && a->dim > 1)
    return fail(r, OP_ERR_TYPE, "rows behind a ragged map must be whole", "", "the type without \":soa\"");
  a->dat = r->d->ndats;
  const int set = set_of(r, a);
  r->d->dats[r->d->ndats++] = (struct desc_dat){.type = a->type, .dim = a->dim, .soa = soa, .set = set};
  return OP_OK;
}

static int read_global(struct reader *r, struct desc_arg *a) {
  char word[WORD];
  int code = read_type_and_dim(r, &a->type, NULL, &a->dim);
  next_word(r, word, "");
  return code ? code : read_access(r, word, false, &a->access);
}

static int read_numbers(struct reader *r, struct desc_arg *a) {
  char word[WORD];
  next_word(r, word, "");
  a->type = TYPE_INT;
  a->dim = 1;
  int code = *word ? read_map(r, word, a) : OP_OK;
  if (!code && a->idx < -1)
    a->dim = -a->idx;
  return code;
}

static int read_payload(struct reader *r, struct desc_arg *a) {
  char word[WORD];
  int code = read_type_and_dim(r, &a->type, NULL, &a->dim);
  next_word(r, word, "");
  if (code)
    return code;
  if (!is_number(word) || atoi(word) < 1 || atoi(word) > OP_MAX_ARGS)
    return fail(r, OP_ERR_ARGUMENT, *word ? "the reference is" : "the reference is missing", word,
                "the number, from 1, of the OP_MIN or OP_MAX global that it goes with");
  a->ref = atoi(word) - 1;
  return OP_OK;
}

static int read_argument(struct reader *r, struct desc_arg *a) {
  static int (*const readers[FORMS])(struct reader *, struct desc_arg *) = {
      [DESC_DAT] = read_dat, [DESC_GBL] = read_global, [DESC_IDX] = read_numbers, [DESC_INFO] = read_payload};
  char word[WORD];
  int form = 0;
  *a = (struct desc_arg){.map = -1, .idx = -1, .dat = -1, .ref = -1, .info = -1, .present = true};
  next_word(r, word, "");
  while (form < FORMS && strcmp(word, form_names[form]) != 0)
    form++;
  if (form == FORMS)
    return fail(
        r, OP_ERR_ARGUMENT, *word ? "it begins with" : "it is empty", word,
        "\"dat TYPE DIM [MAP[IDX]] ACCESS\", \"gbl TYPE DIM ACCESS\", \"idx [MAP[IDX]]\" or \"info TYPE "
        "DIM REF\"");
  a->form = (enum desc_form)form;
  int code = readers[form](r, a);
  next_word(r, word, "");
  if (!code && *word)
    return fail(r, OP_ERR_ARGUMENT, "too many words, from", word, "no more");
  return code;
}

/* A vector is of the whole map, whatever larger column another argument names. */
static int check_vectors(struct reader *r, char *const texts[]) {
  const struct desc *d = r->d;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->map < 0 || a->idx >= 0 || d->maps[a->map].ragged || -a->idx == d->maps[a->map].arity)
      continue;
    r->number = i + 1;
    r->text = texts[i];
    return fail(r, OP_ERR_INDEX, "another argument uses a column beyond the vector of map", r->maps[a->map],
                "a vector of all columns, MAP[0..LAST]");
  }
  return OP_OK;
}

static int check_payloads(struct reader *r, char *const texts[]) {
  struct desc *d = r->d;
  for (int i = 0; i < d->nargs; i++) {
    struct desc_arg *a = &d->args[i];
    if (a->form != DESC_INFO)
      continue;
    struct desc_arg *global = a->ref < d->nargs ? &d->args[a->ref] : NULL;
    r->number = i + 1;
    r->text = texts[i];
    if (!global || global->form != DESC_GBL || !access_is_extremum(global->access) || global->dim != 1 ||
        global->info >= 0)
      return fail(r, OP_ERR_ARGUMENT, "its reference is wrong", "",
                  "the number of an OP_MIN or OP_MAX global of dim 1 without another payload");
    global->info = i;
    a->access = global->access;
  }
  return OP_OK;
}

int arguments_parse(struct desc *d, char *const texts[], int count, struct error *err) {
  struct reader *r = calloc(1, sizeof *r);
  *d = (struct desc){.nsets = 1};
  if (!r)
    return error_memory(err, "the arguments", sizeof *r);
  r->d = d;
  r->err = err;
  int code = OP_OK;
  if (count < 1 || count > OP_MAX_ARGS)
    code =
        error_set(err, OP_ERR_NARGS, "%d arguments; expected 1 to %d, each as \"dat TYPE DIM ACCESS\" or so",
                  count, OP_MAX_ARGS);
  for (int i = 0; !code && i < count; i++) {
    r->number = i + 1;
    r->text = r->at = texts[i];
    code = read_argument(r, &d->args[i]);
    d->nargs = i + 1;
  }
  if (!code)
    code = check_vectors(r, texts);
  if (!code)
    code = check_payloads(r, texts);
  free(r);
  return code;
}

int constants_parse(struct desc *d, const char *text, struct error *err) {
  struct reader r = {.d = d, .text = text, .at = text, .err = err};
  while (*r.at) {
    char name[WORD];
    struct desc_const *more = array_resize(d->consts, (size_t)d->nconsts + 1, sizeof *more);
    if (!more)
      return error_memory(err, "the constants", sizeof *more);
    d->consts = more;
    next_word(&r, name, ",");
    if (!*name)
      return fail(&r, OP_ERR_CONST, "a name is missing", name, "\"NAME TYPE DIM, ...\"");
    const char *wrong = constant_name_wrong(name);
    if (wrong)
      return error_set(err, OP_ERR_CONST, "--const \"%s\": constant \"%s\": %s", text, name, wrong);
    more[d->nconsts] = (struct desc_const){.name = strdup(name)};
    if (!more[d->nconsts].name)
      return error_memory(err, "the constants", sizeof name);
    struct desc_const *constant = &more[d->nconsts++];
    int code = read_type_and_dim(&r, &constant->type, NULL, &constant->dim);
    if (code)
      return code;
    while (isspace((unsigned char)*r.at))
      r.at++;
    if (*r.at && *r.at != ',')
      return fail(&r, OP_ERR_CONST, "this follows the dim:", r.at, "',' and the next constant");
    r.at += *r.at == ',';
  }
  return OP_OK;
}
