#ifndef OP2JIT_BACKEND_NATIVE_H
#define OP2JIT_BACKEND_NATIVE_H

#include "backend/backend.h"

extern const struct backend backend_native;

#endif
