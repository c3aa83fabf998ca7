/* The one context: what the library has between op_init and op_exit, as pointers to what the rooms own. A room
 * includes the header of what it uses; nothing is known here. api/life.c fills it, services/ opens on demand what
 * is NULL at first. */
#ifndef OP2JIT_CONTEXT_H
#define OP2JIT_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The library's version as a text, for users of op2jit.h: "1.2.3". */
#define VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define VERSION_TEXT(major, minor, patch) VERSION_TEXT_(major, minor, patch)
#define VERSION VERSION_TEXT(OP2JIT_VERSION_MAJOR, OP2JIT_VERSION_MINOR, OP2JIT_VERSION_PATCH)

struct error;
struct gbl;

struct op_context {
  struct env *env;
  struct log *log;
  int diags;
  struct comm *comm;       /* the ranks; of one process alone without MPI. Borrowed */
  struct comm *agreement;  /* the same ranks, for what they must have in common (agree.h) */
  struct comm *peers;      /* those of one backend, where a job has several (ranks/comm.h); NULL: all */
  struct kind *kind;       /* the ranks with the same code (kind.h); NULL: one process */
  struct kind *gpus;       /* the ranks with such a GPU, whose leaders have the stores then; NULL: none */
  struct handles *handles; /* outlives the context */
  struct mesh *mesh;
  struct loop_table *loops;
  struct list *sites;        /* of calls of loops, see record/sites.h */
  struct list *periods;      /* of loops that waited, see loop/chain/chain.c */
  struct layouts *layouts;   /* of dats that lie otherwise than was asked for, see loop/chain/layout.h */
  struct list *chains;       /* that ran, see loop/chain/tiled.h */
  struct list *graphs;       /* of tasks, see tasks/graph.h */
  struct list *past_graphs;  /* that were freed: see tasks_retire */
  struct list *graph_loops;  /* loops in graphs, see loop/chain/in_graph.h */
  int graph_serial;          /* of the last one */
  struct comm *graph_comm;   /* the same ranks, for messages between tasks; NULL: none, so far */
  struct findings *findings; /* of OP2_CHECK=list, see record/findings.h */
  struct list *fused;        /* loops made of several, see loop/chain/fused.h */
  struct queue *queue;       /* of loops that wait; NULL: they run at once */
  struct balance *balance;   /* of ranks' times, see loop/balance.h; NULL: one rank */
  struct late_queue *late;   /* results of ranks on their way, see record/late.c; NULL: there were none */
  /* Ends those that are on their way to the global; set once there are some. */
  int (*bring)(struct op_context *ctx, const struct gbl *gbl, struct error *err);
  const struct recorder *recorder; /* of loops, see record/recorder.h; NULL: nothing is recorded */
  const struct catcher *catcher;   /* of calls that are kept, likewise; NULL: none is */
  struct taking *taking;           /* OP2_CAPTURE, see capture/capture.h; NULL: not given */
  struct tapes *tapes;             /* of derivatives; NULL: nobody asked for one */
  const struct backend *backend;
  void *backend_state;
  const struct backend *shadow; /* OP2_SHADOW; NULL: none */
  int shadow_every;
  bool reproducible;             /* OP2_REPRODUCIBLE, of all loops */
  const struct loop_form *forms; /* in which loops run that do not run plainly, see loop/loop.h */
  bool
      /* kernels are functions of the program (include/op2): no compiler is needed, dats stay as they are declared */
      compiled;
  bool untouched;          /* such a program, which promised not to touch dat->data: its loops may wait */
  struct list *texts;      /* of their sources, see api/op2/text.h */
  struct list *procedures; /* of a program in Fortran that were kernels, see api/fortran/ */
  struct list *arrays;     /* that stand for its dats and maps, see api/fortran/arguments.c */
  struct kept *kept;       /* values that arguments have of their own, see record/kept.h; NULL: none */
  int columns_base;        /* the first column of a map in messages: 0, or 1 for programs in Fortran */
  int maps_base; /* the first number in tables of maps: 0, or 1 in Fortran or if a program of OP2 says so */
  unsigned visible_epoch;    /* of the mesh, as programs of OP2 see it */
  bool copies_told;          /* that a section of an array is copied, see api/fortran/ */
  bool reshaped_told;        /* OP2_JIT=load: that a loop runs in another shape than suits its data */
  const struct mover *mover; /* NULL without a device */
  /* Lets messages get on while a loop runs; NULL: none travel. */
  bool (*poll)(void *ctx);
  struct exchanges *exchanges; /* NULL until ranks exchange halos */
  struct team *team;           /* NULL until a backend wants threads */
  size_t cache_bytes;          /* of its last-level caches; 0: nobody asked yet */
  struct store *store;         /* NULL until a backend compiles */
  struct jit *jit;
  int behind; /* threads that compile or cut tiles behind the program now, at most */
  struct plan_cache *plans;
  struct native_table *natives;
  struct list *kernel_files;
  struct shared *shared; /* text in front of each kernel (jit/kernel/unit.h) */
  struct trace *trace;
  struct text *told;         /* warnings that a line of the program gets once, see record/sites.h */
  struct text *dat_names;    /* that OP2_VARIANT could have meant, see base/text.h */
  struct io *io;             /* files; NULL until one is wanted */
  struct solving *solving;   /* solvers, see solve/solve.h */
  struct profile *profile;   /* sections of the program; NULL: none */
  struct hardware *hardware; /* what is counted of each loop; NULL: nothing */
  struct op2jit_counters *counters;
};

#endif
