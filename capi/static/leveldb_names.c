/* LevelDB's own names, weak, for the static library.
 *
 * libleveldb.a defines its whole C API in one object, so a strong leveldb_filterpolicy_create_bloom
 * of ours would be a second definition in every program. Weak, ours gives way to it; and it calls
 * leveldb::NewBloomFilterPolicy, which is ours when our archive comes first. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

struct leveldb_filterpolicy_t;
typedef struct leveldb_filterpolicy_t policy;

typedef void destructor_fn(void *);
typedef char *create_filter_fn(void *, const char *const *, const size_t *, int, size_t *);
typedef uint8_t key_may_match_fn(void *, const char *, size_t, const char *, size_t);
typedef const char *name_fn(void *);
typedef policy *create_fn(void *, destructor_fn *, create_filter_fn *, key_may_match_fn *,
                          name_fn *);

/* Hidden, here and in lib.rs. Where several libraries contain the archive, they would otherwise all
 * call those of the first one. That looks for the next definition of LevelDB's names, finds the one
 * that called it, and so on for ever. */
#pragma GCC visibility push(hidden)
/* In lib.rs. */
policy *leveldb_bloom_names_create_bloom(int bits_per_key);
create_fn leveldb_bloom_names_create;
void leveldb_bloom_names_destroy(policy *);
/* For lib.rs. */
create_fn *leveldb_bloom_linked_create(void);
int leveldb_bloom_linked_elsewhere(void);
int leveldb_bloom_linked_source(void);
/* For route.rs, in the order of its strings. */
extern const void *const leveldb_bloom_linked_writers[3];
#pragma GCC visibility pop

#define WEAK __attribute__((weak))

WEAK policy *leveldb_new_bloom_filter_policy(int bits_per_key)
    __asm__("_ZN7leveldb20NewBloomFilterPolicyEi");
WEAK policy *leveldb_filterpolicy_create_bloom(int bits_per_key);
WEAK create_fn leveldb_filterpolicy_create;
WEAK void leveldb_filterpolicy_destroy(policy *);

policy *leveldb_filterpolicy_create_bloom(int bits_per_key) {
  return leveldb_bloom_names_create_bloom(bits_per_key);
}

void leveldb_filterpolicy_destroy(policy *p) { leveldb_bloom_names_destroy(p); }

/* Ours under names that nothing can override, to see whether something did. */
static policy *our_new_bloom_filter_policy(int bits_per_key) {
  return leveldb_bloom_names_create_bloom(bits_per_key);
}

static policy *our_create(void *state, destructor_fn *destructor, create_filter_fn *create_filter,
                          key_may_match_fn *key_may_match, name_fn *name) {
  return leveldb_bloom_names_create(state, destructor, create_filter, key_may_match, name);
}

policy *leveldb_new_bloom_filter_policy(int bits_per_key)
    __attribute__((weak, alias("our_new_bloom_filter_policy")));
policy *leveldb_filterpolicy_create(void *, destructor_fn *, create_filter_fn *, key_may_match_fn *,
                                    name_fn *) __attribute__((weak, alias("our_create")));

/* Read through volatile: a compiler that sees both would call them equal. */
create_fn *leveldb_bloom_linked_create(void) {
  create_fn *volatile linked = leveldb_filterpolicy_create;
  create_fn *volatile ours = our_create;
  return linked == ours ? NULL : linked;
}

/* leveldb_bloom_policy.cc defines it, and leveldb::NewBloomFilterPolicy with it. */
extern const char leveldb_bloom_compiled_in __attribute__((weak));

int leveldb_bloom_linked_elsewhere(void) {
  policy *(*volatile linked)(int) = leveldb_new_bloom_filter_policy;
  policy *(*volatile ours)(int) = our_new_bloom_filter_policy;
  return linked != ours;
}

int leveldb_bloom_linked_source(void) {
  const char *volatile compiled_in = &leveldb_bloom_compiled_in;
  return compiled_in != NULL;
}

/* leveldb::PutFixed32(std::string *, uint32_t), for each kind of string. Who writes filters calls it, and
 * so it tells the string of a LevelDB of which a program links the tables and no database. */
extern WEAK const char put_fixed32_cxx11 __asm__(
    "_ZN7leveldb10PutFixed32EPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEj");
extern WEAK const char put_fixed32_copy_on_write __asm__("_ZN7leveldb10PutFixed32EPSsj");
extern WEAK const char put_fixed32_libcxx __asm__(
    "_ZN7leveldb10PutFixed32EPNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEEj");
const void *const leveldb_bloom_linked_writers[3] = {&put_fixed32_cxx11, &put_fixed32_copy_on_write,
                                                     &put_fixed32_libcxx};

/* Rust's prebuilt runtime routines, which lie in the same archive, mention the function that would
 * unwind through them; they never do. Without a definition a linker that takes one of the routines
 * (lld, for a wholly static program) misses it. A Rust runtime in the program has its own, which is
 * used; where that is a shared library, this one stands before it and hands on. */
#ifdef __ARM_EABI__
typedef int personality_fn(int, void *, void *);
#define PARAMETERS int state, void *exception, void *context
#define ARGUMENTS state, exception, context
#else
typedef int personality_fn(int, int, uint64_t, void *, void *);
#define PARAMETERS int version, int actions, uint64_t kind, void *exception, void *context
#define ARGUMENTS version, actions, kind, exception, context
#endif

WEAK __attribute__((visibility("hidden"))) personality_fn rust_eh_personality;
int rust_eh_personality(PARAMETERS) {
  /* _URC_FATAL_PHASE1_ERROR */
  enum { FAILED = 3 };
  /* -pedantic warns of this conversion, which C leaves to the system. */
  personality_fn *shared = __extension__(personality_fn *)dlsym(RTLD_DEFAULT, "rust_eh_personality");
  return shared == NULL ? FAILED : shared(ARGUMENTS);
}
