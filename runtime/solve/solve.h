/* Solvers: the plugin of a process, and what bridges are told. */
#ifndef OP2JIT_SOLVE_SOLVE_H
#define OP2JIT_SOLVE_SOLVE_H

struct error;
struct op_context;
struct solver_table;

/* The state of solvers in a context. */
struct solving {
  const struct solver_table *table; /* of the plugin, which stays open; NULL until one is wanted */
  int argc;                         /* op_init's arguments */
  char **argv;
};

/* The arguments are copied. */
int solving_open(struct op_context *ctx, int argc, char **argv, struct error *err);
/* Ends nothing of a solver: that is what op_keep is for. NULL is allowed. */
void solving_free(struct solving *solving);
/* Opens the plugin at the first call. Collective: OP_ERR_NOT_BUILT, with the package, on all ranks; OP_ERR_MPI if it is
 * of another MPI. `call` is what the program called. */
int solving_table(struct op_context *ctx, const char *call, const struct solver_table **out,
                  struct error *err);

#endif
