/* The value of OP2_CHECK: "off", "on", "list", or names of loops with ',' between them, perhaps behind "list:". */
#ifndef OP2JIT_CHECKED_H
#define OP2JIT_CHECKED_H

struct op_context;

enum checked {
  CHECKED_OFF,
  CHECKED_ON,  /* the first violation is an error */
  CHECKED_LIST /* all are collected, and told by op_exit */
};

/* The form for the loop, or graph, of that name. */
enum checked context_checked(const struct op_context *ctx, const char *name);
/* The names; "" if it names none. */
const char *checked_names(const struct op_context *ctx);

#endif
