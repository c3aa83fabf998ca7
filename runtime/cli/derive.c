/* op2jit derive: the tangent and the adjoint kernel of a kernel, as the library makes them. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "jit/derivatives.h"

enum { OPTION_PASSIVE = CLI_CONST + 1, OPTION_CONSTANTS };

static const char *const modes[] = {
    [DERIVE_TANGENT] = "tangent", [DERIVE_ADJOINT] = "adjoint", [DERIVE_CANDIDATES] = "candidates"};
static const char *const roles[] = {
    [DERIVE_VALUE] = "value",   [DERIVE_DOT] = "dot",         [DERIVE_BAR] = "bar",
    [DERIVE_WINNER] = "winner", [DERIVE_ELEMENT] = "element", [DERIVE_CANDIDATE] = "candidate"};

/* Numbers from 1, separated by commas: true becomes false. */
static int set_passive(const struct cli *cli, const struct desc *d, bool active[], struct error *err) {
  for (const char *at = cli->values[OPTION_PASSIVE]; at && *at;) {
    char *end;
    const long number = strtol(at, &end, 10);
    if (end == at || (*end && *end != ',') || number < 1 || number > d->nargs)
      return error_set(err, OP_ERR_ARGUMENT,
                       "--passive %s: it takes numbers of arguments, from 1 to %d, separated by commas",
                       cli->values[OPTION_PASSIVE], d->nargs);
    active[number - 1] = false;
    at = *end ? end + 1 : end;
  }
  return OP_OK;
}

static void show_parameter(struct text *out, const struct cli *cli, const struct desc *d,
                           const struct derive_parameter *p) {
  if (p->argument >= 0)
    text_addf(out, "%s of argument %d: %s", roles[p->role], p->argument + 1, cli->words[p->argument + 1]);
  else if (p->constant >= 0)
    text_addf(out, "%s of constant %s", roles[p->role], d->consts[p->constant].name);
  else
    text_add(out, roles[p->role]);
}

static void show(struct cli *cli, const struct desc *d, enum derive_mode mode,
                 const struct derived *derived) {
  struct text *out = &cli->out, words = {0};
  if (cli->json) {
    json_open(out, NULL, '{');
    json_fields(out, "mode:t name:t text:t", modes[mode], derived->name, derived->text);
    json_open(out, "parameters", '[');
  } else
    text_addf(out, "/* %s */\n%s", modes[mode], derived->text);
  for (int i = 0; i < derived->nparameters; i++) {
    const struct derive_parameter *p = &derived->parameters[i];
    text_clear(&words);
    show_parameter(&words, cli, d, p);
    if (cli->json) {
      json_open(out, NULL, '{');
      json_fields(out, "role:t argument:n access:t words:t", roles[p->role], p->argument + 1,
                  access_name((int)p->access), text_str(&words));
      json_close(out, '}');
    } else
      text_addf(out, "/* %d: %s, passed %s */\n", i + 1, text_str(&words), access_name((int)p->access));
  }
  if (cli->json) {
    json_close(out, ']');
    json_close(out, '}');
  } else
    text_add_char(out, '\n');
  text_free(&words);
}

static bool has_extremum(const struct desc *d, const bool active[]) {
  for (int i = 0; i < d->nargs; i++)
    if (active[i] && d->args[i].form != DESC_INFO &&
        (d->args[i].access == OP_MIN || d->args[i].access == OP_MAX))
      return true;
  return false;
}

static int derive(struct cli *cli, struct desc *d, int *status, struct error *err) {
  struct plugin plugin = {0};
  const struct derive_source source = {.plugin = &plugin, .plugins = env_value(&cli->env, ENV_PLUGINS)};
  bool active[OP_MAX_ARGS], *constants = calloc((size_t)d->nconsts + 1, sizeof *constants);
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    const bool real = a->type == TYPE_DOUBLE || a->type == TYPE_FLOAT || type_is_struct(a->type);
    active[i] = real && (a->form == DESC_DAT || a->form == DESC_GBL);
  }
  for (int i = 0; i < d->nconsts && constants; i++)
    constants[i] = cli->values[OPTION_CONSTANTS] &&
                   (d->consts[i].type == TYPE_DOUBLE || d->consts[i].type == TYPE_FLOAT);
  if (!constants)
    error_memory(err, "constants", (size_t)d->nconsts);
  else if (set_passive(cli, d, active, err) != OP_OK)
    *status = CLI_USAGE;
  for (enum derive_mode mode = DERIVE_TANGENT; mode <= DERIVE_CANDIDATES && !err->code; mode++) {
    const struct derive_wish wish = {.mode = mode, .active = active, .active_constants = constants};
    struct derived derived = {0};
    if (mode == DERIVE_CANDIDATES && !has_extremum(d, active))
      break;
    if (derive_kernel(&source, d, &wish, &derived, err) == OP_OK)
      show(cli, d, mode, &derived);
    derived_free(&derived);
  }
  if (!err->code)
    *status = CLI_OK;
  free(constants);
  plugin_free(&plugin);
  return err->code;
}

static int run_derive(struct cli *cli) {
  return cli_with_kernel(cli, derive);
}

const struct command cli_derive[] = {
    {.name = "derive",
     .arguments = "FILE.c --kernel NAME ARGUMENT...",
     .lists = true,
     .help = "Print the tangent and the adjoint kernel of a kernel",
     .run = run_derive,
     .options = {{"--kernel", "NAME", "the kernel's function"},
                 {"--const", "LIST", "constants that the text uses: \"NAME TYPE DIM, ...\""},
                 {"--passive", "LIST", "numbers of arguments without derivative: \"1,4\""},
                 {"--constants", NULL, "constants have derivatives too"}}},
    {0}};
