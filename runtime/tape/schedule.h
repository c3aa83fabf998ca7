/* Where checkpoints go, if there is room for a few of them: numbers of steps alone. */
#ifndef OP2JIT_TAPE_SCHEDULE_H
#define OP2JIT_TAPE_SCHEDULE_H

/* `steps` are to be gone through backwards, from a checkpoint in front of them, and there is room for `slots` more: how many
 * steps behind the first one the next one goes. So that steps run again as seldom as can be (Griewank and Walther's revolve).
 * 0: there is none. */
int schedule_next(int steps, int slots);
/* So many steps run on the way back then. */
long long schedule_runs(int steps, int slots);

#endif
