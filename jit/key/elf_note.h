/* Notes of ELF files, read without loading them: what identifies a library or plugin. */
#ifndef OP2JIT_JIT_ELF_NOTE_H
#define OP2JIT_JIT_ELF_NOTE_H

#include <stdbool.h>

#include "base/text.h"

/* The build id of the 64-bit ELF file at `path` in hexadecimal, appended; false if the file cannot be read, is no such
 * file or has none. Any bytes are safe. */
bool elf_build_id(const char *path, struct text *out);
/* The words of the note of owner "op2jit", type 1. */
bool elf_words(const char *path, struct text *out);

/* What tells two files apart: the build id, else the SHA-256 of all bytes. False if it cannot be read. */
bool elf_identity(const char *path, struct text *out);

/* The identity of the file that this code was loaded from: libop2jit.so, or a program that has it inside.
 * "unknown" if the system does not say. */
void library_identity(struct text *out);

#endif
