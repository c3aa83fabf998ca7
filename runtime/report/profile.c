#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/list.h"

struct section {
  char *name;
  struct section *parent;
  struct list inner;
  long long calls;
  double seconds, began;
};

struct profile {
  struct section *root, *now;
};

static const char *named(const char *name) {
  return name ? name : "unnamed";
}

static struct section *section_new(const char *name, struct section *parent) {
  struct section *s = calloc(1, sizeof *s);
  if (!s || !(s->name = strdup(name)) || (parent && !list_add(&parent->inner, s))) {
    if (s)
      free(s->name);
    free(s);
    return NULL;
  }
  s->parent = parent;
  return s;
}

static void section_free(struct section *s) {
  for (int i = 0; s && i < s->inner.count; i++)
    section_free(s->inner.items[i]);
  if (s) {
    list_free(&s->inner);
    free(s->name);
  }
  free(s);
}

static struct section *inner(struct section *s, const char *name) {
  for (int i = 0; i < s->inner.count; i++) {
    struct section *known = s->inner.items[i];
    if (strcmp(known->name, name) == 0)
      return known;
  }
  return section_new(name, s);
}

void profile_free(struct profile *p) {
  if (p)
    section_free(p->root);
  free(p);
}

/* A section that there is no memory for is not timed. */
static void begin(struct profile *p, struct section *s) {
  if (!s)
    return;
  s->began = clock_seconds();
  p->now = s;
}

struct profile *profile_new(const char *name) {
  struct profile *p = calloc(1, sizeof *p);
  if (p)
    begin(p, p->root = section_new(named(name), NULL));
  return p;
}

void profile_enter(struct profile *p, const char *name) {
  if (p->now)
    begin(p, inner(p->now, named(name)));
}

void profile_leave(struct profile *p) {
  if (!p->now)
    return;
  p->now->seconds += clock_seconds() - p->now->began;
  p->now->calls++;
  p->now = p->now->parent;
}

void profile_end(struct profile *p) {
  while (p->now)
    profile_leave(p);
}

static void section_text(const struct section *s, int depth, struct text *out) {
  text_addf(out, "%*s%-*s %10lld %12.6f s\n", 2 * depth, "", 40 - 2 * depth, s->name, s->calls, s->seconds);
  for (int i = 0; i < s->inner.count; i++)
    section_text(s->inner.items[i], depth + 1, out);
}

static void section_json(const struct section *s, struct text *out) {
  json_open(out, NULL, '{');
  json_fields(out, "name:t calls:i seconds:d", s->name, s->calls, s->seconds);
  json_open(out, "sections", '[');
  for (int i = 0; i < s->inner.count; i++)
    section_json(s->inner.items[i], out);
  json_close(out, ']');
  json_close(out, '}');
}

void profile_text(const struct profile *p, struct text *out) {
  text_addf(out, "%-40s %10s %14s\n", "section", "calls", "time");
  if (p->root)
    section_text(p->root, 0, out);
}

void profile_json(const struct profile *p, struct text *out) {
  if (p->root)
    section_json(p->root, out);
}
