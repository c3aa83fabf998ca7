/* The tasks as kernels for a device. There is no recursion: the parts of a cell lie behind one another, and a walk from the
 * root keeps a stack. Each thread of a group adds to particles of its own, so that forces are found from both sides. */
#ifndef SAMPLES_BARNES_HUT_DEVICE_H
#define SAMPLES_BARNES_HUT_DEVICE_H

#pragma GCC diagnostic ignored "-Woverlength-strings" /* a warning about compilers of 1999 */
// clang-format off
static const char device_forces[] = OP_KERNEL(
  struct particle { double x[3], v[3], mass; };
  struct force { double a[3], potential; };
  struct mass { double mass, centre[3]; };
  struct cell {
    double low[3], size;
    int first, count, child, end;
    long long resource, mass_task, pull;
  };
  struct cells { int one, other; double soft2, angle; };
  enum { DEEP = 256 };

  static int near_to(op_task_memory const struct cell *a, op_task_memory const struct cell *b) {
    const double little = 1e-9 * (a->size + b->size);
    for (int k = 0; k < 3; k++)
      if (a->low[k] > b->low[k] + b->size + little || b->low[k] > a->low[k] + a->size + little)
        return 0;
    return 1;
  }

  static void pull_one(op_task_memory const struct particle *a, op_task_memory struct force *f,
                       op_task_memory const double *x, double mass, double soft2) {
    double d[3];
    double r2 = soft2;
    for (int k = 0; k < 3; k++) {
      d[k] = x[k] - a->x[k];
      r2 += d[k] * d[k];
    }
    const double s = 1 / sqrt(r2);
    const double s3 = mass * s * s * s;
    for (int k = 0; k < 3; k++)
      f->a[k] += s3 * d[k];
    f->potential -= mass * s;
  }

  /* The particles of the leaf b act on those of the leaf a. */
  static void act_leaves(op_task_memory const struct cell *a, op_task_memory const struct cell *b,
                         op_task_memory const struct particle *p, op_task_memory struct force *f, double soft2) {
    for (int i = a->first + op_task_thread; i < a->first + a->count; i += op_task_threads)
      for (int j = b->first; j < b->first + b->count; j++)
        if (i != j)
          pull_one(&p[i], &f[i], p[j].x, p[j].mass, soft2);
  }

  static int is_leaf(op_task_memory const struct cell *c) {
    return !c->child && c->count;
  }

  /* All leaves of the cell b act on those of the cell a that they touch. Its parts are the cells child .. end - 1. */
  static void act_cells(op_task_memory const struct cell *tree, int a, int b, op_task_memory const struct particle *p,
                        op_task_memory struct force *f, double soft2) {
    const int a_first = tree[a].child ? tree[a].child : a;
    const int a_end = tree[a].child ? tree[a].end : a + 1;
    const int b_first = tree[b].child ? tree[b].child : b;
    const int b_end = tree[b].child ? tree[b].end : b + 1;
    for (int i = a_first; i < a_end; i++)
      for (int j = b_first; is_leaf(&tree[i]) && j < b_end; j++)
        if (is_leaf(&tree[j]) && near_to(&tree[i], &tree[j]))
          act_leaves(&tree[i], &tree[j], p, f, soft2);
  }

  void self(op_task_memory const struct cells *c, op_task_memory struct force *own,
            op_task_memory const struct cell *tree, op_task_memory const struct particle *p) {
    act_cells(tree, c->one, c->one, p, own - tree[c->one].first, c->soft2);
  }

  void pair(op_task_memory const struct cells *c, op_task_memory struct force *one, op_task_memory struct force *other,
            op_task_memory const struct cell *tree, op_task_memory const struct particle *p) {
    act_cells(tree, c->one, c->other, p, one - tree[c->one].first, c->soft2);
    act_cells(tree, c->other, c->one, p, other - tree[c->other].first, c->soft2);
  }

  static void pull_leaf(op_task_memory const struct cells *c, op_task_memory const struct cell *leaf,
                        op_task_memory struct force *f, op_task_memory const struct cell *tree,
                        op_task_memory const struct particle *p, op_task_memory const struct mass *m) {
    int stack[DEEP];
    int depth = 1;
    stack[0] = 0;
    while (depth > 0) {
      const int at = stack[--depth];
      op_task_memory const struct cell *from = &tree[at];
      if (!from->count)
        continue;
      const int touches = near_to(leaf, from);
      double d2 = 0;
      for (int k = 0; k < 3; k++) {
        const double d = m[at].centre[k] - (leaf->low[k] + leaf->size / 2);
        d2 += d * d;
      }
      const double distance = sqrt(d2) - 0.87 * leaf->size;
      if (!touches && distance > 0 && from->size < c->angle * distance) {
        for (int i = leaf->first + op_task_thread; i < leaf->first + leaf->count; i += op_task_threads)
          pull_one(&p[i], &f[i], m[at].centre, m[at].mass, c->soft2);
      } else if (from->child) {
        for (int o = 8; o-- > 0 && depth < DEEP;)
          stack[depth++] = from->child + o;
      } else if (!touches)
        act_leaves(leaf, from, p, f, c->soft2);
    }
  }

  void pull(op_task_memory const struct cells *c, op_task_memory struct force *own,
            op_task_memory const struct cell *tree, op_task_memory const struct particle *p,
            op_task_memory const struct mass *m) {
    const int first = tree[c->one].child ? tree[c->one].child : c->one;
    const int end = tree[c->one].child ? tree[c->one].end : c->one + 1;
    for (int i = first; i < end; i++)
      if (is_leaf(&tree[i]))
        pull_leaf(c, &tree[i], own - tree[c->one].first, tree, p, m);
  }

  static void find_mass(op_task_memory const struct cell *tree, int at, op_task_memory const struct particle *p,
                        op_task_memory struct mass *m) {
    double sum[3];
    double mass = 0;
    for (int k = 0; k < 3; k++)
      sum[k] = 0;
    for (int o = 0; tree[at].child && o < 8; o++) {
      op_task_memory const struct mass *part = &m[tree[at].child + o];
      mass += part->mass;
      for (int k = 0; k < 3; k++)
        sum[k] += part->mass * part->centre[k];
    }
    for (int i = 0; !tree[at].child && i < tree[at].count; i++) {
      op_task_memory const struct particle *one = &p[tree[at].first + i];
      mass += one->mass;
      for (int k = 0; k < 3; k++)
        sum[k] += one->mass * one->x[k];
    }
    m[at].mass = mass;
    for (int k = 0; k < 3; k++)
      m[at].centre[k] = mass > 0 ? sum[k] / mass : 0;
  }

  /* Parts lie behind their cell: backwards, each is there when it is needed. */
  void mass(op_task_memory const struct cells *c, op_task_memory struct mass *own,
            op_task_memory const struct cell *tree, op_task_memory const struct particle *p) {
    op_task_memory struct mass *m = own - c->one;
    if (op_task_thread == 0) {
      for (int at = tree[c->one].end; c->other && at-- > tree[c->one].child;)
        find_mass(tree, at, p, m);
      find_mass(tree, c->one, p, m);
    }
  });
// clang-format on

#endif
