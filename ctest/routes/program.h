/* What the C programs here share: the work on a database, and lines that say whose policy it was. */

#ifndef LEVELDB_BLOOM_ROUTES_PROGRAM_H
#define LEVELDB_BLOOM_ROUTES_PROGRAM_H

#include <leveldb/c.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of LevelDB's C API that are used, without their prefix. */
#define LEVELDB_FUNCTIONS(X)                                                                  \
  X(close) X(compact_range) X(filterpolicy_create) X(filterpolicy_create_bloom)               \
  X(filterpolicy_destroy) X(free) X(get) X(open) X(options_create) X(options_destroy)         \
  X(options_set_create_if_missing) X(options_set_filter_policy)                               \
  X(options_set_write_buffer_size) X(put) X(readoptions_create) X(readoptions_destroy)        \
  X(writeoptions_create) X(writeoptions_destroy)

/* A table, so that the same work runs on a LevelDB that is linked and on one that is loaded. */
struct leveldb_api {
#define LEVELDB_MEMBER(name) __typeof__(leveldb_##name) *name;
  LEVELDB_FUNCTIONS(LEVELDB_MEMBER)
#undef LEVELDB_MEMBER
};

#define LEVELDB_ADDRESS(name) leveldb_##name,
#define LINKED_LEVELDB { LEVELDB_FUNCTIONS(LEVELDB_ADDRESS) }

/* The functions of the LevelDB that dlopen gave this handle for. */
struct leveldb_api loaded_leveldb(void *handle);

/* dlopen with RTLD_NOW and `flags`, and dlsym; each ends the program if it fails. */
void *load(const char *file, int flags);
void *find(void *handle, const char *name);

/* Fills a new database DIRECTORY/NAME, closes it, and reads keys that it has and has not. */
void use_database(const struct leveldb_api *, const leveldb_filterpolicy_t *, const char *directory,
                  const char *name);

/* The same with a policy of the user's own callbacks, made and destroyed by these functions. */
void use_custom(const struct leveldb_api *, __typeof__(leveldb_filterpolicy_create) *,
                __typeof__(leveldb_filterpolicy_destroy) *, const char *directory, const char *name);

/* "active: ..." with the answer of leveldb_bloom_active, where the process has it. */
void print_active(void);

/* "made by: ..." with the module that holds the policy's virtual functions: a library's name up to
 * ".so", or the program's. */
void print_maker(const void *policy);

/* Ends the program with a message as printf's. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#ifdef __cplusplus
}
#endif

#endif
