/* How many threads a team has, if nobody says so. */
#include "run/team_fill.h"
#include "run/team_place.h"
#include "run/team_quota.h"

static const long spin_ns = 1000000;

int team_cpus(void) {
  struct cpus cpus;
  if (!cpus_allowed(&cpus))
    return 1;
  const int count = cpus_count(&cpus), quota = quota_cpus("");
  cpus_free(&cpus);
  return quota > 0 && quota < count ? quota : count;
}

void team_decide(struct team *team, int threads) {
  int cpus = team_cpus();
  if (!team->threads)
    team->threads = threads > 0 ? threads : cpus;
  team->patience.spin_ns = team->threads > cpus ? 0 : spin_ns;
}
