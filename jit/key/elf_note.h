/* Notes of ELF files, read without loading them, to identify libraries and plugins. */
#ifndef OP2JIT_JIT_ELF_NOTE_H
#define OP2JIT_JIT_ELF_NOTE_H

#include <stdbool.h>

#include "base/text.h"

/* The build id of the 64-bit ELF file at `path` in hexadecimal, appended; false if the file cannot be read, is no such
 * file or has none. Any bytes are safe. */
bool elf_build_id(const char *path, struct text *out);
/* The words of the note .note.op2jit (jit/clang/note.c). */
bool elf_words(const char *path, struct text *out);

/* The bytes of a file; false if it cannot be read, or is empty. mapped_at: `size` bytes at `offset`, or NULL if they are not all in
 * the file. */
struct mapped {
  const unsigned char *bytes;
  size_t size;
};
bool mapped_open(const char *path, struct mapped *v);
const void *mapped_at(const struct mapped *v, size_t offset, size_t size);
void mapped_close(struct mapped *v);
/* The section of a 64-bit ELF file with this name; NULL: it has none. */
const char *mapped_section(const struct mapped *v, const char *name, size_t *size);

/* The identity of a file: the build id, else the SHA-256 of all bytes. False if it cannot be read. */
bool elf_identity(const char *path, struct text *out);

/* The identity of the file that this code was loaded from: libop2jit.so, or a program that has it inside.
 * "unknown" if the system does not say. */
void library_identity(struct text *out);

#endif
