/* The words given to op_init. */
#ifndef BENCH_COMMON_ARGUMENTS_H
#define BENCH_COMMON_ARGUMENTS_H

/* op_init with one word more, such as "OP2_FP=strict", unless the program's own words already set that
 * variable. */
int init_with(int argc, char **argv, int diags, const char *word);

#endif
