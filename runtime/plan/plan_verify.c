/* Verifying a plan: each claim of plan.h by a method of its own, with one mark per target: who was here last. */
#include <limits.h>
#include <string.h>

#include "base/list.h"
#include "plan/plan.h"
#include "plan/plan_staging.h"

#define WRONG(...) return error_mistake(err, OP_ERR_PLAN, __VA_ARGS__)

/* ---- level 1: sizes and counts ---------------------------------------------------------------------*/

static int verify_sizes(const struct plan *p, const struct plan_request *r, struct error *err) {
  if (p->size != r->size)
    WRONG("the plan is for %ld elements, the set has %ld", p->size, r->size);
  if (p->block_size != r->block_size || p->block_size < 1)
    WRONG("the plan has blocks of %d elements, %d were asked for", p->block_size, r->block_size);
  long nblocks = p->size / p->block_size + (p->size % p->block_size != 0);
  if (p->nblocks != nblocks)
    WRONG("the plan has %d blocks, %ld elements in blocks of %d make %ld", p->nblocks, p->size, p->block_size,
          nblocks);
  if (!p->block_first != !r->work)
    WRONG("the plan's blocks are cut by %s, which was not asked for", p->block_first ? "work" : "number");
  if (p->block_first && (p->block_first[0] != 0 || p->block_first[p->nblocks] != p->size))
    WRONG("the plan's blocks go from element %ld to %ld, expected 0 to %ld", p->block_first[0],
          p->block_first[p->nblocks], p->size);
  for (int b = 0; p->block_first && b < p->nblocks; b++)
    if (p->block_first[b + 1] < p->block_first[b])
      WRONG("block %d goes back, from element %ld to %ld", b, p->block_first[b], p->block_first[b + 1]);
  if (p->ncolours < 0 || p->ncolours > p->nblocks || (p->nblocks > 0 && p->ncolours < 1))
    WRONG("the plan has %d colours for %d blocks", p->ncolours, p->nblocks);
  if (r->element_colours && (!p->element_colour || !p->block_ncolours))
    WRONG("element colours were asked for, the plan has none");
  if (p->nstaging != r->nstaged)
    WRONG("the plan stages %d datasets, %d were asked for", p->nstaging, r->nstaged);
  return OP_OK;
}

static int verify_colour_counts(const struct plan *p, struct error *err) {
  if (p->colour_first[0] != 0 || p->colour_first[p->ncolours] != p->nblocks)
    WRONG("the blocks of all colours go from %d to %d, expected 0 to %d", p->colour_first[0],
          p->colour_first[p->ncolours], p->nblocks);
  for (int c = 0; c < p->ncolours; c++)
    if (p->colour_first[c + 1] <= p->colour_first[c])
      WRONG("block colour %d goes from %d to %d and has no blocks", c, p->colour_first[c],
            p->colour_first[c + 1]);
  return OP_OK;
}

static int verify_element_counts(const struct plan *p, struct error *err) {
  int most = 0;
  for (int b = 0; b < p->nblocks; b++) {
    if (p->block_ncolours[b] < 1)
      WRONG("block %d has %d element colours", b, p->block_ncolours[b]);
    if (p->block_ncolours[b] > most)
      most = p->block_ncolours[b];
  }
  if (most != p->max_element_colours)
    WRONG("a block has %d element colours, the plan says at most %d", most, p->max_element_colours);
  return OP_OK;
}

int plan_verify_staged_counts(const struct plan *p, const struct plan_request *r, int s, struct error *err) {
  const struct plan_staging *staging = &p->staging[s];
  long most = 0;
  if (staging->ncolumns != r->staged[s].count)
    WRONG("staged dataset %d has %d columns, expected %d", s, staging->ncolumns, r->staged[s].count);
  if (staging->first[0] != 0)
    WRONG("the targets of staged dataset %d begin at %ld, expected 0", s, staging->first[0]);
  for (int b = 0; b < p->nblocks; b++) {
    long n = staging->first[b + 1] - staging->first[b];
    if (n < 0)
      WRONG("staged dataset %d has %ld targets in block %d", s, n, b);
    if (n > most)
      most = n;
  }
  if (most != staging->max_targets)
    WRONG("a block of staged dataset %d has %ld targets, the plan says at most %d", s, most,
          staging->max_targets);
  return OP_OK;
}

static int verify_counts(const struct plan *p, const struct plan_request *r, struct error *err) {
  int status = verify_sizes(p, r, err);
  if (!status)
    status = verify_colour_counts(p, err);
  if (!status && p->element_colour)
    status = verify_element_counts(p, err);
  for (int s = 0; s < p->nstaging && !status; s++)
    status = plan_verify_staged_counts(p, r, s, err);
  return status;
}

/* ---- level 2: each block and element ---------------------------------------------------------------*/

int plan_verify_columns(const struct plan_column *columns, int ncolumns, long size, struct error *err) {
  for (int c = 0; c < ncolumns; c++)
    for (long e = 0; e < size; e++)
      for (long place = column_place(&columns[c], e); place < column_place(&columns[c], e + 1); place++) {
        const long t = column_target(&columns[c], place);
        if (t < 0 || t >= columns[c].target_size)
          WRONG("element %ld has target %ld in column %d, the target set has %ld elements", e, t, c,
                columns[c].target_size);
      }
  return OP_OK;
}

static int verify_block_map(const struct plan *p, struct error *err) {
  bool *met = array_new((size_t)p->nblocks, sizeof *met);
  if (!met)
    return error_memory(err, "the check of a plan", (size_t)p->nblocks);
  int status = OP_OK;
  for (int i = 0; i < p->nblocks && !status; i++) {
    int b = p->block_map[i];
    if (b < 0 || b >= p->nblocks)
      status = error_mistake(err, OP_ERR_PLAN, "position %d of the block map is block %d, there are %d", i, b,
                             p->nblocks);
    else if (met[b])
      status =
          error_mistake(err, OP_ERR_PLAN, "block %d occurs twice in the block map, and another one never", b);
    else
      met[b] = true;
  }
  free(met);
  return status;
}

/* Every target is marked with position + 1 of the block that was there last; a second block of the same colour
 * finds a position in its colour. */
static int verify_block_colours(const struct plan *p, const struct plan_request *r, struct marks *m,
                                struct error *err) {
  for (int colour = 0; colour < p->ncolours; colour++)
    for (int i = p->colour_first[colour]; i < p->colour_first[colour + 1]; i++)
      for (int c = 0; c < r->ncolumns; c++)
        for (long place = column_place(&r->columns[c], block_begin(p, p->block_map[i])),
                  end = column_place(&r->columns[c], block_end(p, p->block_map[i]));
             place < end; place++) {
          int t = column_target(&r->columns[c], place);
          uint32_t *mark = &m->of_column[c][t];
          if (*mark > (uint32_t)p->colour_first[colour] && *mark != (uint32_t)i + 1)
            WRONG("blocks %d and %d have colour %d, and both write target %d (%s %ld, column %d)",
                  p->block_map[*mark - 1], p->block_map[i], colour, t,
                  r->columns[c].first ? "entry" : "element", place, c);
          *mark = (uint32_t)i + 1;
        }
  return OP_OK;
}

/* The elements of block b by colour. */
static int sort_elements(const struct plan *p, int b, long *first, int *sorted, struct error *err) {
  long begin = block_begin(p, b), end = block_end(p, b);
  int n = p->block_ncolours[b];
  long *next = first + 1;
  memset(first, 0, ((size_t)n + 2) * sizeof *first);
  for (long e = begin; e < end; e++) {
    if (p->element_colour[e] >= n)
      WRONG("element %ld has colour %d, its block %d has %d", e, p->element_colour[e], b, n);
    next[p->element_colour[e] + 1]++;
  }
  for (int c = 0; c < n; c++) {
    if (!next[c + 1])
      WRONG("no element of block %d has colour %d, the block claims %d colours", b, c, n);
    next[c + 1] += next[c];
  }
  for (long e = begin; e < end; e++)
    sorted[next[p->element_colour[e]]++] = (int)(e - begin);
  return OP_OK;
}

/* Marks hold element + 1 in the order of colours over all blocks: those below the colour's own are old. */
static int verify_element_block(const struct plan *p, const struct plan_request *r, struct marks *m, int b,
                                const long *first, const int *sorted, struct error *err) {
  long begin = block_begin(p, b);
  for (int colour = 0; colour < p->block_ncolours[b]; colour++)
    for (long i = first[colour]; i < first[colour + 1]; i++)
      for (int c = 0; c < r->ncolumns; c++) {
        const long e = begin + sorted[i];
        for (long place = column_place(&r->columns[c], e); place < column_place(&r->columns[c], e + 1);
             place++) {
          int t = column_target(&r->columns[c], place);
          uint32_t *mark = &m->of_column[c][t];
          if (*mark > (uint32_t)(begin + first[colour]) && *mark != (uint32_t)(begin + i) + 1)
            WRONG("elements %ld and %ld of block %d have colour %d, and both write target %d (column %d)",
                  begin + sorted[(long)*mark - 1 - begin], e, b, colour, t, c);
          *mark = (uint32_t)(begin + i) + 1;
        }
      }
  return OP_OK;
}

static int verify_elements(const struct plan *p, const struct plan_request *r, struct error *err) {
  struct arrays arrays = {0};
  struct marks marks;
  size_t most = (size_t)(p->size < p->block_size || p->block_first ? p->size : p->block_size);
  long *first = arrays_add(&arrays, (size_t)p->max_element_colours + 2, sizeof *first);
  int *sorted = arrays_add(&arrays, most, sizeof *sorted);
  int status = marks_new(&marks, &arrays, r->columns, r->ncolumns, err);
  for (int b = 0; b < p->nblocks && !status; b++) {
    status = sort_elements(p, b, first, sorted, err);
    if (!status)
      status = verify_element_block(p, r, &marks, b, first, sorted, err);
  }
  arrays_free(&arrays);
  return status;
}

int plan_verify_staged_targets(const struct plan *p, const struct plan_request *r, int s, struct error *err) {
  const struct plan_staging *staging = &p->staging[s];
  long size = r->staged_columns[r->staged[s].first].target_size;
  for (int b = 0; b < p->nblocks; b++)
    for (long i = staging->first[b]; i < staging->first[b + 1]; i++) {
      if (staging->targets[i] < 0 || staging->targets[i] >= size)
        WRONG("staged dataset %d has target %d in block %d, the target set has %ld elements", s,
              staging->targets[i], b, size);
      if (i > staging->first[b] && staging->targets[i] <= staging->targets[i - 1])
        WRONG("the targets of staged dataset %d in block %d are not sorted or not unique: %d after %d", s, b,
              staging->targets[i], staging->targets[i - 1]);
    }
  return OP_OK;
}

/* Each element finds its target, and each target was found by somebody. */
static int verify_staged_elements(const struct plan *p, const struct plan_request *r, int s, bool *found,
                                  struct error *err) {
  const struct plan_staging *staging = &p->staging[s];
  for (int b = 0; b < p->nblocks; b++) {
    long first = staging->first[b], n = staging->first[b + 1] - first;
    memset(found, 0, (size_t)n * sizeof *found);
    for (int c = 0; c < staging->ncolumns; c++)
      for (long e = block_begin(p, b); e < block_end(p, b); e++) {
        int target = column_target(&r->staged_columns[r->staged[s].first + c], e);
        long local = staging->local[c][e];
        if (local >= n || staging->targets[first + local] != target)
          WRONG("element %ld of block %d finds target %d in staged dataset %d, column %d; expected %d", e, b,
                local < n ? staging->targets[first + local] : -1, s, c, target);
        found[local] = true;
      }
    for (long i = 0; i < n; i++)
      if (!found[i])
        WRONG("staged dataset %d has target %d in block %d, which no element of the block reaches", s,
              staging->targets[first + i], b);
  }
  return OP_OK;
}

static int verify_staging(const struct plan *p, const struct plan_request *r, int s, struct error *err) {
  int status = plan_verify_columns(r->staged_columns + r->staged[s].first, r->staged[s].count, p->size, err);
  if (!status)
    status = plan_verify_staged_targets(p, r, s, err);
  if (status)
    return status;
  bool *found = array_new((size_t)p->staging[s].max_targets, sizeof *found);
  if (!found)
    return error_memory(err, "the check of a plan", (size_t)p->staging[s].max_targets);
  status = verify_staged_elements(p, r, s, found, err);
  free(found);
  return status;
}

static int verify_blocks(const struct plan *p, const struct plan_request *r, struct error *err) {
  struct arrays arrays = {0};
  struct marks marks;
  int status = plan_verify_columns(r->columns, r->ncolumns, r->size, err);
  if (!status)
    status = verify_block_map(p, err);
  if (!status)
    status = marks_new(&marks, &arrays, r->columns, r->ncolumns, err);
  if (!status)
    status = verify_block_colours(p, r, &marks, err);
  arrays_free(&arrays);
  return status;
}

int plan_verify(const struct plan *p, const struct plan_request *r, int level, struct error *err) {
  int status = level >= 1 ? verify_counts(p, r, err) : OP_OK;
  if (level < 2 || status)
    return status;
  status = verify_blocks(p, r, err);
  if (!status && p->element_colour)
    status = verify_elements(p, r, err);
  for (int s = 0; s < p->nstaging && !status; s++)
    status = verify_staging(p, r, s, err);
  return status;
}
