/* The mesh of the tutorial: a square of N x N quadrilaterals, as arrays. */
enum { N = 20, NODES = (N + 1) * (N + 1), CELLS = N * N, EDGES = 2 * N * (N - 1), SIDES = 4 * N };

static double grid_x[NODES][2];
static int grid_corners[CELLS][4], grid_pairs[EDGES][2], grid_sides[SIDES][1], grid_kinds[SIDES];

static void make_grid(void) {
  int edge = 0, side = 0;
  for (int i = 0; i < NODES; i++) {
    grid_x[i][0] = (double)(i % (N + 1)) / N;
    grid_x[i][1] = (double)(i / (N + 1)) / N;
  }
  for (int c = 0; c < CELLS; c++) {
    const int column = c % N, row = c / N, corner = row * (N + 1) + column;
    const int corners[4] = {corner, corner + 1, corner + N + 2, corner + N + 1};
    for (int k = 0; k < 4; k++)
      grid_corners[c][k] = corners[k];
    for (int k = 0; k < 2; k++)
      if (k == 0 ? column + 1 < N : row + 1 < N) {
        grid_pairs[edge][0] = c;
        grid_pairs[edge++][1] = k == 0 ? c + 1 : c + N;
      }
    const int outside[4] = {column == 0, column == N - 1, row == 0, row == N - 1};
    for (int k = 0; k < 4; k++)
      if (outside[k]) {
        grid_kinds[side] = k; /* 0: left, 1: right, 2: below, 3: above */
        grid_sides[side++][0] = c;
      }
  }
}
