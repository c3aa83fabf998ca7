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
      header->e_shstrndx >= header->e_shnum)
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

/* A note that is looked for, and its content. */
struct wanted {
  const char *owner;
  unsigned type;
  const unsigned char *found;
  size_t length;
};

static size_t padded(size_t size) {
  return (size + 3) & ~(size_t)3;
}

/* Notes one after the other in a segment: sizes, type, owner's name, content, padded to four bytes. */
static bool search_notes(const struct mapped *v, size_t offset, size_t size, struct wanted *w) {
  const size_t name_length = strlen(w->owner) + 1;
  Elf64_Nhdr head;
  for (size_t whole; size >= sizeof head; offset += whole, size -= whole) {
    const unsigned char *p = mapped_at(v, offset, sizeof head);
    if (!p)
      return false;
    memcpy(&head, p, sizeof head);
    whole = sizeof head + padded(head.n_namesz) + padded(head.n_descsz);
    if (whole > size || !mapped_at(v, offset, whole))
      return false;
    const unsigned char *name = p + sizeof head;
    if (head.n_type == w->type && head.n_namesz == name_length && memcmp(name, w->owner, name_length) == 0) {
      w->found = name + padded(head.n_namesz);
      w->length = head.n_descsz;
      return true;
    }
  }
  return false;
}

static bool search_file(const struct mapped *v, struct wanted *w) {
  Elf64_Ehdr head;
  Elf64_Phdr segment;
  const unsigned char *p = mapped_at(v, 0, sizeof head);
  if (!p)
    return false;
  memcpy(&head, p, sizeof head);
  const bool is_elf = memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64;
  for (size_t i = 0; is_elf && i < head.e_phnum; i++) {
    p = mapped_at(v, head.e_phoff, i * sizeof segment + sizeof segment);
    if (!p)
      return false;
    memcpy(&segment, p + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_NOTE && search_notes(v, segment.p_offset, segment.p_filesz, w))
      return true;
  }
  return false;
}

static void add_hex(const unsigned char *bytes, size_t length, struct text *out) {
  for (size_t i = 0; i < length; i++)
    text_addf(out, "%02x", bytes[i]);
}

bool elf_build_id(const char *path, struct text *out) {
  struct wanted w = {.owner = "GNU", .type = NT_GNU_BUILD_ID};
  struct mapped v;
  if (mapped_open(path, &v) && search_file(&v, &w))
    add_hex(w.found, w.length, out);
  mapped_close(&v);
  return w.length > 0;
}

bool elf_words(const char *path, struct text *out) {
  struct wanted w = {.owner = "op2jit", .type = 1};
  struct mapped v;
  if (mapped_open(path, &v) && search_file(&v, &w))
    text_add_bytes(out, w.found, strnlen((const char *)w.found, w.length));
  mapped_close(&v);
  return w.length > 0;
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
