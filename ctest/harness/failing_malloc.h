// A malloc that fails when it is told to, in place of the C library's for the whole process. For
// one source file of a program.

#ifndef LEVELDB_BLOOM_HARNESS_FAILING_MALLOC_H_
#define LEVELDB_BLOOM_HARNESS_FAILING_MALLOC_H_

#include <stddef.h>

// The C library's own, under the names that it has for this purpose.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void __libc_free(void* memory);
}

namespace harness {

// For the current thread.
struct FailingMalloc {
  // So many calls succeed, then so many fail; all that follow succeed.
  long succeed, fail;
  long asked, failed;
  // Given and not freed, since this was last reset.
  long living;
};

constexpr long kForever = 1L << 60;

inline thread_local FailingMalloc failing_malloc = {kForever, 0, 0, 0, 0};

inline bool MallocFails() {
  FailingMalloc& state = failing_malloc;
  state.asked++;
  if (state.succeed > 0) {
    state.succeed--;
    return false;
  }
  if (state.fail <= 0) return false;
  state.fail--;
  state.failed++;
  return true;
}

// Runs `work` while malloc fails `fail` times after `succeed` calls; returns what happened.
template <class Work>
FailingMalloc WithFailingMalloc(long succeed, long fail, const Work& work) {
  failing_malloc = {succeed, fail, 0, 0, 0};
  work();
  const FailingMalloc result = failing_malloc;
  failing_malloc = {kForever, 0, 0, 0, 0};
  return result;
}

}  // namespace harness

extern "C" {

void* malloc(size_t size) {
  if (harness::MallocFails()) return nullptr;
  harness::failing_malloc.living++;
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  if (harness::MallocFails()) return nullptr;
  harness::failing_malloc.living++;
  return __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) {
  if (harness::MallocFails()) return nullptr;
  if (memory == nullptr) harness::failing_malloc.living++;
  return __libc_realloc(memory, size);
}

void free(void* memory) {
  if (memory != nullptr) harness::failing_malloc.living--;
  __libc_free(memory);
}

}  // extern "C"

#endif  // LEVELDB_BLOOM_HARNESS_FAILING_MALLOC_H_
