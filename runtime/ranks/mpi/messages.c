#include <stdint.h>
#include <stdlib.h>

#include "base/list.h"
#include "post.h"

struct comm_request {
  int count; /* of pieces; 0: an empty message, which is not sent */
  int left;  /* of them, for test_some: not there yet */
  bool sends, started;
  MPI_Request pieces[];
};

static int make(struct comm *c, bool sends, unsigned char *data, size_t bytes, int peer, int tag,
                struct comm_request **out, struct error *err) {
  const int count = mpi_pieces(bytes);
  MPI_Comm mpi = mpi_state(c)->mpi;
  struct comm_request *r = malloc(sizeof *r + (size_t)count * sizeof *r->pieces);
  int status = MPI_SUCCESS;
  if (!r)
    return error_memory(err, "a message", sizeof *r + (size_t)count * sizeof *r->pieces);
  r->sends = sends;
  r->started = false;
  for (r->count = 0; status == MPI_SUCCESS && r->count < count; r->count += status == MPI_SUCCESS) {
    unsigned char *piece = data + (size_t)r->count * PIECE;
    const int size = mpi_piece(bytes, r->count);
    status = sends ? MPI_Send_init(piece, size, MPI_BYTE, peer, tag, mpi, &r->pieces[r->count])
                   : MPI_Recv_init(piece, size, MPI_BYTE, peer, tag, mpi, &r->pieces[r->count]);
  }
  *out = r;
  if (status != MPI_SUCCESS) {
    mpi_request_free(c, r);
    *out = NULL;
  }
  return mpi_check(status, sends ? "MPI_Send_init" : "MPI_Recv_init", err);
}

int mpi_send_init(struct comm *c, const void *data, size_t bytes, int peer, int tag,
                  struct comm_request **out, struct error *err) {
  /* MPI only reads what is sent; both kinds are made by one function here. */
  return make(c, true, (unsigned char *)(uintptr_t)data, bytes, peer, tag, out, err);
}

int mpi_receive_init(struct comm *c, void *data, size_t bytes, int peer, int tag, struct comm_request **out,
                     struct error *err) {
  return make(c, false, data, bytes, peer, tag, out, err);
}

int mpi_start(struct comm *c, struct comm_request *const *requests, int count, struct error *err) {
  int status = MPI_SUCCESS;
  int code = mpi_watch_begin(c, err);
  mpi_state(c)->started = mpi_watch_number(c);
  for (int i = 0; !code && i < count; i++) {
    requests[i]->started = true;
    for (int p = 0; status == MPI_SUCCESS && p < requests[i]->count; p++)
      status = MPI_Start(&requests[i]->pieces[p]);
  }
  return code ? code : mpi_check(status, "MPI_Start", err);
}

int mpi_test(struct comm *c, struct comm_request *const *requests, int count, bool *done, struct error *err) {
  (void)c;
  *done = true;
  for (int i = 0; i < count; i++)
    for (int p = 0; p < requests[i]->count; p++) {
      int arrived = 0;
      const int status = MPI_Test(&requests[i]->pieces[p], &arrived, MPI_STATUS_IGNORE);
      if (status != MPI_SUCCESS)
        return mpi_check(status, "MPI_Test", err);
      *done &= arrived != 0;
    }
  return OP_OK;
}

int mpi_wait(struct comm *c, struct comm_request *const *requests, int count, struct error *err) {
  struct mpi_wait w = {.comm = c, .call = "messages", .number = mpi_state(c)->started};
  bool done = false;
  int code = mpi_test(c, requests, count, &done, err);
  while (!code && !done) {
    code = mpi_pause(&w, err);
    if (!code)
      code = mpi_test(c, requests, count, &done, err);
  }
  return code;
}

/* ---- messages that a rank begins by itself ---- */

int mpi_start_own(struct comm *c, struct comm_request *r, struct error *err) {
  int status = MPI_SUCCESS;
  (void)c;
  r->started = true;
  r->left = r->count;
  for (int p = 0; status == MPI_SUCCESS && p < r->count; p++)
    status = MPI_Start(&r->pieces[p]);
  return mpi_check(status, "MPI_Start", err);
}

/* Room for the pieces of all. */
static int make_room(struct mpi_tested *t, int pieces, struct error *err) {
  if (pieces <= t->most)
    return OP_OK;
  const size_t most = 2 * (size_t)pieces;
  arrays_free(&t->arrays);
  *t = (struct mpi_tested){0};
  t->handles = arrays_add(&t->arrays, most, sizeof(MPI_Request));
  t->statuses = arrays_add(&t->arrays, most, sizeof *t->statuses);
  t->of = arrays_add(&t->arrays, most, sizeof *t->of);
  t->indices = arrays_add(&t->arrays, most, sizeof *t->indices);
  if (t->arrays.failed)
    return error_memory(err, "messages", most * sizeof(MPI_Request));
  t->most = (int)most;
  return OP_OK;
}

int mpi_test_some(struct comm *c, struct comm_request *const *requests, int count, bool *done,
                  struct error *err) {
  struct mpi_tested *t = &mpi_state(c)->tested;
  int pieces = 0, n = 0, over = 0;
  for (int i = 0; i < count; i++)
    pieces += requests[i]->count;
  if (make_room(t, pieces, err))
    return err->code;
  for (int i = 0; i < count; i++)
    for (int p = 0; p < requests[i]->count; p++) {
      t->handles[n] = requests[i]->pieces[p];
      t->of[n++] = i;
    }
  /* A persistent request keeps its handle when it is over, and counts as none from then on. */
  const int status = MPI_Testsome(n, t->handles, &over, t->indices, t->statuses);
  for (int k = 0; status == MPI_SUCCESS && over != MPI_UNDEFINED && k < over; k++)
    requests[t->of[t->indices[k]]]->left--;
  for (int i = 0; i < count; i++)
    done[i] = requests[i]->left == 0;
  return mpi_check(status, "MPI_Testsome", err);
}

int mpi_pause_own(struct comm *c, bool anew, struct error *err) {
  struct mpi_wait *w = &mpi_state(c)->own;
  if (anew)
    *w = (struct mpi_wait){
        .comm = c, .call = "messages", .told = true, .number = mpi_watch_number(c)}; /* who calls tells it */
  return mpi_pause(w, err);
}

/* Pieces that nobody came to wait for. */
static void end_pieces(struct comm_request *r) {
  for (int p = 0; p < r->count; p++) {
    int done = 0;
    if (MPI_Test(&r->pieces[p], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
      mpi_abandon(&r->pieces[p], r->sends ? 0 : 1, 1);
  }
}

void mpi_request_free(struct comm *c, struct comm_request *r) {
  int ended = 0;
  MPI_Finalized(&ended); /* with it what it knew of messages has gone */
  if (r && r->started && !ended && mpi_watch_broken(c))
    end_pieces(r);
  for (int p = 0; r && !ended && p < r->count; p++)
    if (r->pieces[p] != MPI_REQUEST_NULL)
      MPI_Request_free(&r->pieces[p]);
  free(r);
}
