/* What the hand-written OpenMP loops use where several elements add to one target: blocks of elements,
 * coloured so that no two blocks of one colour have a target in common. */
#ifndef BENCH_COMMON_COLOURING_H
#define BENCH_COMMON_COLOURING_H

struct colouring {
  int block_size, blocks, colours;
  int *first; /* colour c has the blocks order[first[c]] .. order[first[c+1]-1] */
  int *order;
  int elements;
};

/* `table` holds elements*arity numbers below `targets`. Free with colouring_free. */
struct colouring colouring_make(int elements, int arity, const int *table, int targets, int block_size);
void colouring_free(struct colouring *colouring);

/* The elements begin .. end-1 of a block. */
static inline int colouring_begin(const struct colouring *colouring, int block) {
  return block * colouring->block_size;
}
static inline int colouring_end(const struct colouring *colouring, int block) {
  int end = (block + 1) * colouring->block_size;
  return end < colouring->elements ? end : colouring->elements;
}

#endif
