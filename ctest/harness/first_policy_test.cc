// The first policy of a process is made without operator new, LevelDB's own functions included: a program
// in C has nobody to catch what it throws.

#include <leveldb/c.h>
#include <leveldb_bloom.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {
bool fails = true;
}

void* operator new(std::size_t size) {
  void* const memory = fails ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
  leveldb_filterpolicy_t* const policy = leveldb_filterpolicy_create_bloom(10);
  fails = false;
  // Ours, of a LevelDB that is there.
  const char* const active = leveldb_bloom_active();
  std::puts(active);
  if (policy == nullptr || leveldb_bloom_live_policies() != 1) return 1;
  leveldb_filterpolicy_destroy(policy);
  return std::strncmp(active, "leveldb_bloom (append-", 22) != 0;
}
