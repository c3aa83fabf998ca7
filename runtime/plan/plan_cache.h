/* Plans found again: loops that need the same plan share one. The key is everything a plan depends on; maps
 * are told apart by their tables, so a plan lives no longer than the numbering of the mesh (its epoch). */
#ifndef OP2JIT_PLAN_CACHE_H
#define OP2JIT_PLAN_CACHE_H

#include "base/text.h"
#include "plan/strategy.h"

struct plan_cache;
int plan_cache_new(struct plan_cache **out, struct error *err);
/* All entries, also those still in use. */
void plan_cache_free(struct plan_cache *cache);

/* Find or build; *built says which. Each entry that was got is released once. A new epoch forgets all entries of the
 * old one; those in use live until their release. */
int plan_cache_get(struct plan_cache *cache, const struct plan_wish *wish, struct team *team,
                   const struct plan_entry **out, bool *built, struct error *err);
/* Find only: NULL if it is not there. OP_ERR_MEMORY. */
int plan_cache_find(struct plan_cache *cache, const struct plan_wish *wish, const struct plan_entry **out,
                    struct error *err);
/* As plan_cache_get, but what was built already is taken over; if it is there, what was built is freed. */
int plan_cache_put(struct plan_cache *cache, const struct plan_wish *wish, struct plan_entry *made,
                   const struct plan_entry **out, struct error *err);
void plan_cache_release(struct plan_cache *cache, const struct plan_entry *entry);
/* Forget plans that nobody uses, the oldest first, until all together have at most so many bytes. */
void plan_cache_trim(struct plan_cache *cache, size_t most);

/* Forget all that were made of the table: its memory is about to hold something else. */
void plan_cache_forget(struct plan_cache *cache, const int *table, size_t entries);

/* Forget what is of another epoch, for calls that look at all entries. */
void plan_cache_begin(struct plan_cache *cache, unsigned epoch);

/* Bytes of all entries, schedules and reverse maps included. */
size_t plan_cache_bytes(const struct plan_cache *cache);
int plan_cache_count(const struct plan_cache *cache);
/* plan_entry_verify for all entries of this epoch; the message names the set. */
int plan_cache_verify(const struct plan_cache *cache, int level, struct error *err);
/* One of them: a sentence without an end, and what its strategy verifies. */
void plan_entry_describe(const struct plan_entry *entry, struct text *out);
int plan_entry_verify(const struct plan_entry *entry, int level, struct error *err);
/* A table for op_diagnostic_output. */
void plan_cache_describe(const struct plan_cache *cache, struct text *out);

#endif
