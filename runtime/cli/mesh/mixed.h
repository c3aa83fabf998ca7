/* Numbers out of files that hold them as text or in binary, as scan.binary says: the reader of a format is the same for
 * both. In binary a number has the bytes that the caller names, and text is passed over with scan.h. */
#ifndef OP2JIT_IO_MESH_MIXED_H
#define OP2JIT_IO_MESH_MIXED_H

#include "scan.h"

/* A number of 4 bytes has a sign; one of 8 is a size. `low`, `high`, `what`: as in scan_whole. */
enum mixed_bytes { MIXED_INT = 4, MIXED_SIZE = 8, MIXED_REAL = 8 };

int mixed_whole(struct scan *s, enum mixed_bytes bytes, long long low, long long high, const char *what,
                long long *out, struct error *err);
int mixed_real(struct scan *s, const char *what, double *out, struct error *err);
/* That `count` times `numbers` numbers, `bytes` bytes if in binary, can be left: asked before anything is made for
 * them. */
int mixed_has(const struct scan *s, long long count, int numbers, long long bytes, const char *what,
              struct error *err);
/* To behind the end of the line, where binary begins; text stays where it is. */
int mixed_line(struct scan *s, struct error *err);
/* From here on numbers are in binary. Takes the 1 of 4 bytes that tells the order of bytes. */
int mixed_order(struct scan *s, struct error *err);
/* To behind the end of the section that begins here; only for binary, which has no lines to look through. */
int mixed_skip_section(struct scan *s, struct error *err);

#endif
