#include "plan/strategy.h"

#define ROW(name) &strategy_##name,
const struct strategy *const strategies[] = {STRATEGIES(ROW) NULL};
