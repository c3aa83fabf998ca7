/* op2jit mesh draw: a mesh as a picture (SVG). What the pictures show is made by the plans that loops run by. */
#ifndef OP2JIT_CLI_DRAW_H
#define OP2JIT_CLI_DRAW_H

#include "base/text.h"
#include "cli/mesh_format.h"

enum {
  SHADES = 8,
  SHADE_NONE = -1,
  SHADE_SHARED = -2
}; /* a colour 0 .. SHADES-1 (others wrap round), or one of these */

/* A mesh with a place in the plane for its elements. */
struct picture {
  const struct mesh_file *mesh;
  const struct mesh_table *points; /* the coordinates */
  const struct mesh_table **shape; /* of each set: its map to the points, or NULL */
  struct text *out;                /* of the SVG */
  double low[2], high[2];          /* of the coordinates */
  int panels;
};

/* One mesh of the picture. */
struct panel {
  const char *title;
  int **shade;                     /* of each set, for each element; NULL: it is drawn plain */
  int only;                        /* the set that has numbers; -1: all small ones, -2: none */
  const struct mesh_table *arrows; /* a map whose rows are arrows; NULL: none */
};

/* *p is zeroed. OP_ERR_FILE: the mesh has no coordinates or too many elements for a picture. */
int picture_open(struct picture *p, const struct mesh_file *m, struct text *out, struct error *err);
void picture_panel(struct picture *p, const struct panel *panel);
/* The whole SVG, around the panels that were drawn. */
void picture_close(struct picture *p, struct text *svg);
void picture_free(struct picture *p);
/* Where an element is: its own coordinates, or the middle of its points. */
void picture_place(const struct picture *p, int set, long long element, double place[2]);

/* What can be shown. */
struct view_wish {
  int parts;                     /* blocks' size, threads, tiles or ranks */
  const struct mesh_table *loop; /* the map through which a loop adds */
};
struct view {
  const char *word;
  int parts; /* unless the user says */
  int (*draw)(struct picture *p, const struct view_wish *wish, struct error *err);
};
extern const struct view draw_views[]; /* a row without a word ends it */

#endif
