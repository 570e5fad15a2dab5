/* The life of a database as these tests need it. */

#ifndef LEVELDB_BLOOM_ROUTES_DATABASE_H
#define LEVELDB_BLOOM_ROUTES_DATABASE_H

#include <leveldb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is used of LevelDB's C API, without the prefix. */
#define LEVELDB_FUNCTIONS(X)                                                                  \
  X(close) X(compact_range) X(filterpolicy_create) X(filterpolicy_create_bloom)               \
  X(filterpolicy_destroy) X(free) X(get) X(open) X(options_create) X(options_destroy)         \
  X(options_set_create_if_missing) X(options_set_filter_policy)                               \
  X(options_set_write_buffer_size) X(put) X(readoptions_create) X(readoptions_destroy)        \
  X(writeoptions_create) X(writeoptions_destroy)

/* A table, so that the same work runs on a LevelDB that is linked and on one that is loaded. */
struct leveldb {
#define LEVELDB_MEMBER(name) __typeof__(leveldb_##name) *name;
  LEVELDB_FUNCTIONS(LEVELDB_MEMBER)
#undef LEVELDB_MEMBER
};

#define LEVELDB_ADDRESS(name) leveldb_##name,
#define LINKED_LEVELDB { LEVELDB_FUNCTIONS(LEVELDB_ADDRESS) }

/* The functions of the LevelDB that dlopen gave this handle for. */
struct leveldb loaded_leveldb(void *handle);

/* dlopen with the flags (RTLD_NOW comes on its own), or the end of the program. */
void *load(const char *file, int flags);

/* dlsym, or the end of the program. */
void *find(void *handle, const char *name);

/* Fills a new database, closes it, and asks it for keys that it has and has not. */
void use_database(const struct leveldb *, const leveldb_filterpolicy_t *, const char *directory);

/* The two halves of use_database. Any number of threads may read at once. */
leveldb_t *fill_database(const struct leveldb *, const leveldb_filterpolicy_t *,
                         const char *directory);
leveldb_t *reopen_database(const struct leveldb *, const leveldb_filterpolicy_t *,
                           const char *directory);
void read_database(const struct leveldb *, leveldb_t *);

/* DIRECTORY/NAME, for free. */
char *path_in(const char *directory, const char *name);

/* Ends the program with a message as printf's. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#ifdef __cplusplus
}
#endif

#endif
