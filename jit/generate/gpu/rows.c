/* The kernels of messages between ranks: rows of a dat to the bytes of a message and back. */
#include "jit/generate/gpu/write.h"

/* A value is moved as a word of its size; `row` and `step` are the distances of elements and of components, `at`
 * the bytes before the message's first row. */
static void put_rows_kernel(struct generator *g, int bytes, const char *type, bool pack) {
  put_open(g,
           "$kernel %s%d(%s%s $global*dat, %s%s $global*rows, $wide at, const int $global*elements, int "
           "count, int "
           "dim, $wide row, $wide step)",
           pack ? "op2_pack" : "op2_unpack", bytes, pack ? "const " : "", type, pack ? "" : "const ", type);
  put(g, "rows += at / %d;", bytes);
  put(g, "for ($wide i = ($wide)$block * $threads + $thread; i < ($wide)count * dim;");
  put(g, "     i += ($wide)$blocks * $threads)");
  put(g, pack ? "  rows[i] = dat[elements[i / dim] * row + i %% dim * step];"
              : "  dat[elements[i / dim] * row + i %% dim * step] = rows[i];");
  put_close(g);
}

void gpu_rows_text(enum gpu_dialect dialect, struct text *out) {
  const struct gpu_language *language = gpu_language(dialect);
  struct generator g = {.w = language->words, .out = out};
  const struct {
    int bytes;
    const char *type;
  } words[] = {{1, "unsigned char"},
               {2, "unsigned short"},
               {4, "unsigned int"},
               {8, language->words->types[TYPE_ULONGLONG]}};
  for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
    put_rows_kernel(&g, words[w].bytes, words[w].type, true);
    put_rows_kernel(&g, words[w].bytes, words[w].type, false);
  }
}
