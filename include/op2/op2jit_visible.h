/* The parts of sets, maps and dats that a program of OP2 sees: a handle points to this. The library fills it; of what a
 * program writes there it reads nothing but the names. */
#ifndef OP2JIT_VISIBLE_H
#define OP2JIT_VISIBLE_H

struct op2jit_set {
  int index; /* from 0, in order of declaration */
  int size;  /* elements that this rank owns */
  const char *name;
  int core_size;    /* of these, elements that reach none of another rank */
  int exec_size;    /* copies of others' elements behind them, which are executed here as well */
  int nonexec_size; /* copies behind those, which are only read */
  int stride;
};

struct op2jit_map {
  int index;
  struct op2jit_set *from, *to;
  int dim;  /* targets of an element */
  int *map; /* rows of targets, in the library's numbers; NULL with ranks as long as there are none */
  long long *map_gbl; /* NULL */
  int *map_d;         /* NULL */
  const char *name;
};

struct op2jit_dat {
  int index;
  struct op2jit_set *set;
  int dim;    /* values of an element */
  int size;   /* bytes of an element */
  char *data; /* the host's rows, in the library's order */
  char *data_d;
  const char *type, *name;
};

#endif
