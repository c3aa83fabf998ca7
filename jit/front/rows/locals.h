/* What a function's body declares, and where it changes something, as far as tokens show. */
#ifndef OP2JIT_FRONT_ROWS_LOCALS_H
#define OP2JIT_FRONT_ROWS_LOCALS_H

#include "jit/front/kernel.h"

enum local_form { LOCAL_VALUE, LOCAL_ARRAY, LOCAL_POINTER };
/* OTHER: a struct, a truth value, or a type of the text's own. */
enum local_kind { LOCAL_FLOATING, LOCAL_INTEGER, LOCAL_OTHER };

struct local {
  size_t name, end; /* tokens: its name; where it ends to be known */
  enum local_form form;
  enum local_kind kind;
  int count;   /* of an array with one length that is a number; 0: another array */
  bool narrow; /* an integer of less than 32 bits */
  bool wide;   /* one of 64 bits, which a double cannot hold */
  bool single; /* a float */
  bool is_const;
};

/* An assignment, ++ or --. */
struct write {
  size_t at;         /* token of the operator */
  size_t begin, end; /* what is written: tokens */
  size_t base;       /* its name; OP_ROW */
  size_t behind;     /* the operator */
  int stars;         /* before the name */
  int indices;       /* behind it */
  bool member, odd;  /* .x behind it; something that is not understood */
  char op;           /* '=', '+' of += and ++, and so on */
  bool counts;       /* ++ or -- */
  bool prefix;
};

struct locals {
  const struct tokens *tokens;
  size_t begin, end; /* of the body: its braces */
  struct local *items;
  size_t count;
  struct write *writes;
  size_t nwrites;
};

/* NULL, or what is in the body that is not understood. locals_free in either case. */
const char *locals_find(struct locals *l, const struct tokens *t, size_t begin, size_t end);
void locals_free(struct locals *l);
/* The local that a name means at its place; NULL: none. */
const struct local *locals_meant(const struct locals *l, size_t name);

/* Is the token one of the words? */
bool tokens_listed(const struct tokens *t, size_t at, const char *const *words, size_t count);
bool tokens_same(const struct tokens *t, size_t a, size_t b);
/* Two tokens that are one operator. */
bool tokens_pair(const struct tokens *t, size_t at, char first, char second);
/* Is the name one of a struct's member? */
bool tokens_member(const struct tokens *t, size_t at);
/* Behind the statement that begins at `at`; beyond the end if it has none. */
size_t tokens_statement(const struct tokens *t, size_t at);
/* A word of the language that begins statements or expressions: no name. */
bool tokens_keyword(const struct tokens *t, size_t at);
/* A word that a number's type is made of; its kind. */
bool tokens_type(const struct tokens *t, size_t at, enum local_kind *kind, bool *narrow);
/* A macro of the text's own that is more than a number: it may hide anything. */
bool tokens_macro(const struct tokens *t, size_t at);

#endif
