/* Gmsh's files in binary: the mesh of the text that they were made of, and an error for each that is damaged. The
 * folder of the files is the first argument. */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mesh/mesh_file.h"
#include "cli/mesh/whole.h"

static const char *folder;

struct content {
  char *bytes;
  size_t length;
};

static struct content content_of(const char *name) {
  struct content c;
  struct error err = {0};
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(whole_read(path, &c.bytes, &c.length, &err), OP_OK);
  return c;
}

/* A copy as large as it says, so that sanitizers see what is read behind it. */
static int parse(struct mesh_file *m, const char *bytes, size_t length, struct error *err) {
  char *copy = malloc(length + 1);
  assert_non_null(copy);
  memcpy(copy, bytes, length);
  copy[length] = '\0';
  *m = (struct mesh_file){0};
  *err = (struct error){0};
  int code = mesh_parse_gmsh(m, "damaged", copy, length, err);
  free(copy);
  return code;
}

static void assert_same_mesh(const struct mesh_file *a, const struct mesh_file *b) {
  assert_string_equal(a->format, b->format);
  assert_int_equal(a->nsets, b->nsets);
  assert_int_equal(a->ntables, b->ntables);
  for (int i = 0; i < a->nsets; i++) {
    assert_string_equal(a->sets[i].name, b->sets[i].name);
    assert_int_equal(a->sets[i].size, b->sets[i].size);
  }
  for (int i = 0; i < a->ntables; i++) {
    const struct mesh_table *x = &a->tables[i], *y = &b->tables[i];
    assert_string_equal(x->name, y->name);
    assert_int_equal(x->set, y->set);
    assert_int_equal(x->to, y->to);
    assert_int_equal(x->columns, y->columns);
    assert_int_equal(x->type, y->type);
    assert_memory_equal(x->values, y->values,
                        (size_t)a->sets[x->set].size * (size_t)x->columns * type_info(x->type)->size);
  }
}

static const struct {
  const char *text, *binary;
} pairs[] = {{"gmsh_2", "gmsh_2_binary"},   {"gmsh_2", "gmsh_2_binary_big"},
             {"gmsh_40", "gmsh_40_binary"}, {"gmsh_40", "gmsh_40_binary_big"},
             {"gmsh_4", "gmsh_4_binary"},   {"gmsh_4", "gmsh_4_binary_big"}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

TEST(same_as_text) {
  for (int i = 0; i < PAIRS; i++) {
    struct content text = content_of(pairs[i].text), binary = content_of(pairs[i].binary);
    struct mesh_file a, b;
    struct error err;
    assert_int_equal(parse(&a, text.bytes, text.length, &err), OP_OK);
    assert_int_equal(parse(&b, binary.bytes, binary.length, &err), OP_OK);
    assert_same_mesh(&a, &b);
    mesh_file_free(&a);
    mesh_file_free(&b);
    free(text.bytes);
    free(binary.bytes);
  }
}

/* Nodes without elements are a mesh, as they are in text. */
static bool ends_behind_nodes(const char *bytes, size_t length) {
  static const char *const ends[] = {"$EndNodes", "$EndElements"};
  while (length && bytes[length - 1] == '\n')
    length--;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (length > strlen(ends[i]) && memcmp(bytes + length - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
      return true;
  return false;
}

TEST(cut_anywhere) {
  for (int i = 0; i < PAIRS; i++) {
    struct content c = content_of(pairs[i].binary);
    const char *mode = memmem(c.bytes, c.length, " 1 8\n", 5);
    const size_t head = (size_t)(mode - c.bytes) + strlen(" 1 8");
    for (size_t length = 0; length < c.length; length++) {
      struct mesh_file m;
      struct error err;
      int code = parse(&m, c.bytes, length, &err);
      const bool whole = ends_behind_nodes(c.bytes, length);
      if (code != (whole ? OP_OK : OP_ERR_FILE))
        fail_msg("%s cut to %zu bytes: %s", pairs[i].binary, length, error_message(&err));
      if (!whole)
        assert_non_null(strstr(error_message(&err), length > head ? "byte" : "line"));
      mesh_file_free(&m);
      error_free(&err);
    }
    free(c.bytes);
  }
}

/* Each byte as each of some others: a mesh or an error, and an element never names a node that is not there. */
TEST(any_byte_changed) {
  static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '$', '\n'};
  long refused = 0;
  for (int i = 0; i < PAIRS; i++) {
    struct content c = content_of(pairs[i].binary);
    for (size_t at = 0; at < c.length * sizeof values; at++) {
      char *byte = &c.bytes[at / sizeof values], was = *byte;
      struct mesh_file m;
      struct error err;
      *byte = (char)values[at % sizeof values];
      int code = parse(&m, c.bytes, c.length, &err);
      *byte = was;
      assert_true(code == OP_OK || code == OP_ERR_FILE);
      refused += code != OP_OK;
      for (int t = 0; code == OP_OK && t < m.ntables; t++)
        if (m.tables[t].to >= 0) {
          struct mesh_map_info looked;
          assert_int_equal(mesh_map_look(&m, &m.tables[t], &looked, &err), OP_OK);
          assert_int_equal(looked.bad.count, 0);
        }
      if (code == OP_OK)
        assert_true((code = mesh_add_sides(&m, &err)) == OP_OK || code == OP_ERR_FILE);
      mesh_file_free(&m);
      error_free(&err);
    }
    free(c.bytes);
  }
  assert_true(refused > 1000);
}

/* The name of a section and the number of bytes behind its line; what is put there; what is said. */
static const struct damage {
  const char *file, *section;
  size_t skip;
  const char *bytes;
  size_t count;
  const char *words;
} damages[] = {
    {"gmsh_2_binary", "$MeshFormat\n2.2 1 8\n", 0, "\2\0\0\0", 4,
     "$MeshFormat, byte 20: 2 does not tell the order"},
    {"gmsh_2_binary", "$MeshFormat\n2.2 1 ", 0, "4", 1, "numbers of 4 bytes; expected 8"},
    {"gmsh_2_binary", "$Nodes\n", 0, "99\n", 3, "too short for 99 nodes of 28 bytes"},
    {"gmsh_2_binary", "$Elements\n3\n", 0, "\143", 1, "elements of type 99 are not known"},
    {"gmsh_2_binary", "$Elements\n3\n", 4, "\0", 1,
     "0 is not in 1 .. 3; expected the number of elements of a block"},
    {"gmsh_2_binary", "$Elements\n3\n", 8, "\377\377\377\377", 4,
     "expected the number of tags of an element"},
    {"gmsh_2_binary", "$Elements\n3\n", 8, "\350\3", 2, "too short for 1 elements of a block of 4012 bytes"},
    {"gmsh_2_binary", "$Elements\n3\n", 24, "\13", 1, "there is no node with the tag 11"},
    {"gmsh_2_binary", "$Elements\n", 0, "2", 1, "expected $EndElements"},
    {"gmsh_2_binary", "$EndPhysicalName", 0, "!", 1, "expected $EndPhysicalNames behind it"},
    {"gmsh_4_binary", "$Entities\n", 0, "\0\0\0\1", 4, "too short for 16777216 entities of 36 bytes"},
    {"gmsh_4_binary", "$Nodes\n", 8, "\377\377\377\377\377\377\377\377", 8,
     "18446744073709551615 is too large"},
    {"gmsh_4_binary", "$Nodes\n", 8, "\0\0\0\20", 4, "too short for 268435456 nodes of 32 bytes"},
    {"gmsh_4_binary", "$Nodes\n", 8, "\7", 1, "the blocks hold 5 nodes, not the 7"},
    {"gmsh_4_binary", "$Nodes\n", 0, "\3", 1, "$Nodes, byte"},
    {"gmsh_4_binary", "$Elements\n", 8, "\4", 1, "the blocks hold 3 elements, not the 4"},
    {"gmsh_4_binary", "$Elements\n", 40, "\143", 1, "elements of type 99 are not known"},
    {"gmsh_40_binary", "$Nodes\n", 8, "\7", 1, "the blocks hold 5 nodes, not the 7"},
    {"gmsh_40_binary", "$Elements\n", 24, "\143", 1, "elements of type 99 are not known"},
    {"gmsh_40_binary", "$Entities\n", 0, "\0\0\0\1", 4, "too short for 16777216 entities of 60 bytes"},
    {"gmsh_4_binary", "$Elements\n", 44, "\4", 1,
     "4 is not in 0 .. 3; expected the number of elements of a block"},
};

static char *find(const struct content *c, const char *words) {
  char *found = memmem(c->bytes, c->length, words, strlen(words));
  assert_non_null(found);
  return found + strlen(words);
}

TEST(says_what_is_wrong) {
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    const struct damage *d = &damages[i];
    struct content c = content_of(d->file);
    struct mesh_file m;
    struct error err;
    memcpy(find(&c, d->section) + d->skip, d->bytes, d->count);
    int code = parse(&m, c.bytes, c.length, &err);
    if (code != OP_ERR_FILE || !strstr(error_message(&err), d->words))
      fail_msg("damage %zu: \"%s\", expected \"%s\"", i, error_message(&err), d->words);
    mesh_file_free(&m);
    error_free(&err);
    free(c.bytes);
  }
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  folder = argv[1];
  return run_these(NULL, NULL);
}
