/* Ranks that make different calls would wait for each other for ever, and so would those whose neighbour failed
 * alone. That one tells them; for the others each comm counts what is begun on it; a rank that has waited for some
 * seconds tells others where it waits, and looks at what they tell. All ranks begin the same in the same order: so
 * if one has begun what the other has not, and the other way round, or the same number of a comm is not the same
 * call, then they differ, however old what was told is. Nobody who does not wait or fail sends anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "post.h"

enum { MOST_COMMS = 8, TAG_NOTE = 1, NOTE_TO_ALL = 16 };

struct note {
  int rank, comm, teller; /* teller: who found `words`, -1: nothing is wrong */
  int code;               /* of the error then; OP_ERR_MPI: they differ, or MPI itself failed */
  bool failed;            /* `rank` did, as `words` say */
  long long number, begun[MOST_COMMS];
  char where[96], call[32];
  char words[400];
};

struct mpi_watch {
  MPI_Comm mpi;
  int rank, size, users, comms;
  long long begun[MOST_COMMS];
  struct note out, last; /* being sent: where this rank waits; what is wrong */
  struct note heard;     /* of a rank that failed, and waits where this one may still come */
  int nsends;
  MPI_Request sends[]; /* to each rank */
};

/* ---- life ---- */

int mpi_watch_new(struct comm *c, struct error *err) {
  struct mpi_state *s = mpi_state(c);
  struct mpi_watch *watch = calloc(1, sizeof *watch + (size_t)c->size * sizeof *watch->sends);
  if (!watch)
    return error_memory(err, "the comm", sizeof *watch);
  *watch = (struct mpi_watch){.mpi = MPI_COMM_NULL, .rank = c->rank, .size = c->size};
  watch->last.teller = -1;
  int code = mpi_check(MPI_Comm_dup(s->mpi, &watch->mpi), "MPI_Comm_dup", err);
  if (code) {
    free(watch);
    return code;
  }
  MPI_Comm_set_errhandler(watch->mpi, MPI_ERRORS_RETURN);
  mpi_watch_share(watch, c);
  return OP_OK;
}

/* The number of a comm is the same on all ranks; those of some ranks only are not watched. */
void mpi_watch_share(struct mpi_watch *watch, struct comm *c) {
  struct mpi_state *s = mpi_state(c);
  if (!watch || watch->comms == MOST_COMMS)
    return;
  s->number = watch->comms++;
  if (c->size == watch->size) {
    s->watch = watch;
    watch->users++;
  }
}

static struct mpi_watch *watch_of(const struct comm *c) {
  const struct mpi_state *s = mpi_state(c);
  return s->watch ? s->watch : s->around;
}

void mpi_watch_around(const struct comm *c, struct comm *part) {
  struct mpi_state *s = mpi_state(part);
  struct mpi_watch *watch = watch_of(c);
  if (s->watch || !watch)
    return;
  s->around = watch;
  watch->users++;
}

static bool next_note(struct mpi_watch *watch, struct note *note) {
  MPI_Status status;
  int there = 0;
  return MPI_Iprobe(MPI_ANY_SOURCE, TAG_NOTE, watch->mpi, &there, &status) == MPI_SUCCESS && there &&
         MPI_Recv(note, (int)sizeof *note, MPI_BYTE, status.MPI_SOURCE, TAG_NOTE, watch->mpi,
                  MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* True if all notes have left. */
static bool all_sent(struct mpi_watch *watch) {
  for (int sent = 1; watch->nsends && sent; watch->nsends -= sent)
    if (MPI_Test(&watch->sends[watch->nsends - 1], &sent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return false;
  return watch->nsends == 0;
}

void mpi_watch_drop(struct mpi_watch *watch, bool ended) {
  struct note note;
  if (!watch || --watch->users)
    return;
  while (!ended && next_note(watch, &note))
    continue;
  /* Memory that MPI still reads stays. */
  if (!ended && !all_sent(watch))
    return;
  if (!ended && watch->last.teller < 0)
    MPI_Comm_free(&watch->mpi);
  free(watch);
}

/* ---- telling ---- */

/* In a large job to a few, so that everybody is reached by somebody who waits elsewhere. */
static bool is_told(const struct mpi_watch *watch, int rank) {
  const int distance = (rank - watch->rank + watch->size) % watch->size, back = watch->size - distance;
  if (!distance)
    return false;
  return watch->size <= NOTE_TO_ALL || (distance & (distance - 1)) == 0 || (back & (back - 1)) == 0;
}

static void send_note(struct mpi_watch *watch, const struct note *note, bool to_all) {
  /* Notes that have not left yet are given up. */
  watch->nsends = 0;
  for (int r = 0; r < watch->size; r++)
    if (r != watch->rank && (to_all || is_told(watch, r)))
      watch->nsends += MPI_Isend(note, (int)sizeof *note, MPI_BYTE, r, TAG_NOTE, watch->mpi,
                                 &watch->sends[watch->nsends]) == MPI_SUCCESS;
}

static void copy_words(char *to, size_t room, const char *from) {
  const size_t length = strcspn(from, "\n");
  snprintf(to, room, "%.*s", (int)length, from);
}

static void put_failure(struct note *note, const struct error *err) {
  note->failed = true;
  note->code = err->code;
  snprintf(note->words, sizeof note->words, "rank %d: %s", note->rank, error_message(err));
}

static void describe(const struct mpi_wait *w, struct note *note) {
  const struct mpi_state *s = mpi_state(w->comm);
  const char *where = w->comm->where;
  *note = (struct note){.rank = w->comm->rank, .comm = s->number, .teller = -1, .number = w->number};
  memcpy(note->begun, s->watch->begun, sizeof note->begun);
  copy_words(note->where, sizeof note->where, where ? where + strspn(where, "\t") : "a call of the library");
  copy_words(note->call, sizeof note->call, w->call);
  if (w->comm->failure)
    put_failure(note, w->comm->failure);
}

/* ---- looking ---- */

/* A rank that failed agrees on that wherever the others agree next. */
static bool differ(const struct note *mine, const struct note *theirs) {
  if (mine->comm == theirs->comm)
    return mine->number == theirs->number && !mine->failed && !theirs->failed &&
           (strcmp(mine->where, theirs->where) != 0 || strcmp(mine->call, theirs->call) != 0);
  return mine->begun[theirs->comm] < theirs->number && theirs->begun[mine->comm] < mine->number;
}

/* A rank that failed has told the user itself. Several pairs of ranks may find it at once that they differ: rank 0
 * tells the user, or, if it comes to no call, the lower one of a pair. */
static int fail(const struct mpi_watch *watch, struct error *err) {
  error_set(err, watch->last.code, "%s", watch->last.words);
  if (watch->last.failed)
    err->teller = watch->last.teller == watch->rank ? ERROR_AGREED : ERROR_ELSEWHERE;
  else
    err->teller = watch->rank == 0                    ? ERROR_AGREED
                  : watch->last.teller == watch->rank ? ERROR_MINE
                                                      : ERROR_ELSEWHERE;
  return err->code;
}

static void find_out(struct mpi_watch *watch, const struct note *mine, const struct note *theirs) {
  const struct note *low = mine->rank < theirs->rank ? mine : theirs, *high = low == mine ? theirs : mine;
  if (mine->failed || theirs->failed)
    watch->last = mine->failed ? *mine : *theirs;
  else
    watch->last = (struct note){.rank = low->rank, .code = OP_ERR_MPI};
  watch->last.teller = watch->last.rank;
  if (!watch->last.failed)
    snprintf(
        watch->last.words, sizeof watch->last.words,
        "rank %d is in %s (%s), rank %d in %s (%s), and they wait for each other; all ranks must make the "
        "same calls in the same order",
        low->rank, low->where, low->call, high->rank, high->where, high->call);
  send_note(watch, &watch->last, true);
}

static void tell_all(struct mpi_watch *watch, const struct error *err) {
  watch->last = (struct note){.rank = watch->rank, .teller = watch->rank};
  put_failure(&watch->last, err);
  send_note(watch, &watch->last, true);
}

int mpi_watch_begin(struct comm *c, struct error *err) {
  struct mpi_state *s = mpi_state(c);
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended)
    return error_set(
        err, OP_ERR_MPI,
        "MPI has ended in this process, by MPI_Finalize, or by PetscFinalize where PETSc began it; "
        "call op_exit first");
  if (!s->watch)
    return s->around && s->around->last.teller >= 0 ? fail(s->around, err) : OP_OK;
  s->watch->begun[s->number]++;
  return s->watch->last.teller < 0 ? OP_OK : fail(s->watch, err);
}

long long mpi_watch_number(const struct comm *c) {
  const struct mpi_state *s = mpi_state(c);
  return s->watch ? s->watch->begun[s->number] : 0;
}

/* Nothing is counted where only some ranks wait. A rank that failed, and waits there so long that the others of that comm may not come,
 * tells all; what ranks of other comms wait for is not asked. */
static int look_around(const struct mpi_wait *w, struct error *err) {
  const double hang = w->comm->hang, patience = hang > 0 && hang < 3 ? hang : 3;
  struct mpi_watch *watch = mpi_state(w->comm)->around;
  struct note theirs;
  while (watch && watch->last.teller < 0 && next_note(watch, &theirs))
    if (theirs.teller >= 0)
      watch->last = theirs;
    else if (theirs.failed)
      watch->heard = theirs;
  if (watch && watch->last.teller < 0 && w->comm->failure && clock_seconds() - w->begin > patience)
    tell_all(watch, w->comm->failure);
  return watch && watch->last.teller >= 0 ? fail(watch, err) : OP_OK;
}

int mpi_watch_look(struct mpi_wait *w, bool tells, struct error *err) {
  struct mpi_watch *watch = mpi_state(w->comm)->watch;
  struct note mine, theirs;
  if (!watch)
    return look_around(w, err);
  describe(w, &mine);
  if (watch->heard.failed && differ(&mine, &watch->heard))
    find_out(watch, &mine, &watch->heard);
  if (tells && !w->noted && all_sent(watch)) {
    watch->out = mine;
    send_note(watch, &watch->out, mine.failed);
    w->noted = true;
  }
  while (watch->last.teller < 0 && next_note(watch, &theirs)) {
    if (theirs.teller >= 0)
      watch->last = theirs;
    else if (differ(&mine, &theirs))
      find_out(watch, &mine, &theirs);
    else if (theirs.failed)
      watch->heard = theirs;
  }
  return watch->last.teller < 0 ? OP_OK : fail(watch, err);
}

/* ---- a rank that failed alone ---- */

bool mpi_watch_broken(const struct comm *c) {
  const struct mpi_watch *watch = watch_of(c);
  return watch && watch->last.teller >= 0;
}

/* A program that began MPI may end it before op_exit: then nobody can be told any more. */
static struct mpi_watch *watch_that_speaks(const struct comm *c) {
  int ended = 0;
  MPI_Finalized(&ended);
  return ended ? NULL : mpi_state(c)->watch;
}

void mpi_watch_tell(struct comm *c, const struct error *err) {
  struct mpi_watch *watch = watch_that_speaks(c);
  if (watch && watch->last.teller < 0)
    tell_all(watch, err);
}

int mpi_watch_told(struct comm *c, struct error *err) {
  return mpi_watch_broken(c) ? fail(watch_of(c), err) : OP_OK;
}
