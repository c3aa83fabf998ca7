/* The library's own names are not the tests': what they need of its inside is asked for here. */
#include "inner.h"

#include "api/api.h"

struct comm *inner_comm(void) {
  return api_context() ? api_context()->comm : NULL;
}
