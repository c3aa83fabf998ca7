/* Data on sets: a version raised by each write, and replicas that hold some version each. Only dat_need and
 * dat_wrote move or mark data. */
#ifndef OP2JIT_MESH_DATA_H
#define OP2JIT_MESH_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/team.h"
#include "mesh/mesh.h"
#include "mesh/rows.h"
#include "mesh/view.h"

/* The place of a replica: a number, 0 is the host, then come the devices of the process. The user's own order is no replica:
 * fetch and put convert from and to the host's. */
enum { DEVICES_MOST = 4 };
enum space { SPACE_HOST, SPACES = 1 + DEVICES_MOST };
static inline enum space space_of_device(int device) {
  return (enum space)(1 + device);
}
static inline bool space_is_device(enum space space) {
  return space != SPACE_HOST;
}
static inline int device_of(enum space space) {
  return (int)space - 1;
}
/* Rows behind the end of tables and dats that vector code may read (never use). */
enum { MAP_SLACK = 16 };
/* Parts of a set that get new values at different times: what the rank owns, and its copies of others' elements. A
 * replica that has the newest copies has the newest of what is owned, too. */
enum region { REGION_OWNED, REGION_COPIES, REGIONS };

struct replica {
  void *memory; /* of a device: whatever the mover keeps there */
  size_t bytes; /* 0: not allocated */
  uint64_t version[REGIONS];
};

/* How deep the copies are the newest (plan/depth.h), the same on all ranks: in the replica that has the newest copies. A
 * write makes a new version, and none of them is. spread/halo.c's. */
struct halo_part {
  const struct map *map;
  uint64_t version; /* for which all that the map reaches is the newest, whatever the depth */
};
struct halo_depth {
  int depth;
  uint64_t version; /* for which it holds */
  struct halo_part *parts;
  int nparts;
  unsigned epoch; /* of the mesh */
};

struct dat {
  int id;
  char *name;
  op_dat handle;
  struct set *set;
  int dim;
  enum type_code type;
  bool soa, apart; /* components lie apart: in the host's replica, in those of devices */
  bool temporary;
  bool read;      /* by a loop, or by the program */
  bool dying;     /* freed, but loops that wait use it: loop/temporary.h */
  bool blank;     /* its values are zeros, whatever its memory holds */
  bool asked_soa; /* by the declaration; OP2_VARIANT may say otherwise */
  size_t value_size, row_bytes;
  long stride;              /* SoA: distance of components, in values */
  uint64_t version, copies; /* of REGION_OWNED and REGION_COPIES */
  struct replica replicas[SPACES];
  struct halo_depth halo;
  struct view *view;       /* NULL: the data are the library's alone */
  struct segment *segment; /* whose element matrices it holds (matrix/); NULL: it is the program's */
  struct guest *guest;     /* its rows are lent, or lie in somebody else's memory (guest.h); NULL: neither */
  bool borrowed;           /* the host's rows lie in memory that is not the dat's to free */
};

struct device_messages; /* the mover's */

/* How data gets to and from the devices, each by its space: filled by the backend that has some. */
struct gbl;
/* Rows of a dat in a message. */
struct message_rows {
  struct dat *dat;
  const int *elements;
  long count;
  size_t at; /* bytes, in the messages of its direction */
  int turn;  /* ascending: rows of one turn are of different elements */
};

/* Another rank, of an exchange: where its messages are in those of each direction, and whether the devices bring them, without
 * MPI. */
struct message_pair {
  int rank;
  size_t send, send_end, receive, receive_end;
  bool direct;
};
struct device_pairs; /* the mover's */

struct mover {
  /* Sets memory and bytes of the replica. */
  int (*make)(struct op_context *ctx, enum space space, struct dat *dat, struct error *err);
  int (*to_device)(struct op_context *ctx, enum space space, struct dat *dat, struct error *err);
  int (*to_host)(struct op_context *ctx, enum space space, struct dat *dat, struct error *err);
  void (*release)(struct op_context *ctx, enum space space, struct dat *dat);
  /* A global's values. The device's memory for them is there from the first time until the backend closes. */
  int (*value_to_device)(struct op_context *ctx, enum space space, const struct gbl *gbl, struct error *err);
  int (*value_to_host)(struct op_context *ctx, enum space space, struct gbl *gbl, struct error *err);
  /* Ranks: room for the messages of one direction of an exchange. *memory is what MPI sends from or receives into. */
  int (*messages_new)(struct op_context *ctx, enum space space, size_t bytes, struct device_messages **out,
                      unsigned char **memory, struct error *err);
  void (*messages_free)(struct op_context *ctx, enum space space, struct device_messages *messages);
  /* All rows of one direction, one behind the other in the host's layout of rows, from the device's replicas to the
   * messages, and back. Lists of elements stay as they are as long as the mesh's epoch does. */
  int (*pack)(struct op_context *ctx, enum space space, struct device_messages *messages,
              const struct message_rows *rows, int n, struct error *err);
  int (*unpack)(struct op_context *ctx, enum space space, struct device_messages *messages,
                const struct message_rows *rows, int n, struct error *err);
  /* MPI may have the messages when all rows are packed, and nothing on the device uses messages any more: now, or (*later)
   * when `handed_over` returns, so that the device is given work meanwhile. NULL: there is nothing to send. */
  int (*hand_over)(struct op_context *ctx, enum space space, struct device_messages *messages, bool *later,
                   struct error *err);
  int (*handed_over)(struct op_context *ctx, enum space space, struct error *err);
  /* The messages are there: what is unpacked next finds them. */
  int (*take_over)(struct op_context *ctx, enum space space, struct device_messages *messages,
                   struct error *err);
  /* Find the pairs that do without MPI, in an exchange whose messages (NULL: none) all ranks have; the device's messages of these are
   * from then on in the other rank's memory. Collective, if all have devices; `code` is this rank's outcome so far. *out is NULL
   * where none does. */
  int (*pairs_new)(struct op_context *ctx, enum space space, struct device_messages *send,
                   struct device_messages *receive, struct message_pair *pairs, int n, int code,
                   struct device_pairs **out, struct error *err);
  void (*pairs_free)(struct op_context *ctx, enum space space, struct device_pairs *pairs);
  /* Behind what is packed: the others' devices may unpack it. Before what is unpacked: the device waits until they told the
   * same. The host does not wait. */
  int (*pairs_tell)(struct op_context *ctx, enum space space, struct device_pairs *pairs, struct error *err);
  int (*pairs_await)(struct op_context *ctx, enum space space, struct device_pairs *pairs, struct error *err);
  /* The address of the replica, which is there, for other libraries of the process that use the device as `where` says (enum
   * op2jit_where of op2jit_bridge.h): nothing runs any more that uses it. Both NULL: addresses are of no use to others. */
  int (*lend)(struct op_context *ctx, enum space space, struct dat *dat, void **memory, struct error *err);
  int (*where)(const struct op_context *ctx);
  /* Messages are about to be waited for: what the device is to do meanwhile begins. */
  int (*give)(struct op_context *ctx, enum space space, struct error *err);
};

/* `data` in rows and the user's order, NULL: zeros. NULL with the error set. What knows the dat forgets it before
 * data_free. A set that is spread over ranks gets its data by spread_put, once all ranks have the dat. */
struct dat *data_new(struct op_context *ctx, struct set *set, int dim, const char *type, const void *data,
                     const char *name, bool temporary, struct error *err);
/* A view (view.h) on the array, whose values are its first; NULL only if the set is empty. OP_ERR_ALIAS if the array
 * overlaps another view's. */
struct dat *data_new_view(struct op_context *ctx, struct set *set, int dim, const char *type, void *array,
                          const char *name, struct error *err);
void data_free(struct op_context *ctx, struct dat *dat);
/* The dat that was made last goes, and the next one gets its number, as on ranks where it could not be made. */
void data_undo(struct op_context *ctx, struct dat *dat);

/* False after dat_leave_memory. On all ranks alike. */
static inline bool dat_has_memory(const struct dat *dat) {
  return dat->replicas[SPACE_HOST].bytes > 0;
}

/* Make the space's replica hold the newest version of the region; allocates it if need be. From one device to
 * another it goes through the host. How new the newest copies are, ranks see to (exchange.h). */
int dat_need(struct op_context *ctx, struct dat *dat, enum space space, enum region region,
             struct error *err);
/* The host's rows are about to lie elsewhere: frees those that are the dat's own. */
void dat_leave_rows(struct dat *dat);
/* No device has a copy any more. */
void dat_leave_devices(struct op_context *ctx, struct dat *dat);
/* True if it holds that already, so that there is nothing to do for dat_need. */
static inline bool dat_is_current(const struct dat *dat, enum space space, enum region region) {
  return !dat->blank &&
         dat->replicas[space].version[region] == (region == REGION_OWNED ? dat->version : dat->copies);
}
/* Owned rows were written in this space: a new version, every other replica is old, and so are all copies. */
static inline void dat_wrote(struct dat *dat, enum space space) {
  dat->blank = false;
  dat->version++;
  dat->replicas[space].version[REGION_OWNED] = dat->version;
}
/* Some copies got new values in this space, which has the newest of what is owned. */
static inline void dat_got_copies(struct dat *dat, enum space space) {
  dat->copies++;
  dat->replicas[space].version[REGION_COPIES] = dat->copies;
}
/* True if components lie apart there. Replicas of one dat may lie otherwise than one another: what copies them converts. */
static inline bool dat_is_apart_in(const struct dat *dat, enum space space) {
  return space_is_device(space) ? dat->apart : dat->soa;
}
/* One whose components lie apart has its rows whole from now on, in all spaces. The mesh's epoch rises: loops know how dats
 * lie. No loop waits. OP_ERR_MEMORY; nothing is changed then. */
int dat_lay_in_rows(struct op_context *ctx, struct dat *dat, struct error *err);
/* On devices alone, of one that has several components and is not lent: they get new replicas from the host's, which stays as
 * it is. The same holds. */
int dat_lay_on_devices(struct op_context *ctx, struct dat *dat, bool apart, struct error *err);
/* Two dats of one set, dim and type: each gets what the other one held, in all spaces, and no value is copied, but where
 * the rows of one alone are whole: then the other's are too from now on. A view works in its array no more. No loop
 * waits. OP_ERR_MEMORY; no value is changed then. */
int dat_swap(struct op_context *ctx, struct dat *a, struct dat *b, struct error *err);
/* It holds nothing, anywhere, until dat_swap gives it what another one has. No view, and no loop waits. */
void dat_leave_memory(struct op_context *ctx, struct dat *dat);
/* A view works in its array no more: the rows move to memory of the library's own. */
int dat_leave_array(struct op_context *ctx, struct dat *dat, struct error *err);
/* All values are zero from now on, and the host's memory is what will hold them. */
static inline void dat_clear(struct dat *dat) {
  if (!dat->blank)
    dat_wrote(dat, SPACE_HOST);
  dat->blank = true;
}
/* All of it is about to be written, and nothing of what it holds is needed. */
void dat_overwrite(struct dat *dat);

/* All rows, and elements low .. high, both included, in the user's order: of the host's replica, in one process
 * (spread.h has data_fetch). */
void data_put_rows(struct op_context *ctx, struct dat *dat, const void *in);
void data_fetch_rows(struct op_context *ctx, const struct dat *dat, void *out, long low, long high);

/* One value of the host replica, in the library's numbering. */
static inline void *dat_value(const struct dat *dat, long element, int component) {
  size_t index = dat->soa ? (size_t)component * (size_t)dat->stride + (size_t)element
                          : (size_t)element * (size_t)dat->dim + (size_t)component;
  return (unsigned char *)dat->replicas[SPACE_HOST].memory + index * dat->value_size;
}

/* The rows of the host replica. */
static inline struct row_store dat_rows(const struct dat *dat) {
  return (struct row_store){dat->replicas[SPACE_HOST].memory, dat->value_size, dat->dim,
                            dat->soa ? dat->stride : 0};
}

/* The owned rows on the host as doubles, to be freed; NULL: no memory. */
double *dat_numbers(const struct dat *dat);

/* The memory of a replica of `rows` rows, false if it is more than can be addressed; and the SoA stride then. */
bool data_bytes(const struct dat *dat, long rows, size_t *bytes);
long data_stride(long rows);

/* Large arrays on huge pages, aligned to 64 bytes, zeroed, with slack behind so that vector code may load whole
 * rows at the end; touched first by the threads that will use them (`team` NULL: by the caller). Arrays that one
 * loop uses get different numbers, for they then lie apart in the caches. NULL: no memory. */
void *data_memory(struct team *team, size_t bytes, unsigned number);
/* The same, but on small pages and with any contents: the system gives a large one's pages when they are first written. */
void *data_memory_untouched(size_t bytes, unsigned number);
/* The numbers of maps' tables, by their ids: loops use few dats and maps, so the two seldom meet. */
static inline unsigned data_table_number(int map) {
  return 30 + (unsigned)map;
}
/* For a dat's rows, of which SoA has each component apart. */
void *data_rows_memory(struct team *team, const struct dat *dat, size_t bytes);
void data_memory_free(void *memory);

/* Bring up to date what programs of OP2 see of sets, maps and dats (include/op2/op2jit_visible.h). */

struct op_context;

/* All of them: after a declaration, and when elements were renumbered or changed their owners. */
void visible_update(struct op_context *ctx);

#endif
