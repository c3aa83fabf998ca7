/* The texts of a unit's kernels: from the store if its files are what they were, else from the compiler plugin. */
#ifndef OP2JIT_JIT_TEXTS_READ_H
#define OP2JIT_JIT_TEXTS_READ_H

#include "base/log.h"
#include "jit/plugin.h"
#include "jit/texts/texts.h"

struct store;

/* `wish` says which unit, and what is known of it; its prelude and times are not looked at. */

/* Takes texts from the store, if their files are what they were; false: there are none. */
bool texts_recall(const struct plugin *plugin, struct store *store, const struct read_request *wish,
                  struct texts_unit *out);
/* Asks the plugin, which is open, and stores the result. Fails only without memory: other errors are in
 * out->why. */
int texts_read(const struct plugin *plugin, struct store *store, const struct read_request *wish,
               struct texts_unit *out, struct error *err);

#endif
