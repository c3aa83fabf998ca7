/* The SVG: cells below, edges above them, points on top; colours that also colour-blind people tell apart. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draw/draw.h"

enum { WIDTH = 340, MARGIN = 24, TITLE = 26, ACROSS = 2, MOST_ELEMENTS = 20000, MOST_NUMBERS = 150 };

static double value_at(const struct mesh_table *t, long long row, int column) {
  const long long at = row * t->columns + column;
  return t->type == TYPE_DOUBLE ? ((const double *)t->values)[at] : (double)((const float *)t->values)[at];
}

static int entry(const struct mesh_table *t, long long row, int column) {
  return ((const int *)t->values)[row * t->columns + column];
}

void picture_place(const struct picture *p, int set, long long element, double place[2]) {
  const struct mesh_table *shape = p->shape[set];
  const int count = shape ? shape->columns : 1;
  place[0] = place[1] = 0;
  for (int c = 0; c < count; c++)
    for (int d = 0; d < 2; d++)
      place[d] += value_at(p->points, shape ? entry(shape, element, c) : element, d) / count;
}

static bool is_placed(const struct picture *p, int set) {
  return set == p->points->set || p->shape[set];
}

static int find_shapes(struct picture *p, struct error *err) {
  const struct mesh_file *m = p->mesh;
  p->shape = calloc((size_t)m->nsets + 1, sizeof *p->shape);
  if (!p->shape)
    return error_memory(err, "a picture", (size_t)m->nsets);
  for (int i = m->ntables - 1; i >= 0; i--) /* the first of a set stays */
    if (m->tables[i].to == p->points->set && m->tables[i].set != p->points->set)
      p->shape[m->tables[i].set] = &m->tables[i];
  return OP_OK;
}

static int check_entries(const struct mesh_file *m, struct error *err) {
  for (int i = 0; i < m->ntables; i++) {
    struct mesh_map_info info = {0};
    if (m->tables[i].to < 0)
      continue;
    int code = mesh_map_look(m, &m->tables[i], &info, err);
    if (code)
      return code;
    if (info.bad.count)
      return error_set(err, OP_ERR_MAP_RANGE,
                       "map %s has entries outside of its set; op2jit mesh check says which",
                       m->tables[i].name);
  }
  return OP_OK;
}

int picture_open(struct picture *p, const struct mesh_file *m, struct text *out, struct error *err) {
  const int points = mesh_find_points(m);
  if (points < 0)
    return mesh_points_error(m, err);
  *p = (struct picture){.mesh = m, .points = &m->tables[points], .out = out};
  long long elements = 0;
  for (int s = 0; s < m->nsets; s++)
    elements += m->sets[s].size;
  if (elements > MOST_ELEMENTS || m->sets[p->points->set].size == 0)
    return error_set(err, OP_ERR_FILE, "the mesh has %lld elements; a picture is for 1 to %d", elements,
                     MOST_ELEMENTS);
  for (int d = 0; d < 2; d++) {
    p->low[d] = p->high[d] = value_at(p->points, 0, d);
    for (long long i = 1; i < m->sets[p->points->set].size; i++) {
      p->low[d] = fmin(p->low[d], value_at(p->points, i, d));
      p->high[d] = fmax(p->high[d], value_at(p->points, i, d));
    }
  }
  int code = check_entries(m, err);
  return code ? code : find_shapes(p, err);
}

void picture_free(struct picture *p) {
  free(p->shape);
  *p = (struct picture){0};
}

/* ---- one panel ---- */

static double scale(const struct picture *p) {
  const double wide = p->high[0] - p->low[0], high = p->high[1] - p->low[1], most = fmax(wide, high);
  return most > 0 ? WIDTH / most : 1;
}

static int height_of(const struct picture *p) {
  return (int)((p->high[1] - p->low[1]) * scale(p)) + TITLE + 2 * MARGIN;
}

static void to_paper(const struct picture *p, const double place[2], double paper[2]) {
  paper[0] = MARGIN + (place[0] - p->low[0]) * scale(p);
  paper[1] = TITLE + MARGIN + (p->high[1] - place[1]) * scale(p);
}

static void place_of_point(const struct picture *p, int point, double paper[2]) {
  const double place[2] = {value_at(p->points, point, 0), value_at(p->points, point, 1)};
  to_paper(p, place, paper);
}

static void add_class(struct text *out, const char *kind, const struct panel *panel, int set, long long e) {
  const int shade = panel->shade && panel->shade[set] ? panel->shade[set][e] : SHADE_NONE;
  text_addf(out, " class=\"%s", kind);
  if (shade >= 0)
    text_addf(out, " s%d\"", shade % SHADES);
  else
    text_addf(out, "%s\"", shade == SHADE_SHARED ? " shared" : "");
}

static void draw_element(const struct picture *p, const struct panel *panel, int set, long long e) {
  const struct mesh_table *shape = p->shape[set];
  double paper[2];
  if (!shape) {
    place_of_point(p, (int)e, paper);
    text_add(p->out, "<circle");
    add_class(p->out, "point", panel, set, e);
    text_addf(p->out, " cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", paper[0], paper[1]);
    return;
  }
  text_add(p->out, shape->columns > 2 ? "<polygon" : "<polyline");
  add_class(p->out, shape->columns > 2 ? "cell" : "edge", panel, set, e);
  text_add(p->out, " points=\"");
  for (int c = 0; c < shape->columns; c++) {
    place_of_point(p, entry(shape, e, c), paper);
    text_addf(p->out, "%s%.1f,%.1f", c ? " " : "", paper[0], paper[1]);
  }
  text_add(p->out, "\"/>\n");
}

static void draw_number(const struct picture *p, int set, long long e) {
  double place[2], paper[2];
  picture_place(p, set, e, place);
  to_paper(p, place, paper);
  const bool point = !p->shape[set];
  text_addf(p->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%lld</text>\n", point ? "of-point" : "number",
            paper[0] + (point ? 7 : 0), paper[1] + (point ? -7 : 4), e);
}

static void draw_arrows(const struct picture *p, const struct mesh_table *map) {
  if (!is_placed(p, map->set) || !is_placed(p, map->to))
    return;
  for (long long e = 0; e < p->mesh->sets[map->set].size; e++)
    for (int c = 0; c < map->columns; c++) {
      double from[2], to[2], a[2], b[2];
      picture_place(p, map->set, e, from);
      picture_place(p, map->to, entry(map, e, c), to);
      to_paper(p, from, a);
      to_paper(p, to, b);
      text_addf(p->out,
                "<line class=\"arrow\" marker-end=\"url(#head)\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                "y2=\"%.1f\"/>\n",
                a[0] + 0.15 * (b[0] - a[0]), a[1] + 0.15 * (b[1] - a[1]), a[0] + 0.8 * (b[0] - a[0]),
                a[1] + 0.8 * (b[1] - a[1]));
    }
}

static bool has_numbers(const struct picture *p, const struct panel *panel, int set) {
  return (panel->only == -1 || panel->only == set) && p->mesh->sets[set].size <= MOST_NUMBERS;
}

/* Larger things first: cells have more points than edges, and points have no shape. */
static int layer_of(const struct picture *p, int set) {
  return !p->shape[set] ? 2 : p->shape[set]->columns > 2 ? 0 : 1;
}

void picture_panel(struct picture *p, const struct panel *panel) {
  text_addf(p->out, "<g transform=\"translate(%d %d)\">\n<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n",
            p->panels % ACROSS * (WIDTH + 2 * MARGIN), p->panels / ACROSS * height_of(p), MARGIN, TITLE,
            panel->title);
  p->panels++;
  for (int layer = 0; layer < 3; layer++)
    for (int s = 0; s < p->mesh->nsets; s++)
      for (long long e = 0; is_placed(p, s) && layer_of(p, s) == layer && e < p->mesh->sets[s].size; e++)
        draw_element(p, panel, s, e);
  if (panel->arrows)
    draw_arrows(p, panel->arrows);
  for (int s = 0; s < p->mesh->nsets; s++)
    for (long long e = 0; is_placed(p, s) && has_numbers(p, panel, s) && e < p->mesh->sets[s].size; e++)
      draw_number(p, s, e);
  text_add(p->out, "</g>\n");
}

/* ---- around them ---- */

static const char style[] = "<style>\n"
                            "text { font: 11px sans-serif; fill: #222; text-anchor: middle }\n"
                            ".title { font-size: 14px; font-weight: bold; text-anchor: start }\n"
                            ".of-point { fill: #0b5394; text-anchor: start; font-size: 10px }\n"
                            ".cell { fill: #f4f4f4; stroke: #bbb; stroke-width: 1 }\n"
                            ".edge { fill: none; stroke: #888; stroke-width: 2.5 }\n"
                            ".point { fill: #555 }\n"
                            ".arrow { stroke: #d55e00; stroke-width: 1.4 }\n"
                            "@media (prefers-color-scheme: dark) { text { fill: #eee } .of-point { fill: "
                            "#9cf } .cell { fill: #333; stroke: #777 } "
                            ".point { fill: #ccc } }\n";

static const char *const shades[SHADES] = {"#56b4e9", "#e69f00", "#009e73", "#cc79a7",
                                           "#0072b2", "#d55e00", "#f0e442", "#999999"};

void picture_close(struct picture *p, struct text *svg) {
  const int wide = (p->panels < ACROSS ? p->panels : ACROSS) * (WIDTH + 2 * MARGIN);
  const int high = (p->panels + ACROSS - 1) / ACROSS * height_of(p);
  text_addf(svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "role=\"img\">\n%s",
            wide, high, wide, high, style);
  for (int i = 0; i < SHADES; i++)
    text_addf(
        svg,
        ".cell.s%d, .point.s%d { fill: %s; fill-opacity: 0.6 } .edge.s%d { stroke: %s; stroke-width: 4 }\n",
        i, i, shades[i], i, shades[i]);
  text_add(
      svg,
      ".edge.shared { stroke: #000; stroke-dasharray: 5 3; stroke-width: 3 } .cell.shared { fill: #fff }\n"
      "</style>\n<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"6\" "
      "markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"#d55e00\"/></marker></defs>\n");
  text_add(svg, text_str(p->out));
  text_add(svg, "</svg>\n");
}
