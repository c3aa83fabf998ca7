/* The files that a sample will write: they are looked at before anything is computed, not found wanting behind a long run. */
#ifndef SAMPLES_NEW_FILES_H
#define SAMPLES_NEW_FILES_H

#include "options.h"

/* Of the options that name such files, all must be writable, of the right kind, and different. */
enum options_outcome new_files_look(int count, const struct option_entry entries[]);

#endif
