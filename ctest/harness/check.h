/* What the C tests share: phases, and checks that say where they failed. */

#ifndef LEVELDB_BLOOM_HARNESS_CHECK_H_
#define LEVELDB_BLOOM_HARNESS_CHECK_H_

#include <stdio.h>
#include <stdlib.h>

static const char* phase = "";

static void StartPhase(const char* name) {
  fprintf(stderr, "=== Test %s\n", name);
  phase = name;
}

#define CheckCondition(condition)                                                        \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, phase, #condition);         \
      exit(1);                                                                           \
    }                                                                                    \
  } while (0)

#endif /* LEVELDB_BLOOM_HARNESS_CHECK_H_ */
