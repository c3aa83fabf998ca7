/* The parts that the translation shares: tokens, units, symbols, expressions. All memory belongs to the
 * translation and is freed at its end. The first error stays. Every function returns at once if there is one,
 * so that no caller needs a code. */
#ifndef OP2JIT_JIT_KERNEL_FORTRAN_TREE_H
#define OP2JIT_JIT_KERNEL_FORTRAN_TREE_H

#include <stddef.h>

#include "base/list.h"
#include "jit/kernel/fortran/fortran.h"

enum { RANKS = 7, SPARE = 1024, MOST_ELEMENTS = 256, MOST_VALUES = 1 << 20, UNROLLED = 32 };

struct source_file {
  const char *path, *text;
  size_t length;
  int line;
  bool fixed;
};

enum token_form { T_NAME, T_INTEGER, T_REAL, T_LOGICAL, T_STRING, T_SIGN, T_LABEL, T_END };
struct f_token {
  enum token_form form;
  const struct source_file *file;
  size_t begin; /* in the file */
  int line, column;
  const char *word, *spelled; /* in small letters, operators as `==`; as written */
};

enum type_base { F_NONE, F_INTEGER, F_REAL, F_LOGICAL, F_TEXT };
struct f_type {
  enum type_base base;
  int kind;
};

struct expr;
struct bounds { /* of one dimension */
  struct expr *low, *high;
  long long lower, upper;
  bool low_known, high_known;
};

enum symbol_kind { S_LOCAL, S_DUMMY, S_RESULT, S_PARAMETER, S_MODULE, S_PROCEDURE, S_INDEX };
enum intent { INTENT_NONE, INTENT_IN, INTENT_OUT, INTENT_INOUT };
struct symbol {
  struct symbol *next;
  const char *name, *c_name;
  const struct f_token *at;
  enum symbol_kind kind;
  struct f_type type;
  int rank;
  struct bounds bounds[RANKS];
  bool assumed_size; /* the last upper bound is `*` */
  enum intent intent;
  bool by_value, written, used, typed;
  bool fixed; /* S_INDEX of an implied do: it has this value now */
  long long value;
  struct expr *init;
  const char *wrong;   /* a property that kernels cannot have; NULL: none */
  struct f_unit *unit; /* S_PROCEDURE, S_MODULE: the unit that it belongs to */
};

struct use {
  struct use *next;
  struct f_unit *module;
  bool only;
  struct rename {
    struct rename *next;
    const char *local, *name;
  } * names;
};

enum unit_kind { U_MODULE, U_PROGRAM, U_SUBROUTINE, U_FUNCTION };
enum unit_state { STATE_NEW, STATE_BUSY, STATE_DONE };
struct f_unit {
  struct f_unit *next, *parent;
  enum unit_kind kind;
  const char *name, *c_name;
  int header, body, end; /* numbers of tokens: the first statement, that behind it, behind the last */
  int executable;        /* where executable statements begin */
  enum unit_state declared, translated;
  bool implicit_none, is_elemental;
  struct f_type implicit[26];
  struct symbol *symbols, **last;
  struct use *uses;
  struct symbol *dummies[64], *result;
  int ndummies;
  const char *lost; /* a module that it uses and that was not found */
  bool hides;       /* a module whose names are private unless `shown` has them; `hidden` has private ones */
  struct rename *shown, *hidden;
  struct text *body_text, *tables;
};

enum expr_op {
  E_INTEGER,
  E_REAL,
  E_LOGICAL,
  E_TEXT,
  E_VARIABLE,
  E_ELEMENT, /* subscripts in args: scalars, ranges, vectors */
  E_RANGE,   /* args: from, to, step; each may be E_NOTHING */
  E_NOTHING,
  E_CALL,
  E_INTRINSIC,
  E_UNARY,
  E_BINARY,
  E_LIST,   /* an array constructor */
  E_IMPLIED /* (items, i = from, to, step): bounds behind the items */
};
struct intrinsic;
struct expr {
  enum expr_op op;
  const struct f_token *at;
  struct f_type type;
  int rank;
  long long extent[RANKS]; /* -1: not known */
  struct expr *args, *next;
  const char *keyword, *word; /* of an argument; the operator */
  struct symbol *symbol;
  const struct intrinsic *intrinsic;
  bool known, grouped; /* value is; it stood in parentheses */
  long long value;
  struct expr *from, *to, *step; /* E_IMPLIED */
};

struct macro {
  const char *name, *value;
  bool busy; /* its value is read, where its name means no macro */
};

enum level { C_ALL, C_COND, C_OR, C_AND, C_EQUAL, C_LESS, C_SUM, C_PRODUCT, C_UNARY, C_PRIMARY };
struct place { /* of an element in one dimension, from 0 */
  bool known;
  long long value;
  const char *name;
};

/* Functions of files above, for those below. */
struct fortran;
struct fortran_parts {
  void (*declare)(struct fortran *f, struct f_unit *u);
  void (*translate)(struct fortran *f, struct f_unit *u, const struct f_token *by);
  const char *(*said)(struct fortran *f, const struct expr *e, const struct place *p, enum level as);
  const char *(*call)(struct fortran *f, const struct expr *e, const struct place *p);
  void (*action)(struct fortran *f);
};

struct construct;
struct fortran {
  const struct fortran_parts *parts;
  struct error *err;
  const char *refused; /* words of the last refusal */
  struct shared *shared;
  const struct fortran_source *source;
  const char *kernel;
  const struct source_file *file; /* the first */
  struct list chunks, files, macros, texts;
  struct text lost; /* where there is no memory for a text; it stays empty */
  size_t chunk_used;
  char spare[SPARE];
  struct f_token *tokens;
  int ntokens, at;                          /* at: the one that is read next */
  int statement;                            /* the first token of the statement that is scanned */
  int depth, nesting;                       /* of includes; of expressions */
  struct f_unit *units, **last_unit, *unit; /* unit: the one that is translated */
  struct text *out, *helpers;
  struct text *to;    /* where statements go */
  struct text *hoist; /* code before the statement that is read; NULL: there can be none */
  struct construct *constructs;
  int labels;  /* numbers for names that C needs */
  size_t said; /* how long the texts of all expressions are */
  bool doubted;
  struct fortran_made *made;
};

static inline bool failed(const struct fortran *f) {
  return f->err->code != OP_OK;
}

/* ---- memory and messages: say.c ---- */
/* Zeroed; never NULL: without memory the error is set and the spare room is handed out. At most SPARE bytes. */
void *f_new(struct fortran *f, size_t bytes);
const char *f_copy(struct fortran *f, const char *bytes, size_t length);
/* An empty one, which is freed at the end. Never NULL. */
struct text *f_text(struct fortran *f);
const char *f_say(struct fortran *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *f_in_brackets(struct fortran *f, bool needed, const char *said);
/* OP_ERR_KERNEL at a token, unless there is an error. */
void f_refuse(struct fortran *f, const struct f_token *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void f_memory(struct fortran *f);

/* ---- tokens.c, condition.c ---- */
bool f_is_fixed(const char *path);
void f_scan_source(struct fortran *f, const struct source_file *file);
void f_scan_end(struct fortran *f);
/* A file beside `from`; false: an error, or it is not there and `quiet`. */
bool f_scan_named(struct fortran *f, const char *name, const char *from, const struct f_token *at,
                  bool quiet);
struct conditions {
  int depth, dead; /* dead: the depth from which lines are left out; 0: none is */
  bool taken[32];
};
/* A line that begins with #. */
void f_scan_directive(struct fortran *f, const struct source_file *file, size_t from, size_t to, int line,
                      struct conditions *c);
struct macro *f_find_macro(const struct fortran *f, const char *name);

/* ---- reading tokens: units.c ---- */
static inline const struct f_token *now(const struct fortran *f) {
  return &f->tokens[f->at];
}
bool f_is_word(const struct fortran *f, int at, const char *word);
/* True: it is one of these words, each with a blank before and behind it. */
bool f_is_any(const struct fortran *f, int at, const char *words);
bool f_is_one_of(const char *word, const char *words);
/* Takes the token if it is that one. */
bool f_take(struct fortran *f, const char *word);
void f_expect(struct fortran *f, const char *word);
const char *f_take_name(struct fortran *f, const char *what);
/* The error that something else stands where `what` is expected. */
void f_refuse_here(struct fortran *f, const char *what);
bool f_at_end(const struct fortran *f);
void f_skip_statement(struct fortran *f);
/* 1: a bracket opens here; -1: it closes. */
int f_bracket(const struct fortran *f, int at);
/* The token behind the bracket that closes the one at `at`. */
int f_skip_brackets(const struct fortran *f, int at);
/* The token behind the end of an interface or a type, which may have its own `contains`. */
int f_skip_to_end(const struct fortran *f, int at, const char *what);
/* Takes both words, written as one or two: "end", "if". */
bool f_take_two(struct fortran *f, const char *first, const char *second);
bool f_is_two(const struct fortran *f, int at, const char *first, const char *second);
bool f_is_assignment(const struct fortran *f, int at);
/* Reads the files of the modules that are used, and of those that they use. Afterwards no token moves. */
void f_scan_modules(struct fortran *f);
void f_find_units(struct fortran *f);
struct f_unit *f_find_unit(const struct fortran *f, const char *name, const struct f_unit *parent);
struct f_unit *f_add_unit(struct fortran *f, enum unit_kind kind, struct f_unit *parent, const char *name);

/* ---- names.c ---- */
struct symbol *f_add_symbol(struct fortran *f, struct f_unit *u, const char *name, const struct f_token *at);
/* Adds the index of a loop or of values in front of the unit's other names. It hides them until its own name is
 * taken away. */
struct symbol *f_add_index(struct fortran *f, const struct f_token *at);
struct symbol *f_own_symbol(const struct f_unit *u, const char *name);
/* Looks in the unit, the modules that it uses, and the units around it; the other one makes a symbol by
 * implicit typing. NULL: there is none. */
struct symbol *f_look_up(struct fortran *f, struct f_unit *u, const char *name);
struct symbol *f_look_up_or_make(struct fortran *f, struct f_unit *u, const struct f_token *at);
const char *f_c_name_of(struct fortran *f, const char *name);
void f_refuse_unknown(struct fortran *f, const struct f_token *at, const char *what);
const char *f_type_in_c(struct f_type type);
const char *f_type_said(struct fortran *f, struct f_type type);

/* ---- declare.c, types.c ---- */
void f_declare_unit(struct fortran *f, struct f_unit *u);
bool f_is_type_word(const struct fortran *f, int at);
/* True: a statement begins here that kernels cannot have. `refuse`: with an error. */
bool f_is_refused(struct fortran *f, bool refuse);
/* False: no type stands here. *wrong, unless NULL: why kernels cannot have it. plain: a bracket behind it is no
 * kind. */
bool f_read_type(struct fortran *f, struct f_type *type, const char **wrong, bool plain);
struct f_type f_implicit_type(const struct f_unit *u, const char *name);

/* ---- expression.c, intrinsics.c, shape.c ---- */
struct expr *f_read_expression(struct fortran *f);
struct expr *f_read_primary(struct fortran *f);
struct expr *f_new_expr(struct fortran *f, enum expr_op op, const struct f_token *at);
struct expr *f_integer_expr(struct fortran *f, const struct f_token *at, long long value);
/* Arguments or subscripts behind the open bracket, up to the one that closes. */
struct expr *f_read_arguments(struct fortran *f);
int f_count_args(const struct expr *e);
bool f_same_type(struct f_type a, struct f_type b);
/* The type of an operation with numbers of both. */
struct f_type f_common_type(struct f_type a, struct f_type b);
bool f_is_number(struct f_type t);
/* The value of a whole number that the text says. */
long long f_known_value(struct fortran *f, const struct expr *e, const char *what);
const struct intrinsic *f_find_intrinsic(struct fortran *f, const char *name);
void f_type_intrinsic(struct fortran *f, struct expr *e);
const char *f_nearest_intrinsic(struct fortran *f, const char *name);
void f_shape_of_symbol(struct expr *e, const struct symbol *s);
void f_type_element(struct fortran *f, struct expr *e);
long long f_elements_of(const struct expr *e); /* -1: not known here */
long long f_count_of(const struct symbol *s);
bool f_same_shape(const struct expr *a, const struct expr *b);
/* Gives `e` the shape of `part`. Refuses if it has another one. */
void f_take_shape(struct fortran *f, struct expr *e, const struct expr *part);
/* True: the symbol occurs in it. NULL: a call of a procedure does. */
bool f_mentions(const struct expr *e, const struct symbol *s);
/* Refuses a call that changes its arguments where the text in C has it once for each element, and Fortran calls it once. */
void f_check_calls(struct fortran *f, const struct expr *e, bool many);

/* ---- put.c, functions.c, designator.c, calls.c: C text of expressions, which binds as strongly as `as` asks ---- */
/* The scalar, or one element of an array. */
const char *f_said(struct fortran *f, const struct expr *e, const struct place *p, enum level as);
const char *f_said_as(struct fortran *f, const struct expr *e, const struct place *p, struct f_type type,
                      enum level as);
const char *f_said_intrinsic(struct fortran *f, const struct expr *e, const struct place *p, enum level as);
/* A variable's value, or with `address` where it is. */
const char *f_said_designator(struct fortran *f, const struct expr *e, const struct place *p, bool address,
                              enum level as);
const char *f_said_call(struct fortran *f, const struct expr *e, const struct place *p);
/* f->hoist: where values get places that have none; NULL: nowhere. */
const char *f_said_arguments(struct fortran *f, const struct expr *e, const struct place *p);
/* The item of a flat number, from 0, of a constructor. */
const char *f_said_item(struct fortran *f, const struct expr *e, long long number, struct f_type type,
                        enum level as);
long long f_items_of(struct fortran *f, const struct expr *e);
/* `text` once in front of all functions. */
void f_add_helper(struct fortran *f, const char *text);
/* The places of element `number`. */
void f_places_of(const struct expr *e, long long number, struct place *p);

/* ---- statements.c, blocks.c, arrays.c, calls.c ---- */
/* The text that follows in `out` is from the line of the token. */
void f_mark(struct fortran *f, const struct f_token *at, struct text *out);
void f_read_statements(struct fortran *f);
/* Anything but the begin or the end of a construct. */
void f_read_action(struct fortran *f);
void f_assign(struct fortran *f, struct expr *left, struct expr *right, const struct expr *mask);
/* The variable gets a value here; `how` is a verb. */
void f_set_written(struct fortran *f, const struct expr *left, const char *how);
/* Arguments in the order of the dummies, looked at. The procedure is translated before. */
void f_check_arguments(struct fortran *f, struct expr *e);
bool f_read_where(struct fortran *f, const char *name);
void f_read_elsewhere(struct fortran *f);
/* A local array of the translation, of the shape of `like`, which `out` declares. */
struct expr *f_new_local(struct fortran *f, const struct f_token *at, struct f_type type,
                         const struct expr *like, struct text *out);
/* The call of a function that gives an array is done before the statement. */
struct expr *f_hoist_call(struct fortran *f, const struct expr *call);

enum construct_kind { IS_IF, IS_DO, IS_SELECT, IS_WHERE };
struct construct {
  struct construct *outer;
  enum construct_kind kind;
  const struct f_token *at;
  const char *name, *label, *close; /* close: its end in C */
  int number;
  bool cycled, exited, any, last; /* any: a case came; last: the one without conditions came */
  /* of a select; of a where: the current mask, and the elements that had their turn */
  struct expr *value, *done;
  struct text *later; /* the default case, which C has last */
  struct text *to;
};
struct construct *f_open_construct(struct fortran *f, enum construct_kind kind, const char *name);
/* A statement that begins or ends one, or is a part of one; false: it is another. */
bool f_read_block(struct fortran *f, const char *name);
/* Reads one logical value in brackets, or an array of them. */
struct expr *f_read_condition(struct fortran *f, bool array);
void f_end_labelled(struct fortran *f, const char *label);
bool f_read_jump(struct fortran *f);

#endif
