/* Ranks of one machine write rows into each other's memory. For an exchange each rank has a block that the others
 * know: two places for the rows that it receives, and behind them a flag for each other rank. In turn k a rank packs
 * into place k % 2 of the others, sets its flags there to k, waits until its own are k, and unpacks. A rank that sets a
 * flag to k has unpacked turn k - 1, since a device does one thing after the other. So place (k + 1) % 2 is free without
 * a message that says so. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "gpu.h"
#include "mesh/data.h"
#include "ranks/agree.h"
#include "ranks/comm.h"

/* Bytes between flags; seconds that a first turn without rows may take, in which ranks see whether it works. */
enum { FLAG = 64, TRIAL = 30 };

/* The description of a rank's block for another rank. */
struct offer {
  int node, given;
  struct gpu_handle handle;
  unsigned long long half, rows, flag;
};

struct other {
  struct message_pair pair;
  gpu_address memory, rows,
      flag; /* its block, 0: it is not there; the first place of rows for it; the flag that it waits for */
  size_t half;
  struct offer mine, its;
  char good, found_good; /* so far, on this rank and on the other */
};

struct device_pairs {
  struct arrays memory; /* of its arrays */
  gpu_address block;    /* 0: there is none */
  size_t half, bytes;
  unsigned turn;
  int n, nflags;
  struct other *others;
  gpu_address *flags; /* of those that do without MPI */
  struct comm_messages each;
  unsigned char *sent, *received; /* what others are told, as large as offers are */
  struct device_pairs *next;      /* that were dropped */
};

int gpu_pairs_ask(struct op_context *ctx, struct gpu *c, struct error *err) {
  double lacks = !c->device.peers || strcmp(env_value(ctx->env, ENV_MPI_GPU), "auto") != 0;
  if (comm_alone(ctx->comm) || ctx->peers)
    return OP_OK;
  const int code = agree_on_largest(ctx->agreement, OP_OK, &lacks, 1, err);
  c->shares = !code && lacks == 0;
  return code;
}

/* ---- memory ---- */

static void pairs_free(struct gpu *c, struct device_pairs *p) {
  gpu_release(c, p->block, p->bytes);
  comm_messages_free(&p->each);
  arrays_free(&p->memory);
  free(p);
}

void gpu_pairs_close(struct gpu *c) {
  for (struct device_pairs *p = c->dropped, *next; p; p = next) {
    next = p->next;
    pairs_free(c, p);
  }
  c->dropped = NULL;
}

/* The others drop the block at the same call; it is freed when all have come to a later one. */
void gpu_pairs_free(struct op_context *ctx, enum space space, struct device_pairs *p) {
  struct gpu *c = gpu_of(ctx, space_is_device(space) ? space : space_of_device(0));
  if (!c->failed)
    c->driver->wait(c->self);
  for (int i = 0; p->others && i < p->n; i++)
    if (p->others[i].memory)
      c->driver->peer_drop(c->self, p->others[i].memory);
  p->next = c->dropped;
  c->dropped = p;
}

static struct device_pairs *pairs_make(const struct message_pair *pairs, int n) {
  struct device_pairs *p = array_new(1, sizeof *p);
  if (!p)
    return NULL;
  p->n = n;
  p->others = arrays_add(&p->memory, (size_t)n, sizeof *p->others);
  p->flags = arrays_add(&p->memory, (size_t)n, sizeof *p->flags);
  p->sent = arrays_add(&p->memory, (size_t)n, sizeof(struct offer));
  p->received = arrays_add(&p->memory, (size_t)n, sizeof(struct offer));
  p->memory.failed |= !comm_messages_new(&p->each, n);
  if (p->memory.failed)
    return p;
  for (int i = 0; i < n; i++) {
    p->others[i].pair = pairs[i];
    p->each.ranks[i] = pairs[i].rank;
    p->half = pairs[i].receive_end > p->half ? pairs[i].receive_end : p->half;
  }
  p->half = (p->half + FLAG - 1) / FLAG * FLAG;
  return p;
}

/* The block, with flags that are 0. A rank without one does as before. */
static bool make_block(struct gpu *c, struct device_pairs *p, struct gpu_handle *handle) {
  struct error ignored = {0};
  const size_t flags = (size_t)p->n * FLAG, bytes = GPU_TURNS * p->half + flags;
  void *zeros = array_new(flags, 1);
  bool good = zeros && !gpu_allocate(c, &p->block, bytes, &ignored, "the messages of a halo exchange");
  p->bytes = good ? bytes : 0;
  p->block = good ? p->block : 0;
  good = good && !c->driver->copy_in(c->self, p->block + GPU_TURNS * p->half, zeros, flags) &&
         !c->driver->wait(c->self) && !c->driver->peer_give(c->self, p->block, handle);
  free(zeros);
  error_free(&ignored);
  return good;
}

/* ---- which ranks can ---- */

/* Sends a number of bytes from `mine` on to each other rank; they arrive at `its`. Both are places in struct other.
 * */
static int swap(struct op_context *ctx, struct device_pairs *p, size_t mine, size_t its, size_t bytes,
                struct error *err) {
  for (int i = 0; i < p->n; i++) {
    p->each.bytes[i] = bytes;
    memcpy(p->sent + (size_t)i * bytes, (unsigned char *)&p->others[i] + mine, bytes);
  }
  const int code = ctx->comm->table->exchange(ctx->comm, p->sent, &p->each, p->received, &p->each, err);
  for (int i = 0; !code && i < p->n; i++)
    memcpy((unsigned char *)&p->others[i] + its, p->received + (size_t)i * bytes, bytes);
  return code;
}

/* Both are good, or neither. */
static int agree_pairs(struct op_context *ctx, struct device_pairs *p, struct error *err) {
  const int code = swap(ctx, p, offsetof(struct other, good), offsetof(struct other, found_good), 1, err);
  p->nflags = 0;
  for (int i = 0; !code && i < p->n; i++) {
    p->others[i].good &= p->others[i].found_good;
    if (p->others[i].good)
      p->flags[p->nflags++] = p->block + GPU_TURNS * p->half + (size_t)i * FLAG;
  }
  return code;
}

static int offer(struct op_context *ctx, struct gpu *c, struct device_pairs *p, bool here,
                 struct error *err) {
  struct gpu_handle handle = {{0}};
  const bool given = here && p->n && make_block(c, p, &handle);
  for (int i = 0; i < p->n; i++)
    p->others[i].mine = (struct offer){.node = ctx->comm->node,
                                       .given = given,
                                       .handle = handle,
                                       .half = p->half,
                                       .rows = p->others[i].pair.receive,
                                       .flag = GPU_TURNS * p->half + (size_t)i * FLAG};
  return swap(ctx, p, offsetof(struct other, mine), offsetof(struct other, its), sizeof(struct offer), err);
}

static int take(struct op_context *ctx, struct gpu *c, struct device_pairs *p, struct error *err) {
  for (int i = 0; i < p->n; i++) {
    struct other *o = &p->others[i];
    if (!o->mine.given || !o->its.given || o->its.node != o->mine.node)
      continue;
    const int result = c->driver->peer_take(c->self, &o->its.handle, &o->memory);
    o->good = !result;
    if (result) {
      struct error why = {0};
      o->memory = 0;
      c->driver->check(c->self, result, &why, "opening it");
      log_line(ctx->log, LOG_INFO, "mpi", "messages for rank %d do not go to memory of its GPU: %s",
               o->pair.rank, error_message(&why));
      error_free(&why);
    }
    o->rows = o->memory + o->its.rows;
    o->flag = o->memory + o->its.flag;
    o->half = (size_t)o->its.half;
  }
  return agree_pairs(ctx, p, err);
}

static int set_flags(struct gpu *c, const struct device_pairs *p) {
  int result = 0;
  for (int i = 0; !result && i < p->n; i++)
    if (p->others[i].good)
      result = c->driver->flag_set(c->self, p->others[i].flag, p->turn);
  return result;
}

/* A turn without rows. Where one rank's device does not do it, nobody's is asked again. */
static int try(struct op_context *ctx, struct gpu *c, struct device_pairs *p, struct error *err) {
  bool come = true;
  p->turn = 1;
  if (p->nflags && (set_flags(c, p) || c->driver->flag_await(c->self, p->flags, p->nflags, p->turn) ||
                    c->driver->flag_try(c->self, TRIAL, &come)))
    come = false;
  if (!come)
    log_line(ctx->log, LOG_INFO, "mpi", "%s: flags of other ranks do not come; MPI brings messages",
             c->device.label);
  double lost = !come;
  const int code = agree_on_largest(ctx->comm, OP_OK, &lost, 1, err);
  c->shares = !code && lost == 0;
  p->nflags = c->shares ? p->nflags : 0;
  return code;
}

int gpu_pairs_new(struct op_context *ctx, enum space space, struct message_pair *pairs, int n, int code,
                  struct device_pairs **out, struct error *err) {
  const bool here = space_is_device(space);
  struct gpu *c = gpu_of(ctx, here ? space : space_of_device(0));
  *out = NULL;
  if (!c->shares)
    return code;
  struct device_pairs *p = code ? NULL : pairs_make(pairs, n);
  if (!code && (!p || p->memory.failed))
    code = error_memory(err, "the messages of a halo exchange", (size_t)n * sizeof(struct other));
  code = agree_on_success(ctx->comm, code, err);
  if (!code) {
    gpu_pairs_close(c); /* the others dropped theirs before they came here */
    code = offer(ctx, c, p, here && !c->failed, err);
  }
  if (!code)
    code = take(ctx, c, p, err);
  if (!code)
    code = try(ctx, c, p, err);
  if (code || !p->nflags) {
    if (p)
      gpu_pairs_free(ctx, space, p);
    return code;
  }
  for (int i = 0; i < n; i++)
    pairs[i].direct = p->others[i].good;
  log_line(ctx->log, LOG_INFO, "mpi", "messages of %d of %d ranks go from GPU to GPU", p->nflags, n);
  *out = p;
  return OP_OK;
}

/* ---- where messages are ---- */

static size_t begin_of(const struct other *o, bool sent) {
  return sent ? o->pair.send : o->pair.receive;
}
static size_t end_of(const struct other *o, bool sent) {
  return sent ? o->pair.send_end : o->pair.receive_end;
}

/* Rows that are packed belong to the turn that is told behind them. */
int gpu_pairs_turn(const struct device_pairs *p, bool sent) {
  return (int)((p->turn + sent) % GPU_TURNS);
}

gpu_address gpu_pairs_place(const struct device_pairs *p, bool sent, size_t at) {
  const size_t turn = (size_t)gpu_pairs_turn(p, sent);
  for (int i = 0; i < p->n; i++) {
    const struct other *o = &p->others[i];
    if (o->good && at >= begin_of(o, sent) && at < end_of(o, sent))
      return sent ? o->rows + turn * o->half + (at - o->pair.send) : p->block + turn * p->half + at;
  }
  return 0;
}

void gpu_pairs_leave(const struct device_pairs *p, bool sent, size_t *begin, size_t *end) {
  for (int i = 0; i < p->n; i++) {
    const struct other *o = &p->others[i];
    const size_t first = begin_of(o, sent), behind = end_of(o, sent);
    if (!o->good || first == behind || behind <= *begin)
      continue;
    if (first > *begin) {
      *end = first;
      return;
    }
    *begin = behind;
  }
}

/* ---- one exchange ---- */

static int failed(struct gpu *c, int result, struct error *err) {
  c->failed |= result != 0;
  return gpu_failed(c, result, err, "exchanging messages with other ranks on %s", c->device.label);
}

int gpu_pairs_tell(struct op_context *ctx, enum space space, struct device_pairs *p, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  c->turns = c->holds ? 0 : c->turns; /* what follows is the same each time */
  c->direct += p->nflags == p->n;
  p->turn++;
  return failed(c, set_flags(c, p), err);
}

int gpu_pairs_await(struct op_context *ctx, enum space space, struct device_pairs *p, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  return failed(c, c->driver->flag_await(c->self, p->flags, p->nflags, p->turn), err);
}
