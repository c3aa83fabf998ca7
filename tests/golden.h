/* Shared by tests of messages: a child process whose words are kept, and golden files to compare them with. */
#ifndef OP2JIT_TESTS_GOLDEN_H
#define OP2JIT_TESTS_GOLDEN_H

#include <stdbool.h>

enum { CHILD_WORDS = 8192 };

struct child {
  int status; /* as waitpid gives it */
  char out[CHILD_WORDS], err[CHILD_WORDS];
};

/* Runs work(user) in a process of its own, which ends with status 0 when that returns, and keeps what it says. False where
 * there is no process. Only for words that a pipe holds: stderr is read when stdout has ended. */
bool child_run(struct child *child, void (*work)(const void *user), const void *user);

/* Each line of the text, indented, behind the mark. */
void say_lines(const char *mark, const char *text);

/* Whether the file at `path` holds the text; prints the difference under `name`. `write` makes the file instead. */
bool golden_matches(const char *path, bool write, const char *name, const char *text);

/* "../tests/mistakes/jac.c:17" becomes "jac.c:LINE": neither the build's folder nor the text above matters. */
void hide_places(char *text);

/* Whether the name is among those on the command line, of which none means all. */
bool is_named(const char *name, int n, char **names);

#endif
