/* RANKS [THREADS [SHARE]]: ranks that share CPUs share them out; what the user says (not 0) counts more. */
#include "api/api.h"
#include "check.h"
#include "exec/team.h"
#include "ranks/comm.h"
#include "services/services.h"

int main(int argc, char **argv) {
  const int size = argc > 1 ? atoi(argv[1]) : 0, said = argc > 2 ? atoi(argv[2]) : 0;
  struct team *team = NULL;
  op_init(argc, argv, 0);
  struct op_context *ctx = api_context();
  check(ctx->comm->size == size && ctx->comm->node_size == size);
  check(context_team(ctx, &team, NULL) == OP_OK);
  const int share = argc > 3 ? atoi(argv[3]) : team_cpus() / size;
  check(team_threads(team) == (said ? said : share > 1 ? share : 1));
  op_printf("%d threads\n", team_threads(team));
  op_exit();
  return 0;
}
