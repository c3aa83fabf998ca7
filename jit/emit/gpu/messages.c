/* Kernels of messages between ranks: rows of a dat to the bytes of a message and back. */
#include "jit/emit/gpu/write.h"

/* A value is moved as a word of its size; `row` and `step` are the distances of elements and of components, `at`
 * the bytes before the message's first row. */
static void put_rows_kernel(struct generator *g, int bytes, const char *type, bool pack) {
  put_open(g,
           "$kernel %s%d(%s%s $global*dat, %s%s $global*rows, $wide at, const int $global*elements, int "
           "count, int dim, $wide row, $wide step)",
           pack ? "op2_pack" : "op2_unpack", bytes, pack ? "const " : "", type, pack ? "" : "const ", type);
  put(g, "rows += at / %d;", bytes);
  put(g, "for ($wide i = ($wide)$block * $threads + $thread; i < ($wide)count * dim;");
  put(g, "     i += ($wide)$blocks * $threads)");
  put(g, pack ? "  rows[i] = dat[elements[i / dim] * row + i %% dim * step];"
              : "  dat[elements[i / dim] * row + i %% dim * step] = rows[i];");
  put_close(g);
}

struct row_word {
  int bytes;
  const char *type;
};

/* All rows of a direction in one launch. A row of the table: addresses of values, of elements and in the messages, the
 * distances of elements and of components, how many of both, the bytes of a word, the first of its blocks. */
static void put_table_kernel(struct generator *g, const struct row_word *words, int nwords, bool pack) {
  const char *read = pack ? "const " : "", *written = pack ? "" : "const ";
  put_open(g, "$kernel %s(const unsigned long long *table, int n)", pack ? "op2_pack" : "op2_unpack");
  put(g, "int s = 0;");
  put(g, "while (s + 1 < n && table[%d * s + %d] <= $block) s++;", GPU_ROWS_WORDS, 2 * GPU_ROWS_WORDS - 1);
  put(g, "table += %d * s;", GPU_ROWS_WORDS);
  put(g, "const int *elements = (const int *)OP2_ADDRESS(table[1]), count = (int)table[5], dim = "
         "(int)table[6];");
  put(g, "const $wide row = ($wide)table[3], step = ($wide)table[4], first = ($wide)table[8];");
  put(g, "const $wide apart = ((s + 1 < n ? ($wide)table[%d] : ($wide)$blocks) - first) * $threads;",
      2 * GPU_ROWS_WORDS - 1);
  put(g, "const $wide begin = (($wide)$block - first) * $threads + $thread;");
  for (int w = 0; w < nwords; w++) {
    put_open(g, "if (table[7] == %d)", words[w].bytes);
    put(g, "%s%s *dat = (%s%s *)OP2_ADDRESS(table[0]);", read, words[w].type, read, words[w].type);
    put(g, "%s%s *rows = (%s%s *)OP2_ADDRESS(table[2]);", written, words[w].type, written, words[w].type);
    put(g, "for ($wide i = begin; i < ($wide)count * dim; i += apart)");
    put(g, pack ? "  rows[i] = dat[elements[i / dim] * row + i %% dim * step];"
                : "  dat[elements[i / dim] * row + i %% dim * step] = rows[i];");
    put_close(g);
  }
  put_close(g);
}

void gpu_rows_text(enum gpu_dialect dialect, struct text *out) {
  const struct gpu_language *language = gpu_language(dialect);
  struct generator g = {.w = language->words, .out = out};
  const struct row_word words[] = {{1, "unsigned char"},
                                   {2, "unsigned short"},
                                   {4, "unsigned int"},
                                   {8, language->words->types[TYPE_ULONGLONG]}};
  enum { WORDS = sizeof words / sizeof *words };
  if (gpu_has_row_tables(dialect))
    text_add(out, "#ifndef OP2_ADDRESS\n#define OP2_ADDRESS(word) (word)\n#endif\n");
  for (int pack = 0; pack < 2; pack++)
    if (gpu_has_row_tables(dialect))
      put_table_kernel(&g, words, WORDS, pack);
    else
      for (int w = 0; w < WORDS; w++)
        put_rows_kernel(&g, words[w].bytes, words[w].type, pack);
}
