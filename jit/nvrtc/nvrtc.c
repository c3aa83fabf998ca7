/* Compiling with NVRTC: the options that each version understands, and its log as messages. */
#include "jit/nvrtc/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "jit/nvrtc/library.h"

enum { MAX_OPTIONS = 48 };

int nvrtc_target(const struct nvrtc *n, const char *device, int *ptx) {
  int wanted = 0, best = 0;
  if (sscanf(device, "sm_%d", &wanted) != 1)
    return 0;
  *ptx = 1;
  for (int i = 0; i < n->narchs; i++) {
    if (n->archs[i] == wanted)
      *ptx = 0;
    if (n->archs[i] <= wanted && n->archs[i] > best)
      best = n->archs[i];
  }
  return best;
}

/* ---- messages ---- */
struct owner {
  struct text log;
  struct compile_message *messages;
  int count;
};

static struct compile_message *add_message(struct owner *o, enum compile_severity severity) {
  struct compile_message *m = array_more(o->messages, (size_t)o->count, sizeof *m);
  if (!m)
    return NULL;
  o->messages = m;
  m[o->count] = (struct compile_message){.severity = severity, .file = "", .text = ""};
  return &m[o->count++];
}

static void say(struct owner *o, enum compile_severity severity, const char *text) {
  struct compile_message *m = add_message(o, severity);
  if (m)
    m->text = text;
}

static const struct {
  const char *mark;
  enum compile_severity severity;
} severities[] = {{"catastrophic error", COMPILE_ERROR},
                  {"error", COMPILE_ERROR},
                  {"warning", COMPILE_WARNING},
                  {"remark", COMPILE_REMARK},
                  {"note", COMPILE_NOTE}};

/* "file(line): error #123-D: words" becomes a message; the line is cut in place. */
static bool read_position(struct owner *o, char *line) {
  char *close = strstr(line, "): "), *open = close;
  while (open && open > line && *open != '(')
    open--;
  if (!close || open == line)
    return false;
  char *end;
  long number = strtol(open + 1, &end, 10);
  char *words = close + 3;
  for (size_t i = 0; end == close && i < sizeof severities / sizeof *severities; i++) {
    size_t length = strlen(severities[i].mark);
    char *colon = strchr(words, ':');
    if (strncmp(words, severities[i].mark, length) != 0 || !colon || !strchr(" :#", words[length]))
      continue;
    struct compile_message *m = add_message(o, severities[i].severity);
    if (!m)
      return true;
    *open = 0;
    m->file = line;
    m->line = (int)number;
    m->text = colon + 1 + strspn(colon + 1, " ");
    return true;
  }
  return false;
}

/* The log's lines as messages; a line with a caret gives the last message its column. */
static void read_log(struct owner *o) {
  char *line = o->log.data, *before = NULL;
  while (line && *line) {
    char *end = strchr(line, '\n');
    if (end)
      *end = 0;
    size_t blanks = strspn(line, " ");
    if (line[blanks] == '^' && o->count && before && !o->messages[o->count - 1].column)
      o->messages[o->count - 1].column = blanks >= 4 ? (int)blanks - 3 : 1;
    else if (!read_position(o, line) && strncmp(line, "ptxas", 5) == 0)
      say(o, strstr(line, "error") || strstr(line, "fatal") ? COMPILE_ERROR : COMPILE_REMARK, line);
    else if (strncmp(line, "nvrtc: error", 12) == 0) /* not a message: the words of NVRTC */
      say(o, COMPILE_ERROR, line);
    before = line;
    line = end ? end + 1 : NULL;
  }
}

/* ---- options ---- */
struct options {
  const char *items[MAX_OPTIONS];
  int count;
  char arch[48];
};

static void option(struct options *o, const char *text) {
  if (o->count < MAX_OPTIONS)
    o->items[o->count++] = text;
}

static const struct {
  const char *text;
  int since;      /* NVRTC's version; 0: all */
  int before;     /* 0: all later ones too */
  const char *fp; /* only for this kind of floating point */
} rules[] = {
    {"-default-device", 0, 0, NULL},
    {"--std=c++17", 0, 120, NULL},
    {"--std=c++20", 120, 0, NULL},              /* designated initialisers */
    {"--modify-stack-limit=false", 0, 0, NULL}, /* else it changes the limit of the whole process */
    {"--no-cache", 130, 0, NULL},               /* else it opens the driver for a cache of its own */
    {"-lineinfo", 0, 0, NULL},
    {"--fmad=false", 0, 0, "strict"},
    {"--fmad=false", 0, 0, "reproducible"}, /* it joins as it likes, and not as the text has them */
    {"--fmad=false", 0, 0, "reproducible strict"},
    {"--fmad=true", 0, 0, "contract"},
    {"--use_fast_math", 0, 0, "fast"},
};

static void choose_options(const struct nvrtc *n, const struct compile_request *r, int target, int ptx,
                           struct options *o) {
  snprintf(o->arch, sizeof o->arch, "--gpu-architecture=%s%d", ptx ? "compute_" : "sm_", target);
  option(o, o->arch);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].since <= n->number && (!rules[i].before || n->number < rules[i].before) &&
        (!rules[i].fp || (r->fp && strcmp(rules[i].fp, r->fp) == 0)))
      option(o, rules[i].text);
  if (!r->warnings)
    option(o, "-w");
  if (r->debug)
    option(o, "-G");
}

/* ---- results ---- */
static void take_log(struct nvrtc *n, void *program, struct owner *o) {
  size_t size = 0;
  if (n->log_size(program, &size) || size <= 1)
    return;
  char *log = malloc(size + 1);
  if (log && !n->log(program, log)) {
    log[size] = 0;
    text_add(&o->log, log);
  }
  free(log);
}

static int take_binary(struct nvrtc *n, void *program, int ptx, struct compile_result *result) {
  size_t size = 0;
  if ((ptx ? n->ptx_size : n->cubin_size)(program, &size) || !size)
    return 2;
  char *binary = malloc(size + 1);
  if (!binary || (ptx ? n->ptx : n->cubin)(program, binary)) {
    free(binary);
    return 2;
  }
  binary[size] = 0;
  result->binary = binary;
  result->size = size;
  return 0;
}

static int build(struct nvrtc *n, const struct compile_request *r, const struct options *options, int ptx,
                 struct owner *o, struct compile_result *result) {
  enum { MAX_HEADERS = 16 };
  const char *texts[MAX_HEADERS] = {0}, *names[MAX_HEADERS] = {0};
  int nheaders = 0;
  for (int i = 1; i < r->nfiles && nheaders < MAX_HEADERS; i++, nheaders++) {
    texts[nheaders] = r->files[i].text;
    names[nheaders] = r->files[i].name;
  }
  void *program = NULL;
  int code = n->create(&program, r->files[0].text, r->files[0].name, nheaders, texts, names);
  if (code) {
    say(o, COMPILE_ERROR, n->error_string(code));
    return 2;
  }
  code = n->compile(program, options->count, options->items);
  take_log(n, program, o);
  read_log(o);
  int status = code ? (code == NVRTC_COMPILATION ? 1 : 2) : take_binary(n, program, ptx, result);
  bool told = false;
  for (int i = 0; i < o->count; i++)
    told |= o->messages[i].severity == COMPILE_ERROR;
  if (status && !told)
    say(o, COMPILE_ERROR, code ? n->error_string(code) : "NVRTC made no binary");
  n->destroy(&program);
  return status;
}

void nvrtc_compile(struct nvrtc *n, const struct compile_request *request, const char *const *extra,
                   int nextra, struct compile_result *result) {
  *result = (struct compile_result){.status = 2};
  struct owner *o = calloc(1, sizeof *o);
  if (!o)
    return;
  result->owner = o;
  int ptx = 0, target = nvrtc_target(n, request->cpu, &ptx);
  double start = clock_seconds();
  if (!target) {
    say(o, COMPILE_ERROR,
        "this NVRTC cannot compile for a GPU as old as this one; install an older toolkit's NVRTC");
  } else {
    struct options options = {.count = 0};
    choose_options(n, request, target, ptx, &options);
    for (int i = 0; i < nextra; i++)
      option(&options, extra[i]);
    result->status = build(n, request, &options, ptx, o, result);
    if (!result->status && ptx)
      say(o, COMPILE_NOTE,
          "this NVRTC is older than the GPU: PTX of its newest architecture, translated by the driver");
  }
  result->seconds_front = clock_seconds() - start;
  result->messages = o->messages;
  result->nmessages = o->count;
}

void nvrtc_release(struct compile_result *result) {
  struct owner *o = result->owner;
  if (o) {
    text_free(&o->log);
    free(o->messages);
    free(o);
  }
  free(result->binary);
  *result = (struct compile_result){0};
}
