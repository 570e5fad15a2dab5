/* Many policies, databases and threads: many DIRECTORY.
 *
 * Every thread fills a database with a policy of its own and different bits; then all threads read
 * all databases at once. The last databases share one policy. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "database.h"
#include "proof.h"

enum { THREADS = 8, SHARING = 3 };

static const struct leveldb leveldb = LINKED_LEVELDB;
static const int bits_per_key[THREADS - SHARING + 1] = {0, 1, 4, 10, 44, 100};

static struct job {
  char *directory;
  leveldb_filterpolicy_t *policy;
  leveldb_t *database;
} jobs[THREADS];

static void *fill(void *argument) {
  struct job *job = argument;
  leveldb.close(fill_database(&leveldb, job->policy, job->directory));
  job->database = reopen_database(&leveldb, job->policy, job->directory);
  return NULL;
}

static void *read_all(void *argument) {
  size_t first = (size_t)((struct job *)argument - jobs);
  for (size_t i = 0; i < THREADS; i++)
    read_database(&leveldb, jobs[(first + i) % THREADS].database);
  return NULL;
}

static void in_threads(void *(*run)(void *)) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, run, &jobs[i]) != 0) die("no thread");
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
  if (argc != 2) die("usage: %s DIRECTORY", argv[0]);
  print_active();
  for (int i = 0; i < THREADS; i++) {
    char name[] = {'d', 'b', (char)('0' + i), '\0'};
    jobs[i].directory = path_in(argv[1], name);
    jobs[i].policy = i > THREADS - SHARING ? jobs[THREADS - SHARING].policy
                                           : leveldb_filterpolicy_create_bloom(bits_per_key[i]);
  }
  in_threads(fill);
  in_threads(read_all);
  for (int i = 0; i < THREADS; i++) {
    leveldb.close(jobs[i].database);
    free(jobs[i].directory);
  }
  for (int i = 0; i <= THREADS - SHARING; i++) leveldb_filterpolicy_destroy(jobs[i].policy);
  return 0;
}
