#include <stdlib.h>
#include "op2jit.h"
#include "jit/derive/derive.h"
void derived_free(struct derived *d) { free(d->name); free(d->text); free(d->parameters); }
