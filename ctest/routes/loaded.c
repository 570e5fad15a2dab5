/* leveldb_bloom and a LevelDB (or two), loaded with RTLD_LOCAL by a program that links neither:
 *
 *   loaded WAY LEVELDB_BLOOM LEVELDB [LEVELDB] DIRECTORY
 *
 * with a WAY of the table at the end. LEVELDB_BLOOM is a file, or "preloaded". */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "leveldb_bloom.h"
#include "program.h"

static const char *ours_file, *host_file, *other_file, *directory;

static void *load_ours(void) {
  return strcmp(ours_file, "preloaded") == 0 ? load(NULL, 0) : load(ours_file, RTLD_LOCAL);
}

#define FIND(handle, name) ((__typeof__(name) *)find(handle, #name))

static leveldb_filterpolicy_t *create_bloom(void *handle) {
  leveldb_filterpolicy_t *policy = FIND(handle, leveldb_filterpolicy_create_bloom)(10);
  if (policy == NULL) die("no policy");
  print_maker(policy);
  return policy;
}

/* Our callbacks in a policy that the host makes. */
static void callbacks(void) {
  void *ours = load_ours();
  struct leveldb_api leveldb = loaded_leveldb(load(host_file, RTLD_LOCAL));
  const struct leveldb_bloom_vtable *bloom = FIND(ours, leveldb_bloom_vtable)();
  leveldb_filterpolicy_t *policy = leveldb.filterpolicy_create(
      FIND(ours, leveldb_bloom_policy_create)(10), bloom->destructor, bloom->create_filter,
      bloom->key_may_match, bloom->name);
  use_database(&leveldb, policy, directory, "database");
  leveldb.filterpolicy_destroy(policy);
}

/* The same with ribbon filters. */
static void ribbon_callbacks(void) {
  void *ours = load_ours();
  struct leveldb_api leveldb = loaded_leveldb(load(host_file, RTLD_LOCAL));
  const struct leveldb_bloom_vtable *bloom = FIND(ours, leveldb_bloom_vtable)();
  leveldb_filterpolicy_t *policy = leveldb.filterpolicy_create(
      FIND(ours, leveldb_bloom_policy_create_ribbon)(10), bloom->destructor, bloom->create_filter,
      bloom->key_may_match, bloom->name);
  use_database(&leveldb, policy, directory, "database");
  leveldb.filterpolicy_destroy(policy);
}

/* Our object with ribbon filters. */
static void ribbon(void) {
  void *ours = load_ours();
  struct leveldb_api leveldb = loaded_leveldb(load(host_file, RTLD_LOCAL));
  leveldb_filterpolicy_t *policy = FIND(ours, leveldb_bloom_filterpolicy_create_ribbon)(10);
  use_database(&leveldb, policy, directory, "database");
  leveldb.filterpolicy_destroy(policy);
}

/* Our policies in the host's options, destroyed by us and by the host. */
static void created(void) {
  void *ours = load_ours();
  struct leveldb_api leveldb = loaded_leveldb(load(host_file, RTLD_LOCAL));
  leveldb_filterpolicy_t *first = create_bloom(ours), *second = create_bloom(ours);
  use_database(&leveldb, first, directory, "first");
  use_database(&leveldb, second, directory, "second");
  FIND(ours, leveldb_filterpolicy_destroy)(first);
  leveldb.filterpolicy_destroy(second);
}

/* A policy that is made before any LevelDB is loaded. */
static void created_first(void) {
  void *ours = load_ours();
  leveldb_filterpolicy_t *policy = create_bloom(ours);
  struct leveldb_api leveldb = loaded_leveldb(load(host_file, RTLD_LOCAL));
  use_database(&leveldb, policy, directory, "database");
  FIND(ours, leveldb_filterpolicy_destroy)(policy);
}

/* Policies that outlive every handle of our library. */
static void closed(void) {
  struct leveldb_api leveldb = loaded_leveldb(load(host_file, RTLD_LOCAL));
  leveldb_filterpolicy_t *policies[20];
  for (int i = 0; i < 20; i++) {
    void *ours = load_ours();
    policies[i] = create_bloom(ours);
    if (dlclose(ours) != 0) die("%s", dlerror());
  }
  use_database(&leveldb, policies[0], directory, "first");
  use_database(&leveldb, policies[19], directory, "last");
  for (int i = 0; i < 20; i++) leveldb.filterpolicy_destroy(policies[i]);
}

/* Two hosts, and a policy of ours for each, made before either is loaded. */
static void two_hosts(void) {
  void *ours = load_ours();
  leveldb_filterpolicy_t *first = create_bloom(ours), *second = create_bloom(ours);
  struct leveldb_api leveldb = loaded_leveldb(load(host_file, RTLD_LOCAL));
  struct leveldb_api other = loaded_leveldb(load(other_file, RTLD_LOCAL));
  use_database(&leveldb, first, directory, "first");
  use_database(&other, second, directory, "second");
  other.filterpolicy_destroy(first);
  leveldb.filterpolicy_destroy(second);
}

/* What each host's own functions give, which may be the preloaded ones. */
static void own(int flags) {
  const char *files[] = {host_file, other_file}, *names[] = {"first", "second"};
  for (int i = 0; i < (host_file == other_file ? 1 : 2); i++) {
    struct leveldb_api leveldb = loaded_leveldb(load(files[i], RTLD_LOCAL | flags));
    leveldb_filterpolicy_t *policy = leveldb.filterpolicy_create_bloom(10);
    print_active();
    print_maker(policy);
    use_database(&leveldb, policy, directory, names[i]);
    leveldb.filterpolicy_destroy(policy);
  }
}

static void hosts_own(void) { own(0); }

/* The host sees its own definitions before the preloaded ones. */
static void deep_bound(void) { own(RTLD_DEEPBIND); }

/* Callbacks of the user's own, given to leveldb_filterpolicy_create of the global scope. */
static void custom(void) {
  void *ours = load_ours();
  struct leveldb_api leveldb = loaded_leveldb(load(host_file, RTLD_LOCAL));
  use_custom(&leveldb, FIND(ours, leveldb_filterpolicy_create),
             FIND(ours, leveldb_filterpolicy_destroy), directory, "global");
  use_custom(&leveldb, leveldb.filterpolicy_create, leveldb.filterpolicy_destroy, directory, "own");
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } ways[] = {
      {"callbacks", callbacks}, {"created", created},     {"created-first", created_first},
      {"closed", closed},       {"two-hosts", two_hosts}, {"hosts-own", hosts_own},
      {"deep-bound", deep_bound}, {"custom", custom},   {"ribbon", ribbon},
      {"ribbon-callbacks", ribbon_callbacks},
  };
  if (argc != 5 && argc != 6) die("usage: see loaded.c");
  ours_file = argv[2];
  host_file = argv[3];
  other_file = argv[argc - 2];
  directory = argv[argc - 1];
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    if (strcmp(argv[1], ways[i].name) == 0) return ways[i].run(), 0;
  }
  die("no way is called %s", argv[1]);
}
