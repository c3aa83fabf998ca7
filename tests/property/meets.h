/* Arguments through whose rows elements meet. */
#ifndef OP2JIT_TESTS_MEETS_H
#define OP2JIT_TESTS_MEETS_H

#include "tree.h"

/* Whether kernel `number` is a meeting one, and a lone one. On several ranks only these are right where elements meet. */
void meets_begin(struct kernel *k, int number);
/* Number n of the meeting ones, or of the lone ones. */
int meets_number(int n, bool lone);
/* Which of a kernel's arguments may meet, and how; adds the arguments that they need. */
void meets_choose(struct kernel *k, struct random *r);
enum what meets_what(const struct param *p);
/* Must one statement change all components of all its rows? */
bool meets_whole(const struct param *p);
void meets_fill(struct kernel *k, struct random *r, struct statement *s);

#endif
