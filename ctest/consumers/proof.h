/* The proof that leveldb_bloom answered, for the programs in this folder: LevelDB's own filter
 * gives the same results, so results alone say nothing. ROUTE: how filters must reach LevelDB; undefined
 * where the library is linked in front of LevelDB. */

#ifndef PROOF_H
#define PROOF_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <leveldb_bloom.h>

#ifndef ROUTE
#define ROUTE "append-cxx11"
#define IN_FRONT
#endif

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

static char proof_path[4096];
static char proof_line[1024];

/* Call it before the policy is created. Nothing that an earlier run left can prove anything. */
static void proof_begin(const char *program) {
  snprintf(proof_path, sizeof proof_path, "%s.stats", program);
  remove(proof_path);
#ifdef _WIN32
  _putenv_s("LEVELDB_BLOOM_STATS", proof_path);
#else
  setenv("LEVELDB_BLOOM_STATS", proof_path, 1);
#endif
#ifdef IN_FRONT
  printf("active: %s\n", leveldb_bloom_active());
  EXPECT(strncmp(leveldb_bloom_active(), "leveldb_bloom (", 15) == 0);
#endif
}

/* Call it when the policy, the only one, is destroyed: reads its last line, which says what it did. */
static void proof_end(void) {
  FILE *file = fopen(proof_path, "r");
  EXPECT(file != NULL);
  while (fgets(proof_line, sizeof proof_line, file) != NULL) continue;
  EXPECT(strstr(proof_line, "\"event\":\"destroyed\"") != NULL);
  printf("stats: %s", proof_line);
  fclose(file);
  remove(proof_path);
}

/* A number of the line; -1 if it is not there. */
static long proof_count(const char *field) {
  char name[64];
  const char *found;
  snprintf(name, sizeof name, "\"%s\":", field);
  found = strstr(proof_line, name);
  return found == NULL ? -1 : atol(found + strlen(name));
}

static int proof_says(const char *field) { return strstr(proof_line, field) != NULL; }

static int proof_route_is(const char *route) {
  char field[64];
  snprintf(field, sizeof field, "\"route\":\"%s\"", route);
  return proof_says(field);
}

#endif
