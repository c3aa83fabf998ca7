/* Halo exchange: copies of others' elements are brought up to date, of all dats that a loop reads in one message
 * per neighbour. Buffers and messages are made once for each set of needs and used again until the mesh changes.
 * Collective: all ranks ask for the same needs in the same order. */
#ifndef OP2JIT_EXCHANGE_H
#define OP2JIT_EXCHANGE_H

#include "mesh/data.h"
#include "mesh/halo.h"

struct op_context;
struct exchange;

/* Rows of a dat that a chain needs, and not a part of the halo that loops know (loop/chain/). */
struct halo_rows {
  struct halo_exchange exchange;
  struct dat *into;       /* they go there, and are not the dat's own copies; NULL: they are */
  uint64_t sent, version; /* 1 more than the dat's, which was sent, and came; 0: none */
};

/* A part of a dat's halo: these rows, what the map reaches, or (both NULL) the elements that are executed here as well. */
struct halo_need {
  struct dat *dat;
  const struct map *map;
  struct halo_rows *rows;
  uint64_t version; /* the exchange's: which was sent */
};

/* ---- which copies are the newest (halo.c): the same on all ranks, and wherever these have the dat ---- */

/* How deep they are the newest (plan/depth.h); a map's part may be besides. */
int halo_depth(struct op_context *ctx, struct dat *dat);
/* True if the copies that the map reaches are the newest; NULL: those that are executed here as well. */
bool halo_is_current(struct op_context *ctx, struct dat *dat, const struct map *map);
/* Copies that are the newest anywhere become so in this space, too; nothing is sent to other ranks. */
int halo_bring(struct op_context *ctx, struct dat *dat, enum space space, struct error *err);
/* Copies are the newest now, so deep, since the loop in this space that made the newest version ran on copies as well. */
void halo_computed(struct op_context *ctx, struct dat *dat, enum space space, int depth);
/* No copy is the newest. */
void halo_is_old(struct dat *dat);
/* Note from now on whether what the map reaches is the newest. NULL: that is always noted. */
int halo_keep_part(struct dat *dat, const struct map *map, struct error *err);
/* The map is about to be freed. */
void halo_forget_map(struct dat *dat, const struct map *map);
/* Note that what was sent of them arrived in this space. */
void halo_received(struct dat *dat, enum space space, const struct map *map);

/* ---- exchanges ---- */

/* The loops that waited (loop/chain/), at the beginning of each message: the same on all ranks, or waiting for it is
 * OP_ERR_MPI. */
struct exchange_header {
  uint32_t flush, loops;
  uint64_t hash;
};
/* Made, or found again; belongs to the context, and lives until the mesh's epoch changes or one of the dats is freed. The
 * header is kept until the exchange is finished; NULL: messages have none, nor have those of a device. */
int exchange_get(struct op_context *ctx, const struct halo_need *needs, int count, enum space space,
                 const struct exchange_header *header, struct exchange **out, struct error *err);
/* Pack and send. Until it is finished ctx->poll lets the messages get on, and owned rows that are sent may change. */
int exchange_start(struct op_context *ctx, struct exchange *x, struct error *err);
/* Wait, unpack, and note what is the newest now. *waited: seconds. */
int exchange_finish(struct op_context *ctx, struct exchange *x, double *waited, struct error *err);
int exchange_messages(const struct exchange *x);
size_t exchange_bytes(const struct exchange *x); /* sent by this rank */

/* Drop those of the dat; NULL: all. */
void exchanges_forget(struct op_context *ctx, const struct dat *dat);
/* Drop those of the rows, which are about to be freed. Local. */
void exchanges_forget_rows(struct op_context *ctx, const struct halo_rows *rows);

#endif
