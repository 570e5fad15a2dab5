// A plugin that shows a C++ library of its own (-static-libstdc++), with an operator new that no other can
// give back to. It only has to be there.

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

namespace {
char memory[1 << 20];
size_t used;
}  // namespace

void *operator new(size_t size) {
  void *place = memory + used;
  used += (size + 31) / 16 * 16;
  return place;
}
void operator delete(void *place) noexcept {
  if (place < memory || place >= memory + sizeof memory) abort();
}
void operator delete(void *place, size_t) noexcept { operator delete(place); }

extern "C" const char *leveldb_bloom_active();

std::string active() { return std::string("It is ").append(leveldb_bloom_active()); }
