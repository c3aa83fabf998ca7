#include "partition.h"

#include "check.h"

#include "api/api.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"

OP_KERNEL_DEF(
    read_sum, void read_sum(const long long *sum) { (void)sum; })

static void expect(int code, const char *words) {
  if (op_last_error()->code != code || !strstr(op_last_error()->message, words))
    fprintf(stderr, "expected %d, %s\n", code, words);
  check(op_last_error()->code == code && strstr(op_last_error()->message, words));
}

void test_errors(void) {
  const int size = api_context()->comm->size, rank = op_rank(), bad = size - 1;
  op_set cells = op_decl_set(10, "cells"), edges = op_decl_set(4, "edges");
  int table[8];
  char words[100];
  for (int i = 0; i < 8; i++)
    table[i] = (rank * 3 + i) % (10 * size);
  if (rank == bad)
    table[5] = 10 * size;
  check(!op_decl_map(edges, cells, 2, table, "ecell"));
  snprintf(words, sizeof words, "entry 1 of element %d of set \"edges\" is %d; expected 0 .. %d", 4 * bad + 2,
           10 * size, 10 * size - 1);
  expect(OP_ERR_MAP_RANGE, words);
  if (size > 1)
    expect(OP_ERR_MAP_RANGE, "rank");
  table[5] = 0;
  op_map ecell = op_decl_map(edges, cells, 2, table, "ecell");
  check(ecell);
  int parts[10] = {0};
  parts[3] = rank == bad ? size + 5 : 0;
  op_dat where = op_decl_dat(cells, 1, "int", parts, "where");
  op_partition("external", "", cells, NULL, where);
  if (size > 1) {
    snprintf(words, sizeof words, "sends element %d of set \"cells\" to rank %d", 10 * bad + 3, size + 5);
    expect(OP_ERR_RANGE, words);
  }
  op_partition("ptscotsch", "KWAY", cells, ecell, NULL);
  expect(OP_ERR_METHOD, "did you mean \"ptscotch\"?");
  op_partition("rcb", "kway", cells, NULL, where);
  expect(OP_ERR_METHOD, "has no method \"kway\"");
  op_partition("PARMETIS", "GEOMKWAY", cells, ecell, NULL);
  expect(OP_ERR_NOT_BUILT, "libparmetis-dev");
  op_partition("rcb", "", cells, NULL, where);
  expect(OP_ERR_ARGUMENT, "cannot be the coordinates");
  op_partition("rcb", "", cells, NULL, NULL);
  expect(OP_ERR_ARGUMENT, "needs coordinates");
  op_partition("ptscotch", "", cells, NULL, NULL);
  expect(OP_ERR_ARGUMENT, "needs a map");
  op_partition("external", "", cells, NULL, NULL);
  expect(OP_ERR_ARGUMENT, "needs the parts");
  op_partition("block", "", NULL, NULL, NULL);
  expect(OP_ERR_HANDLE, "the prime set is NULL");
  op_print_dat_to_txtfile(where, "/no such folder/file");
  expect(OP_ERR_FILE, "cannot be written");
  int got[10] = {0};
  check(!op_fetch_data(where, got) && !memcmp(got, parts, sizeof got));
  api_context()->mesh->lost = true; /* as after a failure half way */
  op_fetch_data(where, got);
  expect(OP_ERR_STATE, "the mesh was lost");
  op_decl_dat(cells, 1, "int", NULL, "late");
  expect(OP_ERR_STATE, "the mesh was lost");
  op_partition("block", "", cells, NULL, NULL);
  expect(OP_ERR_STATE, "the mesh was lost");
  if (size > 1) {
    long long sum = 0;
    op_par_loop(OP_KERNEL_OF(read_sum), "read_sum", cells, op_arg_gbl(&sum, 1, "ll", OP_READ));
    expect(OP_ERR_STATE, "the mesh was lost");
  }
  api_context()->mesh->lost = false;
}
