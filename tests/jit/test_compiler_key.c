/* The compiler in the key that a binary is stored under: its name, the plugin's build, and the builds of the
 * shared libraries that the plugin takes clang from. Here they are read from what the process has loaded.
 *
 *   test_compiler_key static|shared|given   how the plugin was built; given: by another build */
#include "../unit.h"
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "build.h"
#include "jit/jit.h"
#include "jit/key/signature.h"
#include "kernels-cache/store.h"

static const char *form;

/* ---- what is loaded ---- */

struct loaded {
  struct text builds; /* a line each, after an empty one */
  int count;
};

static size_t padded(size_t size) {
  return (size + 3) & ~(size_t)3;
}

static void add_build(const unsigned char *notes, size_t size, struct text *out) {
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) head;
    memcpy(&head, notes + at, sizeof head);
    const unsigned char *name = notes + at + sizeof head, *bytes = name + padded(head.n_namesz);
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
      for (size_t i = 0; i < head.n_descsz; i++)
        text_addf(out, "%02x", bytes[i]);
    at += sizeof head + padded(head.n_namesz) + padded(head.n_descsz);
  }
}

static int look_at(struct dl_phdr_info *info, size_t size, void *user) {
  (void)size;
  static const char *const compilers[] = {"op2jit-clang", "libclang", "libLLVM"};
  struct loaded *loaded = user;
  const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
  for (size_t c = 0; c < sizeof compilers / sizeof *compilers; c++) {
    if (strncmp(name, compilers[c], strlen(compilers[c])) != 0)
      continue;
    loaded->count++;
    text_add_char(&loaded->builds, '\n');
    for (int i = 0; i < info->dlpi_phnum; i++)
      if (info->dlpi_phdr[i].p_type == PT_NOTE)
        add_build((const unsigned char *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                  info->dlpi_phdr[i].p_memsz, &loaded->builds);
  }
  return 0;
}

/* ---- what is in the key ---- */

struct found {
  int rows;
  char *hash;
};

static void keep_hash(void *user, const struct store_row *row) {
  struct found *found = user;
  found->rows++;
  free(found->hash);
  found->hash = strdup(row->hash);
}

static void compiler_of(const struct store_key *key, struct text *out) {
  for (int c = 0; c < key->ncolumns; c++)
    if (strcmp(key->columns[c].name, "compiler") == 0)
      text_add_bytes(out, key->columns[c].value, key->columns[c].length);
}

/* Compile a kernel and store it. */
static void compile_into(struct store *store) {
  struct jit *jit;
  struct jit_code code;
  struct error err = {0};
  struct jit_options options = {.mode = JIT_ON, .store = store};
  struct desc d = build_loop("copy", "void copy(const double *a, double *b) { *b = *a; }\n");
  for (int i = 0; i < 2; i++)
    build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, i ? OP_WRITE : OP_READ);
  assert_int_equal(jit_open(&jit, &options, &err), OP_OK);
  if (jit_code(jit, &d, &(struct shape){0}, &code, &err))
    fail_msg("%s", error_message(&err));
  assert_int_equal(code.from, JIT_FROM_COMPILER);
  jit_close(jit);
  desc_free(&d);
}

TEST(key_has_every_build) {
  char folder[] = "/tmp/op2jit-key-XXXXXX";
  assert_non_null(mkdtemp(folder));
  char path[64];
  snprintf(path, sizeof path, "%s/kernels.db", folder);
  struct store *store;
  struct error err = {0};
  const struct store_options options = {.path = path, .sentence = signature_difference};
  assert_int_equal(store_open(&store, &options, &err), OP_OK);
  compile_into(store);

  struct found found = {0};
  struct store_key key;
  store_list(store, NULL, keep_hash, &found);
  assert_int_equal(found.rows, 1);
  assert_int_equal(store_find_key(store, found.hash, &key), 1);
  struct text compiler = {0};
  struct loaded loaded = {0};
  compiler_of(&key, &compiler);
  dl_iterate_phdr(look_at, &loaded);
  const char *builds = strchr(text_str(&compiler), '\n');
  printf("# in the key: %s\n# loaded:%s\n", text_str(&compiler), text_str(&loaded.builds));
  assert_int_equal(strncmp(text_str(&compiler), "clang ", 6), 0);
  assert_non_null(builds);
  assert_int_equal(strlen(builds), loaded.builds.length); /* no others */
  for (const char *line = loaded.builds.data; line; line = strchr(line + 1, '\n')) {
    char build[100];
    snprintf(build, sizeof build, "%.*s", (int)(1 + strcspn(line + 1, "\n")), line);
    assert_true(strlen(build) > 16);
    assert_non_null(strstr(builds, build));
  }
  if (strcmp(form, "given") != 0)
    assert_int_equal(loaded.count, strcmp(form, "shared") == 0 ? 3 : 1);

  store_key_free(&key);
  store_close(store);
  text_free(&compiler);
  text_free(&loaded.builds);
  free(found.hash);
  char remove[64];
  snprintf(remove, sizeof remove, "rm -rf %s", folder);
  assert_int_equal(system(remove), 0);
}

int main(int argc, char **argv) {
  form = argc > 1 ? argv[1] : "given";
  return run_these(NULL, NULL);
}
