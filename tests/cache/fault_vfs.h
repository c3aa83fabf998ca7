/* An SQLite VFS that passes everything on to the default one, and makes call number n fail. */
#ifndef OP2JIT_TESTS_CACHE_FAULT_VFS_H
#define OP2JIT_TESTS_CACHE_FAULT_VFS_H

#include <stdbool.h>

#define FAULT_VFS "fault"

struct fault_plan {
  long at;       /* the call that fails, counting from 1; 0: none */
  bool for_good; /* all later ones too */
  bool full;     /* writes say "disk full" rather than "input/output error" */
  long calls;    /* seen so far */
  long failed;
};
extern struct fault_plan fault_plan;
void fault_vfs_register(void);

#endif
