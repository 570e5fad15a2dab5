/* Uses a host that shows nothing by which it could be recognised. Linked with it: fake_host_user
 * DIRECTORY; compiled with BY_ADDRESS it takes the address of the function that makes the policy,
 * with SHARED the policy that the process shares. Compiled with LOADED and linked with none: fake_host_user LEVELDB_BLOOM HOST
 * DIRECTORY, which loads both with RTLD_LOCAL and takes the policy from LEVELDB_BLOOM, or from HOST
 * if that is "preloaded". The LevelDB that LEVELDB_BESIDE names in the environment is loaded first,
 * with RTLD_LOCAL, too. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "fake_host.h"
#include "leveldb_bloom.h"
#include "proof.h"

static void report(int wrong, const char *appended) {
  if (wrong != 0) die("wrong answer %d, the filter is %s", wrong, appended);
  printf("filter: %s\n", appended);
}

static void load_beside(void) {
  const char *leveldb = getenv("LEVELDB_BESIDE");
  if (leveldb != NULL) load(leveldb, RTLD_LOCAL);
}

#ifndef LOADED

#ifdef BY_ADDRESS
void *new_policy(int bits_per_key) __asm__("_ZN7leveldb20NewBloomFilterPolicyEi");
#elif defined(SHARED)
static void *new_policy(int bits_per_key) { return leveldb_bloom_filterpolicy_shared(bits_per_key); }
#else
#define new_policy fake_host_policy
#endif

int main(void) {
  load_beside();
  void *(*const volatile create)(int) = new_policy;
  void *policy = create(9);
  const char *appended;
  print_active();
  print_maker(policy);
  int wrong = fake_host_use(policy, &appended);
  report(wrong, appended);
  fake_host_delete(policy);
  /* LevelDB's own would divide by zero. */
  policy = create(-1);
  wrong = fake_host_use(policy, &appended);
  if (wrong != 0) die("negative: wrong answer %d", wrong);
  printf("negative: %s\n", appended);
  fake_host_delete(policy);
#ifndef SHARED
  if (fake_host_living() != 0) die("%d policies of the host live on", fake_host_living());
#endif
  return 0;
}

#else

int main(int argc, char **argv) {
  if (argc != 4) die("usage: %s LEVELDB_BLOOM HOST DIRECTORY", argv[0]);
  load_beside();
  void *policy, *host = load(argv[2], RTLD_LOCAL);
  if (strcmp(argv[1], "preloaded") == 0) {
    policy = ((__typeof__(fake_host_policy) *)find(host, "fake_host_policy"))(9);
  } else {
    void *ours = load(argv[1], RTLD_LOCAL);
    policy = ((__typeof__(leveldb_filterpolicy_create_bloom) *)find(
        ours, "leveldb_filterpolicy_create_bloom"))(9);
  }
  print_active();
  print_maker(policy);
  const char *appended;
  int wrong = ((__typeof__(fake_host_use) *)find(host, "fake_host_use"))(policy, &appended);
  report(wrong, appended);
  ((__typeof__(fake_host_delete) *)find(host, "fake_host_delete"))(policy);
  int living = ((__typeof__(fake_host_living) *)find(host, "fake_host_living"))();
  if (living != 0) die("%d policies of the host live on", living);
  /* Whoever looked into the host has to have let go of it. */
  dlclose(host);
  if (dlopen(argv[2], RTLD_LAZY | RTLD_NOLOAD) != NULL) die("%s is still loaded", argv[2]);
  return 0;
}

#endif
