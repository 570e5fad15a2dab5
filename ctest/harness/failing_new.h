// An operator new that throws when it is told to. For one source file of a program.

#ifndef LEVELDB_BLOOM_HARNESS_FAILING_NEW_H_
#define LEVELDB_BLOOM_HARNESS_FAILING_NEW_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace harness {

inline thread_local bool no_memory = false;
inline thread_local int refused = 0;

inline void* Allocate(size_t size) {
  if (no_memory) {
    refused++;
    throw std::bad_alloc();
  }
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace harness

// For the whole process: for the code of the host's string, wherever that is.
// With one of a pair inlined and the other not, gcc would take them for different allocators'.
void* operator new(size_t size) { return harness::Allocate(size); }
void* operator new[](size_t size) { return harness::Allocate(size); }
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete[](void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, size_t) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace harness {

// What an exception on its way must destroy.
struct Witness {
  ~Witness() { (*destroyed)++; }
  int* destroyed;
};

// A function of its own, so that a frame is left on the way.
template <class Work>
__attribute__((noinline)) void WithWitness(const Work& work, int* destroyed) {
  const Witness witness{destroyed};
  work();
}

// Whether `work` threw std::bad_alloc, of ours, when it asked for memory.
template <class Work>
bool ThrowsBadAlloc(const Work& work) {
  int destroyed = 0;
  bool thrown = false;
  refused = 0;
  no_memory = true;
  try {
    WithWitness(work, &destroyed);
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  no_memory = false;
  EXPECT_EQ(1, destroyed);
  EXPECT_EQ(thrown ? 1 : 0, refused) << "who else allocates?";
  return thrown;
}

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_FAILING_NEW_H_
