/* The main of test programs that have none. */
#include "unit.h"

int main(void) {
  return run_these(NULL, NULL);
}
