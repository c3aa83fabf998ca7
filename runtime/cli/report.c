/* op2jit report, why-not and history. The first one: the page of a report, and two reports side by side. SQLite reads the
 * JSON: it is there, and knows how. */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/aside.h"
#include "cli/cli.h"
#include "report/forms.h"

enum { OUT, COMPARE }; /* options */

/* ---- a report in a file ---- */

/* A database in memory, for its JSON functions. NULL after a message. */
static sqlite3 *reports_open(void) {
  sqlite3 *db = NULL;
  if (sqlite3_open(":memory:", &db) == SQLITE_OK)
    return db;
  cli_fail(CLI_FAILED, "SQLite: %s", db ? sqlite3_errmsg(db) : "no memory");
  sqlite3_close(db);
  return NULL;
}

/* The texts are ?1 and ?2; `second` may be NULL. NULL after a message. */
static sqlite3_stmt *reports_ask(sqlite3 *db, const char *sql, const struct text *first,
                                 const struct text *second) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
    cli_fail(CLI_FAILED, "SQLite: %s", sqlite3_errmsg(db));
    return NULL;
  }
  sqlite3_bind_text(s, 1, text_str(first), (int)first->length, SQLITE_STATIC);
  if (second)
    sqlite3_bind_text(s, 2, text_str(second), (int)second->length, SQLITE_STATIC);
  return s;
}

static int no_report(const char *path) {
  return cli_fail(CLI_FAILED, "%s: this is no report; OP2_TIMING=json:FILE writes one", path);
}

/* Checks that it is a report of OP2_TIMING=json. */
static int check(sqlite3 *db, const char *path, const struct text *json) {
  sqlite3_stmt *s = reports_ask(
      db, "SELECT CASE WHEN json_valid(?1) THEN json_type(?1, '$.loops') = 'array' ELSE 0 END", json, NULL);
  const bool is_report = s && sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == 1;
  sqlite3_finalize(s);
  return is_report ? CLI_OK : no_report(path);
}

/* The text of a file that is a report: a device may have no end, and SQLite takes no text above its limit. CLI_FAILED after
 * a message. */
static int reports_read(struct cli *cli, sqlite3 *db, const char *path, struct text *out) {
  struct stat there;
  if (stat(path, &there) == 0 &&
      (S_ISCHR(there.st_mode) || there.st_size > sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1)))
    return no_report(path);
  return file_read(path, out, &cli->err) ? CLI_FAILED : check(db, path, out);
}

/* ---- the page ---- */

static int write_page(struct cli *cli, const struct text *json, const struct text *before) {
  const char *file = cli->values[OUT];
  struct text page = {0};
  int status = CLI_OK;
  if (cli->json && !before)
    text_add_bytes(&page, text_str(json), json->length);
  else
    page_of_json(text_str(json), before ? text_str(before) : NULL, &page);
  if (file)
    status = cli_write(cli, file, &page);
  else if (fwrite(text_str(&page), 1, page.length, stdout) != page.length)
    status = cli_fail(CLI_FAILED, "the page cannot be written: %s", strerror(errno));
  text_free(&page);
  return status;
}

/* ---- two reports ---- */

/* Loops of one name are one row; what only one of the reports has is there too. What differs most comes first. */
static const char compare_sql[] =
    "WITH a(n, s, c, v) AS (SELECT json_extract(value, '$.name'), sum(json_extract(value, '$.seconds')),"
    "   sum(json_extract(value, '$.calls')), max(json_extract(value, '$.variant'))"
    "   FROM json_each(?1, '$.loops') GROUP BY 1),"
    " b(n, s, c, v) AS (SELECT json_extract(value, '$.name'), sum(json_extract(value, '$.seconds')),"
    "   sum(json_extract(value, '$.calls')), max(json_extract(value, '$.variant'))"
    "   FROM json_each(?2, '$.loops') GROUP BY 1)"
    " SELECT a.n, a.s, a.c, b.s, b.c, a.v, b.v, abs(coalesce(b.s, 0) - a.s) AS differ"
    "   FROM a LEFT JOIN b ON a.n = b.n"
    " UNION ALL SELECT b.n, NULL, NULL, b.s, b.c, NULL, b.v, b.s FROM b WHERE b.n NOT IN (SELECT n FROM a)"
    " ORDER BY differ DESC, 1";

struct side {
  double seconds, calls;
  const char *variant;
  bool there;
};

static struct side side_of(sqlite3_stmt *s, int seconds, int variant) {
  return (struct side){.seconds = sqlite3_column_double(s, seconds),
                       .calls = sqlite3_column_double(s, seconds + 1),
                       .variant = (const char *)sqlite3_column_text(s, variant),
                       .there = sqlite3_column_type(s, seconds) != SQLITE_NULL};
}

static double a_call(const struct side *side) {
  return side->calls > 0 ? side->seconds / side->calls : 0;
}

static void cell(struct text *out, double seconds) {
  char words[48] = "-";
  if (seconds > 0)
    report_time(words, sizeof words, seconds);
  text_addf(out, " %9s", words);
}

/* Less than this is what a busy machine does. */
#define SAME 0.05

static void add_loop(const char *name, const struct side *a, const struct side *b, struct text *out) {
  const double before = a_call(a), now = a_call(b), ratio = before > 0 && now > 0 ? now / before : 0;
  text_addf(out, "%-24s", name);
  cell(out, a->seconds);
  cell(out, b->seconds);
  cell(out, before);
  cell(out, now);
  if (ratio > 0)
    text_addf(out, " %6.2f  %s", ratio, ratio > 1 + SAME ? "slower" : ratio < 1 - SAME ? "faster" : "same");
  else
    text_addf(out, " %6s  %s", "-", !a->there ? "new" : !b->there ? "gone" : "-");
  if (ratio > 0 && a->variant && b->variant && strcmp(a->variant, b->variant) != 0)
    text_addf(out, ", %s -> %s", a->variant, b->variant);
  text_add_char(out, '\n');
}

static void add_loop_json(const char *name, const struct side *a, const struct side *b, struct text *out) {
  const double before = a_call(a), now = a_call(b);
  json_object(out, NULL, "name:t seconds_before:d seconds_now:d call_before:d call_now:d ratio:d", name,
              a->there ? a->seconds : NAN, b->there ? b->seconds : NAN, a->there ? before : NAN,
              b->there ? now : NAN, before > 0 && now > 0 ? now / before : NAN);
}

/* The line about each run. */
static void add_run(sqlite3 *db, const char *path, const struct text *json, struct text *out) {
  sqlite3_stmt *s = reports_ask(
      db,
      "SELECT json_extract(?1, '$.backend'), json_extract(?1, '$.threads'), json_extract(?1, '$.ranks'),"
      " (SELECT sum(json_extract(value, '$.seconds')) FROM json_each(?1, '$.loops'))",
      json, NULL);
  char words[48] = "no time";
  if (s && sqlite3_step(s) == SQLITE_ROW) {
    if (sqlite3_column_double(s, 3) > 0)
      report_time(words, sizeof words, sqlite3_column_double(s, 3));
    const char *backend = (const char *)sqlite3_column_text(s, 0);
    text_addf(out, "%s: backend %s, threads %d, ranks %d, loops took %s\n", path, backend ? backend : "?",
              sqlite3_column_int(s, 1), sqlite3_column_int(s, 2), words);
  }
  sqlite3_finalize(s);
}

static int compare(struct cli *cli, sqlite3 *db, const char *const paths[2], const struct text *reports) {
  struct text *out = &cli->out;
  sqlite3_stmt *s = reports_ask(db, compare_sql, &reports[0], &reports[1]);
  if (!s)
    return CLI_FAILED;
  if (cli->json) {
    json_open(out, NULL, '{');
    json_open(out, "loops", '[');
  } else {
    for (int i = 0; i < 2; i++)
      add_run(db, paths[i], &reports[i], out);
    text_addf(out, "%-24s %9s %9s %9s %9s %6s\n", "loop", "before", "now", "a call", "now", "ratio");
  }
  while (sqlite3_step(s) == SQLITE_ROW) {
    const struct side a = side_of(s, 1, 5), b = side_of(s, 3, 6);
    const char *name = (const char *)sqlite3_column_text(s, 0);
    (cli->json ? add_loop_json : add_loop)(name ? name : "?", &a, &b, out);
  }
  if (cli->json) {
    json_close(out, ']');
    json_close(out, '}');
    text_add_char(out, '\n');
  }
  sqlite3_finalize(s);
  return CLI_OK;
}

static int run_report(struct cli *cli) {
  const char *paths[2] = {cli->values[COMPARE] ? cli->values[COMPARE] : cli->words[0], cli->words[0]};
  const int count = cli->values[COMPARE] ? 2 : 1;
  struct text reports[2] = {{0}, {0}};
  sqlite3 *db = reports_open();
  int status = db ? CLI_OK : CLI_FAILED;
  for (int i = 0; !status && i < count; i++)
    status = reports_read(cli, db, paths[i], &reports[i]);
  if (!status && count == 2 && !cli->values[OUT])
    status = compare(cli, db, paths, reports);
  else if (!status)
    status = write_page(cli, &reports[count - 1], count == 2 ? &reports[0] : NULL);
  text_free(&reports[0]);
  text_free(&reports[1]);
  sqlite3_close(db);
  return status;
}

const struct command cli_report[] = {
    {.name = "report",
     .arguments = "FILE.json",
     .help = "Make the page of a report, or compare two",
     .run = run_report,
     .options = {{"-o", "FILE", "write the page to this file"},
                 {"--compare", "FILE", "a report of before, to compare with"}}},
    {0}};

/* op2jit why-not: the loops of a program of OP2 that run without a text; and the table of this and of op2jit texts. */

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

/* op2jit history: how fast loops were, run by run. */

struct lines {
  struct cli *cli;
  char loop[128]; /* of the line before */
  int count;
};

static void show_line(void *user, const struct store_speed *s) {
  struct lines *lines = user;
  struct text *out = &lines->cli->out;
  char when[32], took[48];
  if (lines->cli->json) {
    json_object(out, NULL,
                "loop:t time:i seconds:d calls:i elements:i threads:n variant:t version:t machine:t mesh:t "
                "signature:t",
                s->loop, s->time, s->seconds, s->calls, s->elements, s->threads, s->variant, s->version,
                s->machine, s->mesh, s->signature);
    return;
  }
  if (!lines->count || strcmp(lines->loop, s->loop) != 0)
    text_addf(out, "%s%s\n", lines->count ? "\n" : "", s->loop);
  snprintf(lines->loop, sizeof lines->loop, "%s", s->loop);
  lines->count++;
  report_time(took, sizeof took, s->seconds);
  text_addf(out, "  %s %10s  %lld elements, %d thread%s, %s, version %s, %s\n", cli_time(s->time, when), took,
            s->elements, s->threads, s->threads == 1 ? "" : "s", s->variant, s->version, s->machine);
}

static int run_history(struct cli *cli) {
  struct lines lines = {.cli = cli};
  store_speeds(cli->store, cli->nwords ? cli->words[0] : NULL, show_line, &lines);
  if (!cli->json && !lines.count)
    text_add(&cli->out,
             "nothing yet: programs note loops of ten calls or more at op_exit, unless OP2_TUNE is off "
             "or use\n");
  return CLI_OK;
}

const struct command cli_history[] = {{.name = "history",
                                       .arguments = "[LOOP]",
                                       .access = CLI_LOOK,
                                       .lists = true,
                                       .help = "List how fast loops were, the last runs first",
                                       .run = run_history},
                                      {0}};
