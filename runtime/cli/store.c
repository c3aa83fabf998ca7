/* The file of kernels that this environment names. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "jit/key/signature.h"

bool cli_cache_path(const struct cli *cli, struct text *path) {
  const char *given = env_value(&cli->env, ENV_CACHE);
  if (!*given)
    return store_default_path(path, cli->env.cache_home, NULL);
  text_add(path, given);
  return true;
}

int cli_open_store(struct cli *cli, enum cli_access wanted) {
  struct text path = {0};
  const char *given = env_value(&cli->env, ENV_CACHE);
  if (!cli_cache_path(cli, &path))
    return cli_fail(CLI_FAILED, "there is no cache: " CLI_NO_PLACE);
  struct store_options options = {.path = text_str(&path),
                                  .layers = env_value(&cli->env, ENV_CACHE_RO),
                                  .log = &cli->log,
                                  .read_only = wanted == CLI_LOOK ||
                                               (wanted == CLI_CHANGE && access(text_str(&path), F_OK) != 0),
                                  .own = !*given,
                                  .home = !*given && cli->env.cache_in_home ? cli->env.home : NULL,
                                  .sentence = signature_difference,
                                  .kind = signature_kind};
  int status = CLI_OK;
  if (strcmp(given, "off") == 0)
    status = cli_fail(CLI_FAILED, "OP2_CACHE=off: there is no cache to look at");
  else if (store_open(&cli->store, &options, &cli->err) != OP_OK)
    status = CLI_FAILED;
  else if (!store_path(cli->store)) {
    status = CLI_FAILED;
    if (!store_trouble(cli->store)[0])
      cli_fail(status, "there is no cache yet: %s is made by the first program that runs a loop",
               text_str(&path));
  }
  text_free(&path);
  return status;
}
