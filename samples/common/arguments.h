/* The words given to op_init. */
#ifndef SAMPLES_ARGUMENTS_H
#define SAMPLES_ARGUMENTS_H

/* op_init with one word more, such as "OP2_FP=strict", unless the program's own words already set that
 * variable. */
int init_with(int argc, char **argv, int diags, const char *word);

#endif
