/* Profilers of memory (heaptrack, say) walk the loaded modules in malloc, with a lock of their own held.
 * Whoever calls malloc under the loader's lock may wait for such a thread, which waits for it. */

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "leveldb_bloom.h"

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
struct leveldb_filterpolicy_t *leveldb_filterpolicy_create_bloom(int);
void leveldb_filterpolicy_destroy(struct leveldb_filterpolicy_t *);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool walking, done;
static atomic_long walked;

static int Look(struct dl_phdr_info *info, size_t size, void *data) {
  (void)info, (void)size, (void)data;
  return 0;
}

static void Walk(void) {
  if (!walking) return;
  pthread_mutex_lock(&lock);
  dl_iterate_phdr(Look, NULL);
  walked++;
  pthread_mutex_unlock(&lock);
}

void *malloc(size_t size) {
  Walk();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  Walk();
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  Walk();
  return __libc_realloc(memory, size);
}

static void *Allocate(void *data) {
  while (!done) free(malloc(100));
  return data;
}

int main(void) {
  pthread_t other;
  int i;
  if (pthread_create(&other, NULL, Allocate, NULL) != 0) return 1;
  walking = 1;
  /* Each looks for a LevelDB in all modules, because there is none. */
  for (i = 0; i < 2000; i++) leveldb_filterpolicy_destroy(leveldb_filterpolicy_create_bloom(10));
  done = 1;
  pthread_join(other, NULL);
  walking = 0;
  return walked > 2000 ? 0 : 2;
}
