/* Sections of a program that it times itself, one within another. */
#ifndef OP2JIT_REPORT_PROFILE_H
#define OP2JIT_REPORT_PROFILE_H

#include "base/text.h"

struct profile;

/* The outermost section begins. NULL: no memory. */
struct profile *profile_new(const char *name);
void profile_free(struct profile *p);
/* Within the section that was entered last; one that is entered again goes on. */
void profile_enter(struct profile *p, const char *name);
void profile_leave(struct profile *p);
/* Leave all. */
void profile_end(struct profile *p);
void profile_text(const struct profile *p, struct text *out);
void profile_json(const struct profile *p, struct text *out);

#endif
