/* LevelDB's own names, weak, for the static library.
 *
 * libleveldb.a defines its whole C API in one object, so a strong leveldb_filterpolicy_create_bloom
 * of ours would be a second definition in every program. Weak, ours gives way to it; and it calls
 * leveldb::NewBloomFilterPolicy, which is ours when our archive comes first. */

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
typedef policy *new_policy_fn(int bits_per_key);

#define WEAK __attribute__((weak))
/* Where several libraries contain the archive, they would otherwise all call those of the first. */
#define HIDDEN __attribute__((visibility("hidden")))

/* In lib.rs. */
HIDDEN new_policy_fn leveldb_bloom_names_create_bloom;
HIDDEN create_fn leveldb_bloom_names_create;
HIDDEN void leveldb_bloom_names_destroy(policy *);
new_policy_fn leveldb_bloom_filterpolicy_create_ribbon;

/* Ours under names that nothing can override, to see whether something did. */
static policy *our_new_policy(int bits_per_key) {
  return leveldb_bloom_names_create_bloom(bits_per_key);
}

static policy *our_create(void *state, destructor_fn *destructor, create_filter_fn *create_filter,
                          key_may_match_fn *key_may_match, name_fn *name) {
  return leveldb_bloom_names_create(state, destructor, create_filter, key_may_match, name);
}

new_policy_fn leveldb_new_policy __asm__("_ZN7leveldb20NewBloomFilterPolicyEi")
    __attribute__((weak, alias("our_new_policy")));
create_fn leveldb_filterpolicy_create __attribute__((weak, alias("our_create")));

WEAK policy *leveldb_filterpolicy_create_bloom(int bits_per_key);
policy *leveldb_filterpolicy_create_bloom(int bits_per_key) {
  return leveldb_bloom_names_create_bloom(bits_per_key);
}

/* Weak, because leveldb_bloom_policy.cc defines it, too. */
WEAK policy *leveldb_new_ribbon_policy(int bits_per_key)
    __asm__("_ZN13leveldb_bloom21NewRibbonFilterPolicyEi");
policy *leveldb_new_ribbon_policy(int bits_per_key) {
  return leveldb_bloom_filterpolicy_create_ribbon(bits_per_key);
}

WEAK void leveldb_filterpolicy_destroy(policy *);
void leveldb_filterpolicy_destroy(policy *p) { leveldb_bloom_names_destroy(p); }

/* leveldb_bloom_policy.cc defines it, and leveldb::NewBloomFilterPolicy with it. */
extern const char leveldb_bloom_compiled_in WEAK;

/* For lib.rs: what the linker took, beside ours. */
HIDDEN extern const struct {
  create_fn *create, *our_create;
  new_policy_fn *new_policy, *our_new_policy;
  const char *compiled_in;
} leveldb_bloom_names;
__typeof__(leveldb_bloom_names) leveldb_bloom_names = {
    leveldb_filterpolicy_create, our_create, leveldb_new_policy, our_new_policy,
    &leveldb_bloom_compiled_in};

/* Rust's prebuilt routines mention the function that would unwind through them; they never do. A Rust
 * program has its own. */
WEAK HIDDEN int rust_eh_personality(void);
int rust_eh_personality(void) { return 3; /* _URC_FATAL_PHASE1_ERROR */ }
