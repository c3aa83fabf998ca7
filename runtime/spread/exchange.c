#include "spread/exchange.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "mesh/mesh.h"
#include "mesh/ranges.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/halo.h"

/* All messages of one direction. */
struct direction {
  struct message_rows *segments; /* of one dat for one neighbour */
  int nsegments;
  int *ranks;
  size_t *first; /* nranks + 1, in the buffer */
  int nranks;
  unsigned char *buffer;
  struct device_messages *device; /* whose memory the buffer is; NULL: memory of the host */
};

struct exchange {
  struct exchange *next;
  struct halo_need *needs;
  int nneeds;
  struct halo_need *fresh; /* what is current afterwards: the needs, and what else their messages cover */
  int nfresh;
  enum space space;
  bool headed; /* each message begins with a header */
  struct exchange_header header;
  struct direction send, receive;
  struct message_pair *pairs; /* this rank's, ascending */
  int npairs;
  struct device_pairs *direct;    /* those without MPI; NULL: there are none */
  struct comm_request **requests; /* of the others: receives, then sends */
  int nrequests;
  bool begun; /* a device packs, and MPI has no messages yet */
};

struct exchanges {
  struct exchange *first, *under_way;
  struct halo_cover *covers;
  unsigned epoch;
};

/* Device kernels move words: each dat's rows begin where any of them may. */
enum { ALIGN = 16 };

/* ---- making one ---- */

static const struct halo_side *side_of(const struct halo_need *need, bool sends) {
  const struct halo_exchange *halo = need->rows  ? &need->rows->exchange
                                     : need->map ? need->map->halo
                                                 : &need->dat->set->spread->exec;
  return sends ? &halo->send : &halo->receive;
}

static size_t aligned(size_t bytes) {
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* The lowest rank that any need's next message goes to or comes from; INT_MAX: no more. */
static int next_rank(const struct exchange *x, bool sends, const int *next) {
  int rank = INT_MAX;
  for (int n = 0; n < x->nneeds; n++) {
    const struct halo_side *side = side_of(&x->needs[n], sends);
    if (next[n] < side->count && side->ranks[next[n]] < rank)
      rank = side->ranks[next[n]];
  }
  return rank;
}

/* How many of the dat there are already among those for one neighbour. */
static int turn_of(const struct dat *dat, const struct message_rows *first, const struct message_rows *end) {
  int turn = 0;
  for (; first < end; first++)
    turn += first->dat == dat;
  return turn;
}

static int by_turn(const void *a, const void *b) {
  const struct message_rows *x = a, *y = b;
  return x->turn != y->turn ? x->turn - y->turn : (x->at > y->at) - (x->at < y->at);
}

static void add_segments(const struct exchange *x, struct direction *d, bool sends, int rank, int *next,
                         size_t *end) {
  const struct message_rows *first = d->segments + d->nsegments;
  for (int n = 0; n < x->nneeds; n++) {
    const struct halo_side *side = side_of(&x->needs[n], sends);
    const int k = next[n];
    if (k >= side->count || side->ranks[k] != rank)
      continue;
    next[n]++;
    const long count = side->first[k + 1] - side->first[k];
    if (!count)
      continue;
    const struct halo_rows *rows = x->needs[n].rows;
    struct dat *dat = rows && rows->into && !sends ? rows->into : x->needs[n].dat;
    struct message_rows *segment = &d->segments[d->nsegments++];
    *segment = (struct message_rows){.dat = dat,
                                     .elements = side->elements + side->first[k],
                                     .count = count,
                                     .at = *end,
                                     .turn = turn_of(dat, first, segment)};
    *end += aligned((size_t)count * x->needs[n].dat->row_bytes);
  }
}

static int make_buffer(struct op_context *ctx, const struct exchange *x, struct direction *d, size_t bytes,
                       struct error *err) {
  if (space_is_device(x->space))
    return bytes ? ctx->mover->messages_new(ctx, x->space, bytes, &d->device, &d->buffer, err) : OP_OK;
  d->buffer = data_memory(NULL, bytes, 0);
  return d->buffer ? OP_OK : error_memory(err, "the messages of a halo exchange", bytes);
}

static int make_direction(struct op_context *ctx, const struct exchange *x, struct direction *d, bool sends,
                          struct error *err) {
  size_t most = 0, end = 0;
  int *next = array_new((size_t)x->nneeds, sizeof *next);
  for (int n = 0; n < x->nneeds; n++)
    most += (size_t)side_of(&x->needs[n], sends)->count;
  d->segments = array_new(most, sizeof *d->segments);
  d->ranks = array_new(most, sizeof *d->ranks);
  d->first = array_new(most + 1, sizeof *d->first);
  const bool all = next && d->segments && d->ranks && d->first;
  for (int rank; all && (rank = next_rank(x, sends, next)) != INT_MAX;) {
    const size_t begin = end + (x->headed ? sizeof(struct exchange_header) : 0);
    size_t behind = begin;
    add_segments(x, d, sends, rank, next, &behind);
    if (behind == begin)
      continue;
    end = behind;
    d->ranks[d->nranks++] = rank;
    d->first[d->nranks] = end;
  }
  free(next);
  if (all && d->nsegments)
    qsort(d->segments, (size_t)d->nsegments, sizeof *d->segments, by_turn);
  return all ? make_buffer(ctx, x, d, end, err)
             : error_memory(err, "a halo exchange", most * sizeof *d->segments);
}

static void free_direction(struct op_context *ctx, const struct exchange *x, struct direction *d) {
  if (d->device)
    ctx->mover->messages_free(ctx, x->space, d->device);
  else
    data_memory_free(d->buffer);
  free(d->segments);
  free(d->ranks);
  free(d->first);
}

static void exchange_free(struct op_context *ctx, struct exchange *x) {
  for (int i = 0; i < x->nrequests; i++)
    ctx->comm->table->request_free(ctx->comm, x->requests[i]);
  if (x->direct)
    ctx->mover->pairs_free(ctx, x->space, x->direct);
  free_direction(ctx, x, &x->send);
  free_direction(ctx, x, &x->receive);
  free(x->requests);
  free(x->pairs);
  free(x->fresh);
  free(x->needs);
  free(x);
}

/* Messages of different exchanges do not meet, also if ranks differ in the loops they call; those of different rows of the
 * same dats do: who differs in the loops that need them has another header. */
static int tag_of(const struct exchange *x) {
  unsigned mixed = 2166136261u + x->headed;
  for (int n = 0; n < x->nneeds; n++) {
    mixed = (mixed ^ (unsigned)x->needs[n].dat->id) * 16777619u;
    mixed = (mixed ^ (unsigned)(x->needs[n].map ? x->needs[n].map->id : -1)) * 16777619u;
  }
  return (int)(mixed % COMM_MOST_TAG);
}

/* Pairs with all ranks that anything goes to or comes from. */
static int make_pairs(struct exchange *x, struct error *err) {
  const struct direction *s = &x->send, *r = &x->receive;
  const size_t most = (size_t)s->nranks + (size_t)r->nranks;
  x->pairs = array_new(most, sizeof *x->pairs);
  if (!x->pairs)
    return error_memory(err, "a halo exchange", most * sizeof *x->pairs);
  for (int i = 0, k = 0; i < s->nranks || k < r->nranks;) {
    const int to = i < s->nranks ? s->ranks[i] : INT_MAX, from = k < r->nranks ? r->ranks[k] : INT_MAX;
    struct message_pair *p = &x->pairs[x->npairs++];
    *p = (struct message_pair){.rank = to < from ? to : from};
    if (to == p->rank) {
      p->send = s->first[i++];
      p->send_end = s->first[i];
    }
    if (from == p->rank) {
      p->receive = r->first[k++];
      p->receive_end = r->first[k];
    }
  }
  return OP_OK;
}

static bool is_direct(const struct exchange *x, int rank) {
  for (int i = 0; x->direct && i < x->npairs; i++)
    if (x->pairs[i].rank == rank)
      return x->pairs[i].direct;
  return false;
}

static int make_requests(struct op_context *ctx, struct exchange *x, struct error *err) {
  const int tag = tag_of(x);
  const struct comm_table *table = ctx->comm->table;
  const size_t most = (size_t)x->receive.nranks + (size_t)x->send.nranks;
  x->requests = array_new(most, sizeof *x->requests);
  if (!x->requests)
    return error_memory(err, "a halo exchange", most * sizeof *x->requests);
  int code = OP_OK;
  for (int way = 0; way < 2; way++) {
    const struct direction *d = way ? &x->send : &x->receive;
    for (int i = 0; !code && i < d->nranks; i++) {
      struct comm_request **request = &x->requests[x->nrequests];
      unsigned char *message = d->buffer + d->first[i];
      const size_t bytes = d->first[i + 1] - d->first[i];
      if (is_direct(x, d->ranks[i]))
        continue;
      code = way ? table->send_init(ctx->comm, message, bytes, d->ranks[i], tag, request, err)
                 : table->receive_init(ctx->comm, message, bytes, d->ranks[i], tag, request, err);
      x->nrequests += !code;
    }
  }
  return code;
}

static int add_fresh(struct exchange *x, struct dat *dat, const struct map *map, struct error *err) {
  struct halo_need *fresh = array_resize(x->fresh, (size_t)x->nfresh + 1, sizeof *fresh);
  if (!fresh)
    return error_memory(err, "a halo exchange", ((size_t)x->nfresh + 1) * sizeof *fresh);
  x->fresh = fresh;
  fresh[x->nfresh++] = (struct halo_need){.dat = dat, .map = map};
  return halo_keep_part(dat, map, err);
}

/* The need itself, and other maps' parts of the halo that are contained in it. */
static int find_fresh(struct op_context *ctx, struct exchange *x, const struct halo_need *need,
                      struct error *err) {
  const struct halo_cover *cover = NULL;
  if (need->rows)
    return OP_OK;
  int code = add_fresh(x, need->dat, need->map, err);
  if (code || !need->map)
    return code;
  code = halo_cover_get(ctx, &ctx->exchanges->covers, need->map, &cover, err);
  for (int i = 0; !code && i < cover->count; i++)
    code = add_fresh(x, need->dat, cover->others[i], err);
  return code;
}

static int exchange_new(struct op_context *ctx, const struct halo_need *needs, int count, enum space space,
                        bool headed, struct exchange **out, struct error *err) {
  struct exchange *x = array_new(1, sizeof *x);
  if (!x)
    return error_memory(err, "a halo exchange", sizeof *x);
  x->space = space;
  x->headed = headed;
  x->nneeds = count;
  x->needs = array_new((size_t)count, sizeof *x->needs);
  int code = x->needs ? OP_OK : error_memory(err, "a halo exchange", (size_t)count * sizeof *x->needs);
  for (int n = 0; !code && n < count; n++) {
    x->needs[n] = needs[n];
    code = find_fresh(ctx, x, &needs[n], err);
  }
  if (!code)
    code = make_direction(ctx, x, &x->send, true, err);
  if (!code)
    code = make_direction(ctx, x, &x->receive, false, err);
  if (!code)
    code = make_pairs(x, err);
  if (code)
    exchange_free(ctx, x);
  else
    *out = x;
  return code;
}

/* ---- finding it again ---- */

static bool uses(const struct exchange *x, const struct dat *dat, const struct halo_rows *rows) {
  for (int n = 0; n < x->nneeds; n++)
    if ((dat && x->needs[n].dat == dat) || (rows && x->needs[n].rows == rows))
      return true;
  return !dat && !rows;
}

/* NULL and NULL: all. */
static void forget(struct op_context *ctx, const struct dat *dat, const struct halo_rows *rows) {
  for (struct exchange **link = &ctx->exchanges->first, *x; (x = *link);) {
    if (!uses(x, dat, rows)) {
      link = &x->next;
      continue;
    }
    *link = x->next;
    exchange_free(ctx, x);
  }
}

void exchanges_forget_rows(struct op_context *ctx, const struct halo_rows *rows) {
  if (ctx->exchanges)
    forget(ctx, NULL, rows);
}

void exchanges_forget(struct op_context *ctx, const struct dat *dat) {
  if (!ctx->exchanges)
    return;
  forget(ctx, dat, NULL);
  if (!dat) {
    halo_covers_free(ctx->exchanges->covers);
    free(ctx->exchanges);
    ctx->exchanges = NULL;
  }
}

static bool is_for(const struct exchange *x, const struct halo_need *needs, int count, enum space space,
                   bool headed) {
  if (x->nneeds != count || x->space != space || x->headed != headed)
    return false;
  for (int n = 0; n < count; n++)
    if (x->needs[n].dat != needs[n].dat || x->needs[n].map != needs[n].map ||
        x->needs[n].rows != needs[n].rows)
      return false;
  return true;
}

static int exchanges_new(struct op_context *ctx, struct error *err) {
  ctx->exchanges = array_new(1, sizeof *ctx->exchanges);
  return ctx->exchanges ? OP_OK : error_memory(err, "halo exchanges", sizeof *ctx->exchanges);
}

/* Give MPI the messages that devices do not bring. `code` is this rank's outcome so far; NULL: after a failure. */
static int link_ranks(struct op_context *ctx, struct exchange *x, int code, struct error *err) {
  struct exchange none = {.space = SPACE_HOST}, *y = x ? x : &none;
  if (ctx->mover)
    code = ctx->mover->pairs_new(ctx, y->space, y->send.device, y->receive.device, y->pairs, y->npairs, code,
                                 &y->direct, err);
  return code ? code : make_requests(ctx, y, err);
}

int exchange_get(struct op_context *ctx, const struct halo_need *needs, int count, enum space space,
                 const struct exchange_header *header, struct exchange **out, struct error *err) {
  const bool headed = header && !space_is_device(space); /* what a device packs begins at once */
  int code = OP_OK;
  if (ctx->exchanges && ctx->exchanges->epoch != ctx->mesh->epoch)
    exchanges_forget(ctx, NULL);
  if (!ctx->exchanges && !(code = exchanges_new(ctx, err)))
    ctx->exchanges->epoch = ctx->mesh->epoch;
  for (*out = code ? NULL : ctx->exchanges->first; *out; *out = (*out)->next)
    if (is_for(*out, needs, count, space, headed)) {
      (*out)->header = header ? *header : (*out)->header;
      return OP_OK;
    }
  if (!code)
    code = exchange_new(ctx, needs, count, space, headed, out, err);
  /* All have it, or none: each may try again. */
  code = agree_on_success(ctx->comm, link_ranks(ctx, *out, code, err), err);
  if (code && *out)
    exchange_free(ctx, *out);
  if (code) {
    *out = NULL;
    return code;
  }
  (*out)->header = header ? *header : (*out)->header;
  (*out)->next = ctx->exchanges->first;
  ctx->exchanges->first = *out;
  return OP_OK;
}

int exchange_messages(const struct exchange *x) {
  return x->send.nranks;
}

size_t exchange_bytes(const struct exchange *x) {
  return x->send.first[x->send.nranks];
}

/* ---- one exchange ---- */

/* Rows between a dat and a message. */
struct rows_of {
  struct row_store dat, message;
  const int *elements;
};

static void pack_rows(void *argument, long begin, long end) {
  const struct rows_of *r = argument;
  for (long i = begin; i < end; i++)
    row_copy(&r->dat, r->elements[i], &r->message, i);
}

static void unpack_rows(void *argument, long begin, long end) {
  const struct rows_of *r = argument;
  for (long i = begin; i < end; i++)
    row_copy(&r->message, i, &r->dat, r->elements[i]);
}

/* One segment after the other, each by all threads if it is large: several may have rows of one element. */
static void move_rows(const struct op_context *ctx, const struct direction *d, range_task *task) {
  const size_t worth_waking = (size_t)64 << 10;
  for (int i = 0; i < d->nsegments; i++) {
    const struct message_rows *s = &d->segments[i];
    const bool large = (size_t)s->count * s->dat->row_bytes >= worth_waking;
    struct rows_of rows = {dat_rows(s->dat), dat_rows(s->dat), s->elements};
    rows.message.memory = d->buffer + s->at;
    rows.message.stride = 0;
    struct ranges all = {task, &rows, s->count};
    if (ctx->team && large)
      team_run(ctx->team, team_threads(ctx->team), ranges_piece, &all);
    else
      task(&rows, 0, s->count);
  }
}

/* A device is handed over also where nothing is sent: the last messages may still be being unpacked where the next ones
 * arrive. */
static int pack(struct op_context *ctx, struct exchange *x, struct error *err) {
  const struct direction *d = &x->send;
  if (!space_is_device(x->space)) {
    move_rows(ctx, d, pack_rows);
    return OP_OK;
  }
  int code =
      d->nsegments ? ctx->mover->pack(ctx, x->space, d->device, d->segments, d->nsegments, err) : OP_OK;
  if (!code && x->direct)
    code = ctx->mover->pairs_tell(ctx, x->space, x->direct, err);
  return code || (x->direct && !x->nrequests)
             ? code
             : ctx->mover->hand_over(ctx, x->space, d->device, &x->begun, err);
}

static int unpack(struct op_context *ctx, const struct exchange *x, struct error *err) {
  const struct direction *d = &x->receive;
  if (!space_is_device(x->space))
    move_rows(ctx, d, unpack_rows);
  int code = x->direct ? ctx->mover->pairs_await(ctx, x->space, x->direct, err) : OP_OK;
  if (code || !d->device)
    return code;
  code = ctx->mover->take_over(ctx, x->space, d->device, err);
  return code ? code : ctx->mover->unpack(ctx, x->space, d->device, d->segments, d->nsegments, err);
}

/* False: all are there. A failure shows when the exchange is waited for. */
static bool let_messages_get_on(void *context) {
  struct op_context *ctx = context;
  const struct exchange *x = ctx->exchanges->under_way;
  struct error ignored = {0};
  bool done = false;
  ctx->comm->table->test(ctx->comm, x->requests, x->nrequests, &done, &ignored);
  if (done)
    ctx->poll = NULL;
  error_free(&ignored);
  return !done;
}

static void write_headers(const struct exchange *x) {
  for (int i = 0; x->headed && i < x->send.nranks; i++)
    memcpy(x->send.buffer + x->send.first[i], &x->header, sizeof x->header);
}

/* Ranks that run other loops, which need the same, would go on with wrong values. */
static int check_headers(const struct exchange *x, struct error *err) {
  for (int i = 0; x->headed && i < x->receive.nranks; i++) {
    struct exchange_header other;
    memcpy(&other, x->receive.buffer + x->receive.first[i], sizeof other);
    if (memcmp(&other, &x->header, sizeof other) != 0)
      return error_set(
          err, OP_ERR_MPI,
          "rank %d runs other loops that waited: %u, and this rank %u; all ranks must call the same "
          "loops between the calls that look at data",
          x->receive.ranks[i], other.loops, x->header.loops);
  }
  return OP_OK;
}

/* Also without messages: it counts as a call of all ranks. */
static int send_messages(struct op_context *ctx, struct exchange *x, struct error *err) {
  x->begun = false;
  const int code = ctx->comm->table->start(ctx->comm, x->requests, x->nrequests, err);
  if (code)
    return code;
  ctx->counters->exchanges++;
  ctx->counters->messages += x->send.nranks;
  ctx->counters->bytes_sent += (long long)exchange_bytes(x);
  ctx->exchanges->under_way = x;
  ctx->poll = x->nrequests ? let_messages_get_on : NULL;
  return OP_OK;
}

int exchange_start(struct op_context *ctx, struct exchange *x, struct error *err) {
  x->begun = false;
  int code = OP_OK;
  for (int n = 0; !code && n < x->nneeds; n++) {
    code = dat_need(ctx, x->needs[n].dat, x->space, REGION_OWNED, err);
    if (!code)
      code = halo_bring(ctx, x->needs[n].dat, x->space, err);
  }
  if (!code)
    code = pack(ctx, x, err);
  for (int n = 0; n < x->nfresh; n++)
    x->fresh[n].version = x->fresh[n].dat->version;
  for (int n = 0; n < x->nneeds; n++)
    if (x->needs[n].rows)
      x->needs[n].rows->sent = x->needs[n].dat->version + 1;
  write_headers(x);
  return code || x->begun ? code : send_messages(ctx, x, err);
}

/* In rows of the dat's own nothing else is noted: they are no part of the halo that loops know. */
static void rows_received(const struct halo_need *need, enum space space) {
  need->rows->version = need->rows->sent;
  if (!need->rows->into)
    dat_got_copies(need->dat, space);
}

/* The device has what it does while messages travel; those that it packed are sent when they are there. After a failure nothing
 * is sent that may not be there. */
static int send_begun(struct op_context *ctx, struct exchange *x, bool *sent, struct error *err) {
  struct error ignored = {0};
  const int given = ctx->mover->give(ctx, x->space, err);
  int code = OP_OK;
  if (x->begun && !(code = ctx->mover->handed_over(ctx, x->space, given ? &ignored : err)))
    code = send_messages(ctx, x, given ? &ignored : err);
  *sent = !code;
  x->begun = false;
  error_free(&ignored);
  return given ? given : code;
}

int exchange_finish(struct op_context *ctx, struct exchange *x, double *waited, struct error *err) {
  bool sent = true;
  int code = space_is_device(x->space) ? send_begun(ctx, x, &sent, err) : OP_OK;
  const double start = clock_seconds();
  struct error ignored = {0};
  ctx->poll = NULL;
  ctx->exchanges->under_way = NULL;
  if (x->nrequests && sent) { /* also after a failure */
    const int status = ctx->comm->table->wait(ctx->comm, x->requests, x->nrequests, code ? &ignored : err);
    code = code ? code : status;
    error_free(&ignored);
  }
  *waited = clock_seconds() - start;
  if (!code)
    code = check_headers(x, err);
  if (!code)
    code = unpack(ctx, x, err);
  for (int n = 0; !code && n < x->nfresh; n++)
    if (x->fresh[n].version == x->fresh[n].dat->version)
      halo_received(x->fresh[n].dat, x->space, x->fresh[n].map);
  for (int n = 0; !code && n < x->nneeds; n++)
    if (x->needs[n].rows)
      rows_received(&x->needs[n], x->space);
  return code;
}
