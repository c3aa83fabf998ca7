#include "backend/gpu/log.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

static struct compile_message *add(struct gpu_log *log, enum compile_severity severity, const char *words) {
  struct compile_message *m = array_more(log->messages, (size_t)log->count, sizeof *m);
  if (!m)
    return NULL;
  log->messages = m;
  m[log->count] = (struct compile_message){.severity = severity, .file = "", .text = words};
  return &m[log->count++];
}

struct gpu_log *gpu_log_new(struct compile_result *result) {
  *result = (struct compile_result){.status = 2};
  struct gpu_log *log = calloc(1, sizeof *log);
  result->owner = log;
  return log;
}

/* The file's name in a message: PoCL writes "error: " in front again, HIPRTC has copies in a folder of its own. */
static const char *file_name(const char *name) {
  const char *copied = strstr(name, "/comgr-"), *folder = copied ? strstr(copied, "/include/") : NULL;
  if (folder)
    return folder + strlen("/include/");
  return strncmp(name, "error: ", 7) == 0 ? name + 7 : name;
}

/* PoCL's "error: file:12:5: words", maybe with " <Spelling=...>" behind the position. */
static void read_pocl(struct gpu_log *log, char *line) {
  char *name = line + strlen("error: "), *end;
  for (char *colon = strchr(name, ':'); colon; colon = strchr(colon + 1, ':')) {
    const long number = strtol(colon + 1, &end, 10);
    if (end == colon + 1 || *end != ':')
      continue;
    char *words = strstr(end, ": ");
    struct compile_message *m = add(log, COMPILE_ERROR, words ? words + 2 : end + 1);
    if (!m)
      return;
    *colon = '\0';
    m->file = name;
    m->line = (int)number;
    m->column = atoi(end + 1);
    return;
  }
}

/* "...file:12:5: error: words" becomes a message; the line is cut in place. */
static void read_line(struct gpu_log *log, char *line) {
  static const struct {
    const char *mark;
    enum compile_severity severity;
  } marks[] = {{": error: ", COMPILE_ERROR},
               {": fatal error: ", COMPILE_ERROR},
               {": warning: ", COMPILE_WARNING},
               {": note: ", COMPILE_NOTE}};
  if (strncmp(line, "error: ", 7) == 0 && !strstr(line + 7, ": error: ")) {
    read_pocl(log, line);
    return;
  }
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    char *at = strstr(line, marks[i].mark), *column, *number;
    if (!at)
      continue;
    *at = '\0';
    if (!(column = strrchr(line, ':')))
      return;
    *column = '\0';
    if (!(number = strrchr(line, ':')))
      return;
    *number = '\0';
    struct compile_message *m = add(log, marks[i].severity, at + strlen(marks[i].mark));
    if (!m)
      return;
    m->file = file_name(line);
    m->line = atoi(number + 1);
    m->column = atoi(column + 1);
    return;
  }
}

void gpu_log_finish(struct gpu_log *log, const char *why, struct compile_result *result) {
  char *rest = NULL;
  for (char *line = log->words.data ? strtok_r(log->words.data, "\n", &rest) : NULL; line;
       line = strtok_r(NULL, "\n", &rest))
    read_line(log, line);
  bool told = false;
  for (int i = 0; i < log->count; i++)
    told |= log->messages[i].severity == COMPILE_ERROR;
  if (result->status && !told)
    add(log, COMPILE_ERROR, why);
  result->messages = log->messages;
  result->nmessages = log->count;
}

int gpu_log_take(struct compile_result *result, void *binary, size_t size, bool failed) {
  if (!binary)
    return 3;
  result->binary = failed ? NULL : binary;
  result->size = size;
  if (failed)
    free(binary);
  return failed ? 2 : 0;
}

void gpu_log_release(void *self, struct compile_result *result) {
  struct gpu_log *log = result->owner;
  (void)self;
  if (log) {
    text_free(&log->words);
    free(log->messages);
    free(log);
  }
  free(result->binary);
  *result = (struct compile_result){0};
}
