#include "jit/key/elf_note.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/whereami.h"

bool mapped_open(const char *path, struct mapped *v) {
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  *v = (struct mapped){0};
  if (fd < 0)
    return false;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED)
      *v = (struct mapped){.bytes = bytes, .size = (size_t)status.st_size};
  }
  close(fd);
  return v->bytes != NULL;
}

void mapped_close(struct mapped *v) {
  if (v->bytes)
    munmap((void *)(size_t)v->bytes, v->size);
}

const void *mapped_at(const struct mapped *v, size_t offset, size_t size) {
  return offset <= v->size && v->size - offset >= size ? v->bytes + offset : NULL;
}

const char *mapped_section(const struct mapped *v, const char *name, size_t *size) {
  const Elf64_Ehdr *header = mapped_at(v, 0, sizeof *header);
  if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(Elf64_Shdr) ||
      header->e_shstrndx >= header->e_shnum || header->e_shoff % _Alignof(Elf64_Shdr) != 0)
    return NULL;
  const Elf64_Shdr *sections = mapped_at(v, header->e_shoff, header->e_shnum * sizeof *sections);
  const Elf64_Shdr *strings = sections ? &sections[header->e_shstrndx] : NULL;
  const char *names = strings ? mapped_at(v, strings->sh_offset, strings->sh_size) : NULL;
  const size_t length = strlen(name) + 1;
  for (int i = 0; names && i < header->e_shnum; i++)
    if (sections[i].sh_name < strings->sh_size && strings->sh_size - sections[i].sh_name >= length &&
        memcmp(names + sections[i].sh_name, name, length) == 0) {
      *size = sections[i].sh_size;
      return mapped_at(v, sections[i].sh_offset, sections[i].sh_size);
    }
  return NULL;
}

/* The content of the note that is this section: sizes, type, owner's name and content, padded to four bytes. */
static const unsigned char *note_in(const struct mapped *v, const char *section, size_t *length) {
  size_t size;
  const char *note = mapped_section(v, section, &size);
  Elf64_Nhdr head;
  if (!note || size < sizeof head)
    return NULL;
  memcpy(&head, note, sizeof head);
  const size_t before = sizeof head + (((size_t)head.n_namesz + 3) & ~(size_t)3);
  *length = head.n_descsz;
  return before <= size && head.n_descsz <= size - before ? (const unsigned char *)note + before : NULL;
}

static void add_hex(const unsigned char *bytes, size_t length, struct text *out) {
  for (size_t i = 0; i < length; i++)
    text_addf(out, "%02x", bytes[i]);
}

bool elf_build_id(const char *path, struct text *out) {
  struct mapped v;
  size_t length = 0;
  const unsigned char *id = mapped_open(path, &v) ? note_in(&v, ".note.gnu.build-id", &length) : NULL;
  if (id)
    add_hex(id, length, out);
  mapped_close(&v);
  return id && length;
}

bool elf_words(const char *path, struct text *out) {
  struct mapped v;
  size_t length = 0;
  const unsigned char *words = mapped_open(path, &v) ? note_in(&v, ".note.op2jit", &length) : NULL;
  if (words)
    text_add_bytes(out, words, strnlen((const char *)words, length));
  mapped_close(&v);
  return words && length;
}

bool elf_identity(const char *path, struct text *out) {
  struct mapped v;
  if (elf_build_id(path, out))
    return true;
  if (!mapped_open(path, &v))
    return false;
  struct sha256 h;
  unsigned char digest[32];
  sha256_begin(&h);
  sha256_add(&h, v.bytes, v.size);
  sha256_end(&h, digest);
  add_hex(digest, sizeof digest, out);
  mapped_close(&v);
  return true;
}

void library_identity(struct text *out) {
  struct text path = {0};
  struct error ignored = {0};
  if (whereami(&path, &ignored) != OP_OK || !elf_identity(text_str(&path), out))
    text_add(out, "unknown");
  text_free(&path);
  error_free(&ignored);
}
