/* The backends that run compiled range functions on the host: seq on one thread, openmp on the team. */
#ifndef OP2JIT_BACKEND_CPU_H
#define OP2JIT_BACKEND_CPU_H

#include "backend/backend.h"

extern const struct backend backend_seq, backend_openmp;

#endif
