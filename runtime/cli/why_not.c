/* op2jit why-not: the loops of a program of OP2 that run without a text; and the table of this and of op2jit texts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

/* Lines of the program's log that name a loop without a text, each once. */
static void collect(FILE *from, struct text *out) {
  static const char mark[] = " runs as the program's compiler made it: ";
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, from) >= 0) {
    const char *loop = strstr(line, "jit: loop "), *found = strstr(line, mark);
    if (!loop || !found) {
      if (!strstr(line, "op2jit: jit: "))
        fputs(line, stderr);
      continue;
    }
    loop += strlen("jit: loop ");
    struct text row = {0};
    text_addf(&row, "%.*s: %s", (int)(found - loop), loop, found + sizeof mark - 1);
    if (!strstr(text_str(out), text_str(&row)))
      text_add(out, text_str(&row));
    text_free(&row);
  }
  free(line);
}

static void run_program(const struct cli *cli, int to) {
  dup2(to, STDERR_FILENO);
  close(to);
  setenv("OP2_LOG", "info,jit", 1);
  execvp(cli->words[0], cli->words);
  fprintf(stderr, "%s: %s\n", cli->words[0], strerror(errno));
  _exit(127);
}

static int run_why_not(struct cli *cli) {
  int ends[2];
  if (pipe(ends) != 0)
    return cli_fail(CLI_FAILED, "no pipe: %s", strerror(errno));
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_program(cli, ends[1]);
  }
  close(ends[1]);
  FILE *from = child > 0 ? fdopen(ends[0], "r") : NULL;
  if (!from) {
    close(ends[0]);
    return cli_fail(CLI_FAILED, "%s cannot be run: %s", cli->words[0], strerror(errno));
  }
  collect(from, &cli->out);
  fclose(from);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return cli_fail(CLI_FAILED, "%s ended with an error", cli->words[0]);
  if (!cli->out.length)
    text_add(&cli->out, "all loops that ran have their texts\n");
  return CLI_OK;
}

const struct command cli_texts[] = {
    {.name = "texts",
     .group = "",
     .arguments = "SOURCE [-- FLAG...]",
     .least = 1,
     .most = -1,
     .help = "the texts of the kernels of a program of OP2",
     .more =
         "Reads a unit in C++ that includes op_seq.h, with the -I, -D and -std of FLAG, and says for each\n"
         "op_par_loop whether its kernel's text was found, or why not.\n",
     .run = cli_run_texts,
     .options = {{"--headers", "FOLDER", "where op_seq.h is, if not beside the library"},
                 {"--embed", "FILE", "write C that puts the texts into a program (op2jit-c++ does it)"},
                 {"--show", "KERNEL", "print the text of one kernel"},
                 {"--as", "UNIT", "the name of SOURCE in what --embed writes"}}},
    {.name = "why-not",
     .group = "",
     .arguments = "PROGRAM [ARGUMENT...]",
     .least = 1,
     .most = -1,
     .help = "runs a program of OP2, and lists the loops that have no text, with the reason",
     .more = "",
     .run = run_why_not,
     .raw = true},
    {0},
};
