#include "picture.h"

#include "beside.h"
#include "memory.h"
#include "options.h"
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels of the longer side: what is larger is thinned out, what is smaller enlarged. */
enum { MOST = 1024, LEAST = 400 };

/* PNG is made of chunks (length, name, content, CRC), the pixels of a zlib stream; its blocks are stored
 * as they are. */
static uint32_t crc_of(uint32_t crc, const unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
  }
  return crc;
}

static void put32(unsigned char *at, uint32_t value) {
  for (int i = 0; i < 4; i++)
    at[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void write_chunk(FILE *file, const char *name, const unsigned char *content, size_t size) {
  unsigned char head[8], tail[4];
  put32(head, (uint32_t)size);
  memcpy(head + 4, name, 4);
  put32(tail, ~crc_of(crc_of(~0u, head + 4, 4), content, size));
  fwrite(head, 1, sizeof head, file);
  fwrite(content, 1, size, file);
  fwrite(tail, 1, sizeof tail, file);
}

/* A zlib stream of stored blocks; returns its size. */
static size_t wrap(const unsigned char *bytes, size_t count, unsigned char *stream) {
  enum { BLOCK = 65535 };
  size_t used = 0;
  uint32_t low = 1, high = 0;
  stream[used++] = 0x78;
  stream[used++] = 0x01;
  for (size_t at = 0; at < count; at += BLOCK) {
    size_t size = count - at < BLOCK ? count - at : BLOCK;
    stream[used++] = at + size == count;
    stream[used++] = (unsigned char)size;
    stream[used++] = (unsigned char)(size >> 8);
    stream[used++] = (unsigned char)~size;
    stream[used++] = (unsigned char)(~size >> 8);
    memcpy(stream + used, bytes + at, size);
    used += size;
  }
  for (size_t i = 0; i < count; i++) {
    low = (low + bytes[i]) % 65521;
    high = (high + low) % 65521;
  }
  put32(stream + used, high << 16 | low);
  return used + 4;
}

/* t from 0 to 1: dark blue, white, dark red; what is no number is grey. */
static void colour(double t, unsigned char pixel[3]) {
  if (isnan(t)) {
    memset(pixel, 96, 3);
    return;
  }
  double towards = fabs(2 * t - 1);
  double strong = 1 - 0.45 * towards * towards, weak = 1 - towards;
  pixel[0] = (unsigned char)lrint(255 * (t < 0.5 ? weak : strong));
  pixel[1] = (unsigned char)lrint(255 * weak);
  pixel[2] = (unsigned char)lrint(255 * (t < 0.5 ? strong : weak));
}

/* What the colours stand for. */
struct range {
  double low, high;
};

static struct range range_of(const double *value, long long count) {
  struct range range = {INFINITY, -INFINITY};
  for (long long i = 0; i < count; i++) {
    if (!isfinite(value[i]))
      continue;
    range.low = fmin(range.low, value[i]);
    range.high = fmax(range.high, value[i]);
  }
  return range;
}

/* Every `step`-th value is `times` pixels wide and high; one of the two is 1. */
static unsigned char *paint(int width, int step, int times, int columns, int rows, const double *value,
                            struct range range) {
  const double low = range.low, high = range.high;
  unsigned char *pixels = room((3LL * columns + 1) * rows, 1), *at = pixels;
  for (int r = rows - 1; r >= 0; r--) {
    *at++ = 0; /* no filter */
    for (int c = 0; c < columns; c++, at += 3) {
      double v = value[(long long)r / times * step * width + (long long)c / times * step];
      colour(!isfinite(v) ? NAN : high > low ? (v - low) / (high - low) : 0.5, at);
    }
  }
  return pixels;
}

/* Whether the point lies in the quadrilateral: a ray from it to the right meets an odd number of its sides. */
static int inside(double x, double y, double corner[4][2]) {
  int odd = 0;
  for (int k = 0; k < 4; k++) {
    const double *a = corner[k], *b = corner[(k + 1) % 4];
    if ((a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
      odd = !odd;
  }
  return odd;
}

static int pixel_of(double at, int most) {
  return at < 0 ? 0 : at < most ? (int)at : most - 1;
}

/* `corner` in pixels; the middles of pixels are at halves. A cell too small to hold one has the pixel that its first
 * corner is in. */
static void fill_cell(int width, int height, double *image, double corner[4][2], double value) {
  double low[2] = {corner[0][0], corner[0][1]}, high[2] = {corner[0][0], corner[0][1]};
  for (int k = 1; k < 4; k++)
    for (int d = 0; d < 2; d++) {
      low[d] = fmin(low[d], corner[k][d]);
      high[d] = fmax(high[d], corner[k][d]);
    }
  if (!(high[0] >= 0 && low[0] < width && high[1] >= 0 && low[1] < height))
    return;
  int first = pixel_of(low[0], width), last = pixel_of(high[0], width);
  for (int j = pixel_of(low[1], height); j <= pixel_of(high[1], height); j++)
    for (int i = first; i <= last; i++)
      if (inside(i + 0.5, j + 0.5, corner))
        image[(size_t)j * (size_t)width + (size_t)i] = value;
  const double x = corner[0][0], y = corner[0][1];
  if (x >= 0 && x < width && y >= 0 && y < height) {
    double *pixel = image + (size_t)y * (size_t)width + (size_t)x;
    *pixel = isnan(*pixel) ? value : *pixel;
  }
}

int picture_cells(const char *path, struct picture_view view, int cells, const int *corners,
                  const double *place, const double *value) {
  const double across = view.right - view.left, up = view.top - view.bottom,
               scale = (double)MOST / fmax(across, up);
  const int width = (int)ceil(across * scale), height = (int)ceil(up * scale);
  double *image = room((long long)width * height, sizeof *image);
  for (long long i = 0; i < (long long)width * height; i++)
    image[i] = NAN;
  for (int c = 0; c < cells; c++) {
    double corner[4][2];
    for (int k = 0; k < 4; k++) {
      const double *point = place + 2 * (size_t)corners[4 * (size_t)c + (size_t)k];
      corner[k][0] = (point[0] - view.left) * scale;
      corner[k][1] = (point[1] - view.bottom) * scale;
    }
    fill_cell(width, height, image, corner, value[c]);
  }
  int failed = picture_png(path, width, height, image);
  free(image);
  return failed;
}

int picture_png(const char *path, int width, int height, const double *value) {
  static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  const int longest = width > height ? width : height, step = (longest + MOST - 1) / MOST,
            times = longest < LEAST ? (LEAST + longest - 1) / longest : 1;
  const int columns = (width + step - 1) / step * times, rows = (height + step - 1) / step * times;
  struct beside out;
  if (beside_open(&out, path)) {
    options_refuse("%s: %s", path, strerror(errno));
    check_unwritten();
    return -1;
  }
  unsigned char head[13] = {[8] = 8, [9] = 2}; /* eight bits for each of red, green, blue */
  put32(head, (uint32_t)columns);
  put32(head + 4, (uint32_t)rows);
  const struct range range = range_of(value, (long long)width * height);
  unsigned char *pixels = paint(width, step, times, columns, rows, value, range);
  size_t count = (3 * (size_t)columns + 1) * (size_t)rows;
  unsigned char *stream = room((long long)count + (long long)count / 1000 + 64, 1);
  size_t size = wrap(pixels, count, stream);
  fwrite(signature, 1, sizeof signature, out.file);
  write_chunk(out.file, "IHDR", head, sizeof head);
  write_chunk(out.file, "IDAT", stream, size);
  write_chunk(out.file, "IEND", head, 0);
  free(pixels);
  free(stream);
  if (beside_close(&out)) {
    options_refuse("%s: the file cannot be written: %s", path, strerror(errno));
    check_unwritten();
    return -1;
  }
  if (range.low <= range.high)
    printf("wrote %s, %d x %d pixels: blue is %.6g, red %.6g\n", path, columns, rows, range.low, range.high);
  else
    printf("wrote %s, %d x %d pixels, all grey: no value is a number\n", path, columns, rows);
  return 0;
}
