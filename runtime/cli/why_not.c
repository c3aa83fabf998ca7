/* op2jit why-not: the loops of a program of OP2 that run without a text; and the table of this and of op2jit texts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/reports.h"

/* The loops without a text that the program's report has; of their reasons the first line. */
static int list_loops(struct cli *cli, const char *report) {
  static const char sql[] =
      "SELECT DISTINCT json_extract(value, '$.name'), json_extract(value, '$.no_text')"
      " FROM json_each(?1, '$.loops') WHERE json_extract(value, '$.no_text') IS NOT NULL";
  struct text json = {0};
  sqlite3 *db = reports_open();
  const int status = db ? reports_read(cli, db, report, &json) : CLI_FAILED;
  sqlite3_stmt *s = status ? NULL : reports_ask(db, sql, &json, NULL);
  while (s && sqlite3_step(s) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(s, 0);
    const char *why = (const char *)sqlite3_column_text(s, 1);
    if (name && why)
      text_addf(&cli->out, "%s: %.*s\n", name, (int)strcspn(why, "\n"), why);
  }
  sqlite3_finalize(s);
  sqlite3_close(db);
  text_free(&json);
  if (!status && !cli->out.length)
    text_add(&cli->out, "all loops that ran have their texts\n");
  return status;
}

static void run_program(const struct cli *cli, const char *report) {
  struct text timing = {0};
  text_addf(&timing, "json:%s", report);
  setenv("OP2_TIMING", text_str(&timing), 1);
  execvp(cli->words[0], cli->words);
  fprintf(stderr, "%s: %s\n", cli->words[0], strerror(errno));
  _exit(127);
}

static int run_why_not(struct cli *cli) {
  struct text report = {0};
  FILE *file = tmpfile();
  if (!file)
    return cli_fail(CLI_FAILED, "no file for the program's report: %s", strerror(errno));
  /* Processes that a launcher starts for the program reach it too. */
  text_addf(&report, "/proc/%ld/fd/%d", (long)getpid(), fileno(file));
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0)
    run_program(cli, text_str(&report));
  int ended = 0;
  const bool good =
      child > 0 && waitpid(child, &ended, 0) == child && WIFEXITED(ended) && !WEXITSTATUS(ended);
  const bool wrote = fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0;
  int status = wrote ? list_loops(cli, text_str(&report)) : CLI_OK;
  if (!good)
    status =
        cli_fail(CLI_FAILED, "%s %s", cli->words[0], child < 0 ? "cannot be run" : "ended with an error");
  else if (!wrote)
    status = cli_fail(CLI_FAILED, "%s wrote no report; op_exit writes it", cli->words[0]);
  fclose(file);
  text_free(&report);
  return status;
}

const struct command cli_texts[] = {
    {.name = "texts",
     .arguments = "SOURCE [-- FLAG...]",
     .help = "the texts of the kernels of a program of OP2",
     .more =
         "Reads a unit in C++ that includes op_seq.h, with the -I, -D and -std of FLAG, and says for each\n"
         "op_par_loop whether its kernel's text was found, or why not. Of a source in Fortran it says so of\n"
         "each subroutine.\n",
     .run = cli_run_texts,
     .options = {{"--headers", "FOLDER", "where op_seq.h is, if not beside the library"},
                 {"--embed", "FILE",
                  "write C that puts the texts into a program (op2jit-c++ and op2jit-fc do it)"},
                 {"--show", "KERNEL", "print the text of one kernel"},
                 {"--as", "UNIT", "the name of SOURCE in what --embed writes"}}},
    {.name = "why-not",
     .arguments = "PROGRAM [ARGUMENT...]",
     .help = "runs a program of OP2, and lists the loops that have no text, with the reason",
     .run = run_why_not,
     .raw = true},
    {0},
};
