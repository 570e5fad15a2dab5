/* Says whose policy a program has in which a module lies below the address that it was linked for. */

#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>

#include "leveldb_bloom.h"

size_t copy_one(void);

static int look(struct dl_phdr_info *info, size_t size, void *found) {
  (void)size;
  if ((intptr_t)info->dlpi_addr < 0) *(int *)found = 1;
  return 0;
}

int main(void) {
  int found = 0;
  dl_iterate_phdr(look, &found);
  if (!found) {
    puts("no module is so low");
    return 0;
  }
  printf("%s, %zu\n", leveldb_bloom_active(), copy_one());
  return 0;
}
