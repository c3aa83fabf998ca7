#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void read_all(int from, char *into, size_t size) {
  size_t used = 0;
  ssize_t n;
  while ((n = read(from, into + used, size - 1 - used)) > 0)
    used += (size_t)n;
  into[used] = '\0';
  close(from);
}

bool child_run(struct child *child, void (*work)(const void *user), const void *user) {
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0)
    return false;
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0)
    return false;
  if (pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    close(out[0]);
    close(err[0]);
    close(out[1]);
    close(err[1]);
    work(user);
    exit(0);
  }
  close(out[1]);
  close(err[1]);
  read_all(out[0], child->out, sizeof child->out);
  read_all(err[0], child->err, sizeof child->err);
  return waitpid(pid, &child->status, 0) == pid;
}

void say_lines(const char *mark, const char *text) {
  for (const char *line = text; *line;) {
    size_t n = strcspn(line, "\n");
    printf("  %s %.*s\n", mark, (int)n, line);
    line += n + (line[n] == '\n');
  }
}

bool golden_matches(const char *path, bool write, const char *name, const char *text) {
  char want[CHILD_WORDS] = "";
  FILE *file = fopen(path, write ? "w" : "r");
  if (!file) {
    printf("%s: %s cannot be opened; run with --write to make it\n", name, path);
    say_lines("+", text);
    return false;
  }
  if (write) {
    fputs(text, file);
    return fclose(file) == 0;
  }
  want[fread(want, 1, sizeof want - 1, file)] = '\0';
  fclose(file);
  if (strcmp(want, text) == 0)
    return true;
  printf("%s: the message is another one (- expected, + got)\n", name);
  say_lines("-", want);
  say_lines("+", text);
  return false;
}

bool is_named(const char *name, int n, char **names) {
  for (int i = 0; i < n; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return n == 0;
}

void hide_places(char *text) {
  for (char *at = strstr(text, ".c:"); at; at = strstr(at + 1, ".c:")) {
    char *begin = at, *end = at + 3;
    while (begin > text && !strchr(" (\n\"", begin[-1]))
      begin--;
    char *slash = begin, *digits = end;
    for (char *p = begin; p < at; p++)
      slash = *p == '/' ? p + 1 : slash;
    while (*digits >= '0' && *digits <= '9')
      digits++;
    char rest[CHILD_WORDS];
    snprintf(rest, sizeof rest, "%.*sLINE%s", (int)(end - slash), slash, digits);
    strcpy(begin, rest);
    at = begin + (at - slash);
  }
}
