/* Globals that the library keeps, so that loops can hand values to later loops and the program need not look. */
#ifndef OP2JIT_GLOBALS_H
#define OP2JIT_GLOBALS_H

#include "mesh/data.h"
#include "mesh/mesh.h"

struct gbl {
  char *name;
  op_gbl handle;
  int dim;
  enum type_code type;
  size_t bytes;
  unsigned char *value; /* the host's */
  bool stale[SPACES];   /* the newest values are in another space */
  bool common;          /* the values are known to be the same on all ranks */
  int late;             /* results on their way to it, see record/late.c */
};

/* `value` NULL: zeros. NULL with the error set. */
struct gbl *gbl_new(struct op_context *ctx, int dim, const char *type, const void *value, const char *name,
                    struct error *err);
/* The one that was made last goes, because another rank could not make it. */
void gbl_undo(struct op_context *ctx, struct gbl *gbl);
void globals_free(struct op_context *ctx);
/* Results that are on their way have come: then the host's values may be changed. All ranks at the same call. */
int gbl_await(struct op_context *ctx, struct gbl *gbl, struct error *err);
/* The same, and the newest values are there: they are copied if they are not, from one device to another through the host. */
int gbl_need(struct op_context *ctx, struct gbl *gbl, enum space space, struct error *err);
/* New values, the same on all ranks; NULL: zeros. */
int gbl_put(struct op_context *ctx, struct gbl *gbl, const void *values, struct error *err);
/* The values there are the newest ones now. */
void gbl_wrote(struct gbl *gbl, enum space space);

#endif
