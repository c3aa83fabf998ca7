/* What ./dev bench cpu leaves: figures as JSON, bars as SVG. */
#include "cpu.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const cpu_contender_names[CPU_CONTENDERS] = {"hand-written, serial", "hand-written, OpenMP",
                                                         "op2jit"};

static int finish(FILE *file, const char *path) {
  int failed = ferror(file);
  if (fclose(file) || failed) {
    fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
    return -1;
  }
  return 0;
}

static FILE *begin(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file)
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
  return file;
}

static void json_row(FILE *file, const struct cpu_row *row, double triad) {
  fprintf(file, "      {\"name\": \"%s\", \"bytes\": %.0f, \"difference\": %.3e", row->name, row->bytes,
          row->difference);
  for (int c = 0; c < CPU_CONTENDERS; c++) {
    const struct cpu_figure *f = &row->figure[c];
    fprintf(
        file,
        ",\n       \"%s\": {\"seconds\": %.6e, \"low\": %.6e, \"high\": %.6e, \"gbytes_per_second\": %.3f, "
        "\"share_of_triad\": %.4f}",
        cpu_contender_names[c], f->median, f->low, f->high, 1e-9 * row->bytes / f->median,
        row->bytes / f->median / triad);
  }
  fprintf(file, "}");
}

int cpu_write_json(const struct cpu_results *results, const char *path) {
  FILE *file = begin(path);
  if (!file)
    return -1;
  fprintf(file, "{\"benchmark\": \"cpu\", \"teams\": [\n");
  for (int t = 0; t < results->teams; t++) {
    fprintf(file, "  {\"threads\": %d, \"triad_gbytes_per_second\": %.3f, \"cases\": [\n",
            results->threads[t], 1e-9 * results->triad[t]);
    for (int r = 0; r < results->rows; r++) {
      json_row(file, &results->row[t][r], results->triad[t]);
      fprintf(file, r + 1 < results->rows ? ",\n" : "\n");
    }
    fprintf(file, "  ]}%s\n", t + 1 < results->teams ? "," : "");
  }
  fprintf(file, "]}\n");
  return finish(file, path);
}

/* Bars: the rate of each contender as a share of the triad, with a line for the spread. */
static const int left = 190, wide = 560, bar = 11, gap = 10, top = 50;

static void svg_bar(FILE *file, double y, const struct cpu_row *row, int contender, double triad) {
  static const char *const colour[CPU_CONTENDERS] = {"#b8bcc4", "#6b7a94", "#c8502d"};
  const struct cpu_figure *f = &row->figure[contender];
  double full = wide / 1.25, share = row->bytes / f->median / triad;
  double low = fmin(wide, full * row->bytes / f->high / triad);
  double high = fmin(wide, full * row->bytes / f->low / triad);
  fprintf(file, "<rect x='%d' y='%.1f' width='%.1f' height='%d' fill='%s'/>\n", left, y,
          fmin(wide, full * share), bar - 1, colour[contender]);
  fprintf(file, "<path d='M%.1f %.1fH%.1f' stroke='#222'/>\n", left + low, y + bar / 2.0 - 0.5, left + high);
  fprintf(file, "<text x='%.1f' y='%.1f'>%.2f ms</text>\n", left + high + 5, y + bar - 2, 1e3 * f->median);
}

int cpu_write_svg(const struct cpu_results *results, const char *path) {
  FILE *file = begin(path);
  if (!file)
    return -1;
  int row_height = CPU_CONTENDERS * bar + gap;
  int team_height = top + results->rows * row_height;
  fprintf(file,
          "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' "
          "font-size='10'>\n<rect width='100%%' height='100%%' fill='white'/>\n",
          left + wide + 70, results->teams * team_height + 20);
  for (int t = 0; t < results->teams; t++) {
    double y = t * team_height + top;
    fprintf(
        file,
        "<text x='10' y='%.0f' font-size='13'>%d thread%s: share of the triad's %.1f GB/s (the line); grey "
        "hand-written serial, blue OpenMP, red op2jit</text>\n",
        y - 20, results->threads[t], results->threads[t] > 1 ? "s" : "", 1e-9 * results->triad[t]);
    fprintf(file, "<path d='M%.1f %.0fV%.0f' stroke='#999'/>\n", left + wide / 1.25, y - 8,
            y + results->rows * row_height);
    for (int r = 0; r < results->rows; r++, y += row_height) {
      const struct cpu_row *row = &results->row[t][r];
      fprintf(file, "<text x='%d' y='%.1f' text-anchor='end'>%s</text>\n", left - 8, y + 1.8 * bar,
              row->name);
      for (int c = 0; c < CPU_CONTENDERS; c++)
        svg_bar(file, y + c * bar, row, c, results->triad[t]);
    }
  }
  fprintf(file, "</svg>\n");
  return finish(file, path);
}
