/* op2jit: reads the command line by the tables of commands, and says what is wrong with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

enum { MOST_COMMANDS = 40, HELP_COLUMN = 36 };

static const struct command *command_at(int number) {
  static const struct command *const tables[] = {
      cli_cache_look, cli_cache_care, cli_tune,   cli_check, cli_derive, cli_mesh, cli_checkpoint,
      cli_replay,     cli_history,    cli_report, cli_texts, cli_new,    cli_other};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (const struct command *c = tables[i]; c->name; c++)
      if (number-- == 0)
        return c;
  return NULL;
}

static const char *words_of(const struct command *c) {
  return c->arguments ? c->arguments : "";
}

static const char *group_of(const struct command *c) {
  return c->group ? c->group : "";
}

/* ---- help --------------------------------------------------------------------------------------*/

/* "cache why [--limit N] [LOOP]", with the options that the command's own text does not name; how long it is. */
static int usage_line(const struct command *c, FILE *to) {
  int width = fprintf(to, "%s%s%s", group_of(c), c->group ? " " : "", c->name);
  for (size_t i = 0; i < sizeof c->options / sizeof *c->options && c->options[i].name; i++)
    if (!strstr(words_of(c), c->options[i].name))
      width += fprintf(to, " [%s%s%s]", c->options[i].name, c->options[i].argument ? " " : "",
                       c->options[i].argument ? c->options[i].argument : "");
  return width + fprintf(to, "%s%s", c->arguments ? " " : "", words_of(c));
}

/* The help of all commands, or of one group (not ""). */
static void print_help(const char *group) {
  if (*group)
    printf("usage: op2jit %s COMMAND [--help] [--json] [OP2_NAME=VALUE...] [ARGUMENT...]\n\n", group);
  else
    printf("op2jit: looks after what the op2jit library keeps between runs\n\n"
           "usage: op2jit COMMAND [--help] [--json] [OP2_NAME=VALUE...] [ARGUMENT...]\n\n");
  for (int i = 0; command_at(i); i++) {
    const struct command *c = command_at(i);
    if (*group && strcmp(group_of(c), group) != 0)
      continue;
    fputs("  ", stdout);
    const int width = 2 + usage_line(c, stdout);
    if (width >= HELP_COLUMN)
      putchar('\n');
    printf("%*s%s\n", width < HELP_COLUMN ? HELP_COLUMN - width : HELP_COLUMN, "", c->help);
  }
  printf("\nThe cache is the file that OP2_CACHE names. Status: 0 well, 1 failed or found something, 2 wrong "
         "use.\n"
         "man op2jit has more.\n");
}

static void print_command_help(const struct command *c) {
  fputs("usage: op2jit ", stdout);
  usage_line(c, stdout);
  fputs("\n\n", stdout);
  for (const struct cli_help *h = cli_help; h->name; h++)
    if (strcmp(h->name, c->name) == 0 && strcmp(h->group, group_of(c)) == 0)
      printf("%s\n", h->words);
  for (size_t i = 0; i < sizeof c->options / sizeof *c->options && c->options[i].name; i++)
    printf("  %s%s%-*s %s\n", c->options[i].name, c->options[i].argument ? " " : "",
           (int)((c->options[i].argument ? 16 : 17) - strlen(c->options[i].name)),
           c->options[i].argument ? c->options[i].argument : "", c->options[i].help);
  if (!c->raw)
    printf("  %-17s %s\n", "--json", "print JSON");
}

/* ---- finding the command ------------------------------------------------------------------------*/

static bool is_group(const char *word) {
  for (int i = 0; command_at(i); i++)
    if (*word && strcmp(group_of(command_at(i)), word) == 0)
      return true;
  return false;
}

static const struct command *find_command(const char *group, const char *name) {
  for (int i = 0; command_at(i); i++)
    if (strcmp(group_of(command_at(i)), group) == 0 && strcmp(command_at(i)->name, name) == 0)
      return command_at(i);
  return NULL;
}

/* The words that may stand here, for "did you mean". */
static int unknown(const char *group, const char *word) {
  const char *names[MOST_COMMANDS];
  int n = 0;
  for (int i = 0; command_at(i) && n < MOST_COMMANDS; i++) {
    const struct command *c = command_at(i);
    if (strcmp(group_of(c), group) == 0)
      names[n++] = c->name;
    else if (!*group && (i == 0 || strcmp(group_of(c), group_of(command_at(i - 1))) != 0))
      names[n++] = c->group;
  }
  int near = nearest_name(word, names, n);
  return cli_fail(CLI_USAGE, "there is no command \"%s%s%s\"%s%s%s op2jit --help lists them", group,
                  *group ? " " : "", word, near >= 0 ? "; did you mean \"" : ".",
                  near >= 0 ? names[near] : "", near >= 0 ? "\"?" : "");
}

/* ---- options -----------------------------------------------------------------------------------*/

static int wrong_use(const struct command *c, const char *what, const char *word) {
  fprintf(stderr, "op2jit: %s%s\nusage: op2jit ", what, word);
  usage_line(c, stderr);
  fputs("\n", stderr);
  return CLI_USAGE;
}

static int take_option(struct cli *cli, char **argv, int argc, int *at) {
  const struct command *c = cli->command;
  const char *word = argv[*at];
  if (strcmp(word, "--json") == 0) {
    cli->json = true;
    return CLI_OK;
  }
  for (size_t i = 0; i < sizeof c->options / sizeof *c->options && c->options[i].name; i++) {
    size_t length = strlen(c->options[i].name);
    if (strncmp(word, c->options[i].name, length) != 0 || (word[length] && word[length] != '='))
      continue;
    if (cli->values[i] && c->options[i].argument && strcmp(c->options[i].argument, "LIST") == 0)
      return wrong_use(c, "write all in one list, with ',' between them; there is a second ",
                       c->options[i].name);
    if (!c->options[i].argument)
      cli->values[i] = "";
    else if (word[length] == '=')
      cli->values[i] = word + length + 1;
    else if (*at + 1 < argc)
      cli->values[i] = argv[++*at];
    else
      return wrong_use(c, "a value is missing behind ", word);
    return CLI_OK;
  }
  return wrong_use(c, "unknown option ", word);
}

/* Compares the words with the names of the arguments. Those in brackets may be left out, and "..." stands for any number;
 * options among them, and what belongs to these, are none. */
static int check_words(const struct cli *cli) {
  char names[128], *rest = names, *name;
  snprintf(names, sizeof names, "%s", words_of(cli->command));
  int left = cli->nwords;
  for (bool optional = false; (name = strtok_r(rest, " ", &rest)) != NULL; left--) {
    optional |= *name == '[';
    if (strstr(name, "..."))
      return CLI_OK;
    if (strncmp(name, "--", 2) == 0) {
      strtok_r(rest, " ", &rest);
      left++;
    } else if (left == 0 && !optional)
      return wrong_use(cli->command, "an argument is missing: ", name);
    else if (left == 0)
      return CLI_OK;
  }
  return left > 0 ? wrong_use(cli->command, "too many arguments: ", cli->words[cli->nwords - left]) : CLI_OK;
}

static int take_words(struct cli *cli, int argc, char **argv) {
  const struct command *c = cli->command;
  bool plain = c->raw;
  for (int i = 0; i < argc; i++) {
    if (!plain && strcmp(argv[i], "--") == 0)
      plain = true;
    else if (!plain && argv[i][0] == '-' && argv[i][1]) {
      int status = take_option(cli, argv, argc, &i);
      if (status != CLI_OK)
        return status;
    } else if (strncmp(argv[i], "OP2_", 4) != 0 || !strchr(argv[i], '=') || (c->raw && cli->nwords))
      cli->words[cli->nwords++] = argv[i];
  }
  return check_words(cli);
}

static int run_command(const struct command *command, int argc, char **argv, int whole_argc,
                       char **whole_argv) {
  struct cli cli = {.command = command, .log = {.level = LOG_WARN, .rank = -1}};
  struct text warnings = {0};
  cli.words = calloc((size_t)argc + 1, sizeof *cli.words);
  int status = cli.words ? take_words(&cli, argc, argv) : cli_fail(CLI_FAILED, "out of memory");
  if (status == CLI_OK)
    status = cli_status(env_read(&cli.env, whole_argc, whole_argv, &warnings, &cli.err));
  if (status == CLI_OK) {
    log_configure(&cli.log, env_value(&cli.env, ENV_LOG));
    fputs(text_str(&warnings), stderr);
    if (command->access)
      status = cli_open_store(&cli, command->access);
    const bool list = cli.json && command->lists && status == CLI_OK;
    if (list)
      json_open(&cli.out, NULL, '[');
    if (status == CLI_OK)
      status = command->run(&cli);
    if (list)
      json_close(&cli.out, ']');
    store_close(cli.store);
  }
  if (*error_message(&cli.err))
    cli_fail(status, "%s", error_message(&cli.err));
  if (cli.json && cli.out.length)
    text_add_char(&cli.out, '\n');
  fputs(text_str(&cli.out), stdout);
  if (!text_ok(&cli.out))
    status = cli_fail(CLI_FAILED, "out of memory");
  else if (fflush(stdout) != 0 || ferror(stdout))
    status = cli_fail(CLI_FAILED, "the output cannot be written");
  text_free(&cli.out);
  text_free(&warnings);
  error_free(&cli.err);
  env_free(&cli.env);
  free(cli.words);
  return status;
}

static bool asks_for_help(const struct command *c, int argc, char **argv) {
  for (int i = 0; i < argc && (!c->raw || i == 0); i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
      return true;
  return false;
}

int main(int argc, char **argv) {
  if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
      strcmp(argv[1], "help") == 0) {
    print_help("");
    return argc < 2 ? CLI_USAGE : CLI_OK;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("op2jit " OP2JIT_VERSION_WORDS "\n");
    return CLI_OK;
  }
  bool group = is_group(argv[1]);
  if (group && (argc < 3 || strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
    print_help(argv[1]);
    return argc < 3 ? CLI_USAGE : CLI_OK;
  }
  const struct command *c = group ? find_command(argv[1], argv[2]) : find_command("", argv[1]);
  if (!c)
    return unknown(group ? argv[1] : "", group ? argv[2] : argv[1]);
  int skip = group ? 3 : 2;
  if (asks_for_help(c, argc - skip, argv + skip)) {
    print_command_help(c);
    return CLI_OK;
  }
  return run_command(c, argc - skip, argv + skip, argc, argv);
}
