// What programs of OP2 do with files: HDF5 with maps that count from 0 or, as OP_MAPS_BASE_INDEX=1 says, from 1;
// text and binary. One rank or several, with the same answers. Argument: a folder for them.
#include "op_hdf5.h"
#include "op_seq.h"

#include "op_util.h"

#include "check.h"

#include <string>
#include <vector>

static const int total = 23;

static void take(const double *x, double *y) {
  *y = *x;
}

static int first_of(int rank) {
  int first = 0;
  for (int r = 0; r < rank; r++)
    first += compute_local_size(total, op2jit_rank_count(), r);
  return first;
}

static void begin(int argc, char **argv, int base) {
  char name[] = "files", counting[] = "OP_MAPS_BASE_INDEX=0";
  counting[sizeof counting - 2] = static_cast<char>('0' + base);
  char *words[16] = {name, counting};
  int count = 2;
  for (int i = 2; i < argc && count < 16; i++)
    words[count++] = argv[i];
  op_init(count, words, 0);
}

// The numbers in the file are those of the map with `base` added, so its targets are a set that is larger by that.
static void write(int argc, char **argv, const std::string &file, int base) {
  int rank;
  begin(argc, argv, 0);
  op_rank(&rank);
  const int first = first_of(rank), size = compute_local_size(total, op2jit_rank_count(), rank);
  std::vector<int> table;
  std::vector<double> x;
  for (int e = first; e < first + size; e++) {
    table.push_back((e + 5) % total + base);
    x.push_back(e);
  }
  op_set from = op_decl_set(size, "from");
  op_set to = op_decl_set(size + (rank == 0 ? base : 0), "to");
  op_decl_map(from, to, 1, table.data(), "map");
  op_decl_dat(from, 1, "double", x.data(), "x");
  const double weight[2] = {0.5, 0.25};
  op_dump_to_hdf5(file.c_str());
  op_write_const_hdf5("weight", 2, "double", reinterpret_cast<const char *>(weight), file.c_str());
  op_exit();
}

static void read(int argc, char **argv, const std::string &file, const std::string &folder, int base) {
  begin(argc, argv, base);
  double weight[2] = {0, 0}, x[total], y[total];
  op_set from = op_decl_set_hdf5(file.c_str(), "from");
  op_set to = op_decl_set_hdf5_infer_size(file.c_str(), "as many", "x");
  op_map map = op_decl_map_hdf5(from, to, 1, file.c_str(), "map");
  op_dat given = op_decl_dat_hdf5(to, 1, "double", file.c_str(), "x");
  CHECK(op_decl_map_hdf5(from, to, 2, file.c_str(), "no such map") == NULL);
  CHECK(op_decl_dat_hdf5(from, 1, "double", file.c_str(), "no such dat") == NULL);
  op_dat got = op_decl_dat(from, 1, "double", static_cast<double *>(NULL), "got");
  op_get_const_hdf5("weight", 2, "double", reinterpret_cast<char *>(weight), file.c_str());
  CHECK(weight[0] == 0.5 && weight[1] == 0.25);
  CHECK(op_get_size(from) == total && op_get_size(to) == total);
  op_partition("PTSCOTCH", "KWAY", from, map, NULL);
  op_par_loop(take, "take", from, op_arg_dat(given, 0, map, 1, "double", OP_READ),
              op_arg_dat(got, -1, OP_ID, 1, "double", OP_WRITE));
  op_fetch_data_idx(given, x, 0, total - 1);
  op_fetch_data_idx(got, y, 0, total - 1);
  for (int e = 0; e < total; e++)
    CHECK(x[e] == e && y[e] == (e + 5) % total);
  const char *old_name = got->name;
  char other_name[] = "result";
  got->name = other_name;
  op_fetch_data_hdf5_file(got, (folder + "/got.h5").c_str());
  got->name = old_name;
  op_print_dat_to_txtfile(got, (folder + "/got.txt").c_str());
  op_print_dat_to_binfile(got, (folder + "/got.bin").c_str());
  int rank;
  op_rank(&rank);
  op_dat again = op_decl_dat_hdf5(from, 1, "double", (folder + "/got.h5").c_str(), "result");
  CHECK(again != NULL);
  op_exit();
  if (rank > 0)
    return;
  int head[2] = {0, 0}, said[2] = {0, 0};
  double value = -1;
  FILE *binary = fopen((folder + "/got.bin").c_str(), "rb"),
       *words = fopen((folder + "/got.txt").c_str(), "r");
  CHECK(binary && fread(head, sizeof head, 1, binary) == 1 && fread(&value, sizeof value, 1, binary) == 1);
  CHECK(head[0] == total && head[1] == 1 && value == 5);
  CHECK(words && fscanf(words, "%d %d %lf", &said[0], &said[1], &value) == 3);
  CHECK(said[0] == total && said[1] == 1 && value == 5);
  if (binary)
    fclose(binary);
  if (words)
    fclose(words);
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  const std::string folder = argv[1];
  for (int base = 0; base < 2; base++) {
    const std::string file = folder + (base ? "/one.h5" : "/zero.h5");
    write(argc, argv, file, base);
    read(argc, argv, file, folder, base);
  }
  return wrong != 0;
}
