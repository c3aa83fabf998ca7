/* The four steps as kernels for a device: the threads of a group share the columns of a tile. A group of one thread, as
 * processors have them, takes 16 columns at a time, others one each. */
#ifndef SAMPLES_QR_DEVICE_H
#define SAMPLES_QR_DEVICE_H

// clang-format off
static const char device_steps[] = OP_KERNEL(
  enum { STRIP = op_task_threads == 1 ? 16 : 1 };
  struct step { int i, j, k, size; };

  /* Columns c .. c + n - 1 of `top` and `low` get `factor` times the reflection whose vector is the column v. */
  static void reflect_some(op_task_memory double *top, op_task_memory double *low, op_task_memory const double *v,
                           double factor, int rows, int size, int n) {
    double w[STRIP];
    for (int c = 0; c < n; c++)
      w[c] = top[c];
    for (int i = 0; i < rows; i++) {
      const double x = v[i * size];
      for (int c = 0; c < n; c++)
        w[c] += x * low[i * size + c];
    }
    for (int c = 0; c < n; c++) {
      w[c] *= factor;
      top[c] -= w[c];
    }
    for (int i = 0; i < rows; i++) {
      const double x = v[i * size];
      for (int c = 0; c < n; c++)
        low[i * size + c] -= x * w[c];
    }
  }

  static void reflect(op_task_memory double *top, op_task_memory double *low, op_task_memory const double *v,
                      double factor, int rows, int size, int from) {
    for (int c = from + op_task_thread * STRIP; c < size; c += op_task_threads * STRIP)
      if (size - c >= STRIP)
        reflect_some(top + c, low + c, v, factor, rows, size, STRIP);
      else
        reflect_some(top + c, low + c, v, factor, rows, size, size - c);
  }

  /* All threads find the same factor; they share the column. */
  static double make_reflection(op_task_memory double *first, op_task_memory double *column, int rows, int size) {
    double sum = 0;
    for (int i = 0; i < rows; i++)
      sum += column[i * size] * column[i * size];
    const double alpha = *first;
    const double beta = alpha > 0 ? -sqrt(alpha * alpha + sum) : sqrt(alpha * alpha + sum);
    op_task_barrier();
    for (int i = op_task_thread; i < rows && sum != 0; i += op_task_threads)
      column[i * size] /= alpha - beta;
    if (op_task_thread == 0 && sum != 0)
      *first = beta;
    op_task_barrier();
    return sum != 0 ? (beta - alpha) / beta : 0;
  }

  void geqrf(op_task_memory const struct step *s, op_task_memory double *d, op_task_memory double *vectors) {
    const int size = s->size;
    for (int r = 0; r < size; r++) {
      op_task_memory double *row = d + r * size;
      const double factor = make_reflection(row + r, row + size + r, size - r - 1, size);
      if (op_task_thread == 0)
        d[size * size + r] = factor;
      reflect(row, row + size, row + size + r, factor, size - r - 1, size, r + 1);
      op_task_barrier();
    }
    for (int i = op_task_thread; i < size * size + size; i += op_task_threads)
      vectors[i] = d[i];
  }

  void larft(op_task_memory const struct step *s, op_task_memory double *c, op_task_memory const double *d) {
    const int size = s->size;
    for (int r = 0; r < size; r++)
      reflect(c + r * size, c + (r + 1) * size, d + (r + 1) * size + r, d[size * size + r], size - r - 1, size, 0);
  }

  void tsqrf(op_task_memory const struct step *s, op_task_memory double *b, op_task_memory double *d) {
    const int size = s->size;
    for (int r = 0; r < size; r++) {
      op_task_memory double *row = d + r * size;
      const double factor = make_reflection(row + r, b + r, size, size);
      if (op_task_thread == 0)
        b[size * size + r] = factor;
      reflect(row, b, b + r, factor, size, size, r + 1);
      op_task_barrier();
    }
  }

  void ssrft(op_task_memory const struct step *s, op_task_memory double *c, op_task_memory double *top,
             op_task_memory const double *b) {
    const int size = s->size;
    for (int r = 0; r < size; r++)
      reflect(top + r * size, c, b + r, b[size * size + r], size, size, 0);
  });
// clang-format on

#endif
