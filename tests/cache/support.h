/* Shared by the tests of the store: a private directory, keys, and what was written to stderr. */
#ifndef OP2JIT_TESTS_CACHE_SUPPORT_H
#define OP2JIT_TESTS_CACHE_SUPPORT_H

#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels-cache/store.h"

#define TEST_COLUMNS 6

/* A key that owns its strings. Equal numbers give equal keys in any process. */
struct test_key {
  struct store_key key;
  struct store_column columns[TEST_COLUMNS];
  char hash[65], loop[32], text[512], values[TEST_COLUMNS][64];
};
void test_key_make(struct test_key *k, const char *loop, int number);
/* After a column was changed by hand. */
void test_key_hash(struct test_key *k);

/* Bytes that follow from a number; compressible in part. */
#define TEST_BINARY_MOST 5000
size_t test_binary(int number, unsigned char bytes[TEST_BINARY_MOST]);
bool test_put(struct store *store, const char *loop, int number);
/* Fails the test if the store gives wrong bytes; true if it gives the right ones. */
bool test_get(struct store *store, const char *loop, int number);

/* A new directory below $TMPDIR, 0700, removed at exit. */
const char *test_directory(void);
/* Path of a file in it, valid to the end. */
const char *test_path(const char *name);
void test_remove(const char *name); /* with its journals */

extern struct log test_log;
struct store *test_open(const char *path);
struct store *test_open_with(const struct store_options *options);
/* Garbage ("w": as a new file, "r+": over the beginning of what is there) of which only the application's number
 * is left: a cache, once. */
void ruin(const char *path, const char *mode);

/* Keeps the words on stderr between begin and end. */
void capture_begin(void);
const char *capture_end(void);
int capture_count(const char *word);

/* Runs a function in a child and returns its wait status. */
int in_child(void (*run)(void *), void *argument);
void copy_file(const char *from, const char *to);
/* All of "integrity_check" of the file, by a connection of its own: "ok". */
void check_integrity(const char *path);
long long query_number(const char *path, const char *sql);
void execute_sql(const char *path, const char *sql);
bool exists(const char *path);
/* Ends with status 77 after saying why. */
void skip_all(const char *why);

#endif
