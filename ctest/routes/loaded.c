/* This library and a LevelDB (or two), loaded with RTLD_LOCAL:
 *
 *   loaded WAY LEVELDB_BLOOM LEVELDB [LEVELDB] DIRECTORY
 *
 * with a WAY of the table at the end. LEVELDB_BLOOM is a file, or "preloaded" for the global
 * scope's leveldb_filterpolicy_create_bloom. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "leveldb_bloom.h"
#include "proof.h"

enum { ROUNDS = 50 };

static const char *ours_file, *host_file, *other_host_file, *directory;

static void *load_ours(void) {
  return strcmp(ours_file, "preloaded") == 0 ? load(NULL, RTLD_LOCAL) : load(ours_file, RTLD_LOCAL);
}

static leveldb_filterpolicy_t *create_bloom(void *handle) {
  __typeof__(leveldb_filterpolicy_create_bloom) *create =
      (__typeof__(create))find(handle, "leveldb_filterpolicy_create_bloom");
  leveldb_filterpolicy_t *policy = create(10);
  if (policy == NULL) die("no policy");
  print_maker(policy);
  return policy;
}

static void destroy(void *handle, leveldb_filterpolicy_t *policy) {
  __typeof__(leveldb_filterpolicy_destroy) *function =
      (__typeof__(function))find(handle, "leveldb_filterpolicy_destroy");
  function(policy);
}

static void print_active_of(void *handle) {
  printf("active: %s\n",
         ((__typeof__(leveldb_bloom_active) *)find(handle, "leveldb_bloom_active"))());
}

static void use(const struct leveldb *leveldb, leveldb_filterpolicy_t *policy, const char *name) {
  char *path = path_in(directory, name);
  use_database(leveldb, policy, path);
  free(path);
}

/* Our callbacks in a policy that the host makes. */
static void callbacks(void) {
  void *ours = load_ours(), *host = load(host_file, RTLD_LOCAL);
  struct leveldb leveldb = loaded_leveldb(host);
  const struct leveldb_bloom_vtable *bloom =
      ((__typeof__(leveldb_bloom_vtable) *)find(ours, "leveldb_bloom_vtable"))();
  struct leveldb_bloom_policy *state =
      ((__typeof__(leveldb_bloom_policy_create) *)find(ours, "leveldb_bloom_policy_create"))(10);
  leveldb_filterpolicy_t *policy = leveldb.filterpolicy_create(
      state, bloom->destructor, bloom->create_filter, bloom->key_may_match, bloom->name);
  print_maker(policy);
  use(&leveldb, policy, "database");
  leveldb.filterpolicy_destroy(policy);
}

/* What C++ asks of an object when it does not know of which class it is: its type, derived from the
 * host's. In the Itanium C++ ABI it is in front of the virtual functions. */
static void check_type(void *host, const leveldb_filterpolicy_t *policy) {
  struct type {
    const void *methods;
    const char *name;
    const void *base;
  };
  const struct type *type = (*(const struct type *const *const *)policy)[-1];
  if (type->methods == NULL || type->base != find(host, "_ZTIN7leveldb12FilterPolicyE")) {
    die("the policy is not of a type that the host knows");
  }
}

/* Our policies in the host's options, destroyed by us and by the host. */
static void created(void) {
  void *ours = load_ours(), *host = load(host_file, RTLD_LOCAL);
  struct leveldb leveldb = loaded_leveldb(host);
  leveldb_filterpolicy_t *first = create_bloom(ours), *second = create_bloom(ours);
  use(&leveldb, first, "first");
  use(&leveldb, second, "second");
  check_type(host, first);
  print_active_of(ours);
  destroy(ours, first);
  destroy(host, second);
}

/* A policy that is there before any LevelDB is. */
static void created_first(void) {
  void *ours = load_ours();
  leveldb_filterpolicy_t *policy = create_bloom(ours);
  print_active_of(ours);
  void *host = load(host_file, RTLD_LOCAL);
  struct leveldb leveldb = loaded_leveldb(host);
  use(&leveldb, policy, "database");
  destroy(ours, policy);
}

/* A policy whose library is closed by all who opened it. */
static void closed(void) {
  void *host = load(host_file, RTLD_LOCAL);
  struct leveldb leveldb = loaded_leveldb(host);
  leveldb_filterpolicy_t *living[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    void *ours = load_ours();
    __typeof__(leveldb_filterpolicy_create_bloom) *create =
        (__typeof__(create))find(ours, "leveldb_filterpolicy_create_bloom");
    living[i] = create(10);
    leveldb_filterpolicy_t *another = create(10);
    if (i % 2 == 0) destroy(ours, another);
    dlclose(ours);
    if (i % 2 != 0) leveldb.filterpolicy_destroy(another);
  }
  print_maker(living[0]);
  use(&leveldb, living[0], "first");
  use(&leveldb, living[ROUNDS - 1], "last");
  for (int i = 0; i < ROUNDS; i++) leveldb.filterpolicy_destroy(living[i]);
}

/* The host sees its own definitions before the preloaded ones. */
static void deep_bound(void) {
  void *host = load(host_file, RTLD_LOCAL | RTLD_DEEPBIND);
  struct leveldb leveldb = loaded_leveldb(host);
  leveldb_filterpolicy_t *policy = leveldb.filterpolicy_create_bloom(10);
  print_module("preloaded", find(RTLD_DEFAULT, "leveldb_filterpolicy_create_bloom"));
  print_active();
  use(&leveldb, policy, "database");
  leveldb.filterpolicy_destroy(policy);
}

/* A host like that with a policy that the program got from the global scope. */
static void deep_bound_created(void) {
  void *host = load(host_file, RTLD_LOCAL | RTLD_DEEPBIND), *ours = load_ours();
  struct leveldb leveldb = loaded_leveldb(host);
  leveldb_filterpolicy_t *policy = create_bloom(ours);
  use(&leveldb, policy, "database");
  leveldb.filterpolicy_destroy(policy);
}

/* A host like that beside one that is bound to the preloaded definitions. */
static void deep_bound_beside(void) {
  struct leveldb first = loaded_leveldb(load(host_file, RTLD_LOCAL));
  leveldb_filterpolicy_t *ours = first.filterpolicy_create_bloom(10);
  struct leveldb second = loaded_leveldb(load(other_host_file, RTLD_LOCAL | RTLD_DEEPBIND));
  leveldb_filterpolicy_t *own = second.filterpolicy_create_bloom(10);
  print_active();
  use(&first, ours, "first");
  use(&second, own, "second");
  first.filterpolicy_destroy(ours);
  second.filterpolicy_destroy(own);
}

/* Two hosts, and policies for each from us, made before either is loaded. */
static void two_hosts(void) {
  void *ours = load_ours();
  leveldb_filterpolicy_t *first = create_bloom(ours), *second = create_bloom(ours);
  void *host = load(host_file, RTLD_LOCAL), *other = load(other_host_file, RTLD_LOCAL);
  struct leveldb leveldb = loaded_leveldb(host), other_leveldb = loaded_leveldb(other);
  use(&leveldb, first, "first");
  use(&other_leveldb, second, "second");
  destroy(other, first);
  destroy(host, second);
}

/* What the hosts' own functions give. */
static void hosts_own(void) {
  const char *files[] = {host_file, other_host_file}, *names[] = {"first", "second"};
  int hosts = strcmp(host_file, other_host_file) == 0 ? 1 : 2;
  for (int i = 0; i < hosts; i++) {
    struct leveldb leveldb = loaded_leveldb(load(files[i], RTLD_LOCAL));
    leveldb_filterpolicy_t *policy = leveldb.filterpolicy_create_bloom(10);
    print_active();
    use(&leveldb, policy, names[i]);
    leveldb.filterpolicy_destroy(policy);
  }
}

/* Reads a filter after it was freed: what a sanitizer must not let pass. */
static void use_after_free(void) {
  void *ours = load_ours();
  struct leveldb_bloom_policy *state =
      ((__typeof__(leveldb_bloom_policy_create) *)find(ours, "leveldb_bloom_policy_create"))(10);
  size_t length;
  char *filter = ((__typeof__(leveldb_bloom_create_filter) *)find(
      ours, "leveldb_bloom_create_filter"))(state, NULL, NULL, 0, &length);
  ((__typeof__(leveldb_bloom_free) *)find(ours, "leveldb_bloom_free"))(filter);
  printf("%d\n", *(volatile char *)filter);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } ways[] = {
      {"callbacks", callbacks},
      {"created", created},
      {"created-first", created_first},
      {"closed", closed},
      {"deep-bound", deep_bound},
      {"deep-bound-created", deep_bound_created},
      {"deep-bound-beside", deep_bound_beside},
      {"two-hosts", two_hosts},
      {"hosts-own", hosts_own},
      {"use-after-free", use_after_free},
  };
  if (argc != 5 && argc != 6)
    die("usage: %s WAY LEVELDB_BLOOM LEVELDB [LEVELDB] DIRECTORY", argv[0]);
  ours_file = argv[2];
  host_file = argv[3];
  other_host_file = argv[argc - 2];
  directory = argv[argc - 1];
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    if (strcmp(argv[1], ways[i].name) == 0) {
      ways[i].run();
      return 0;
    }
  }
  die("no way is called %s", argv[1]);
}
