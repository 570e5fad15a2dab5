// A plugin with a LevelDB that it shows, and a C++ library and memory of its own that it hides. By snappy
// it has another C++ library in sight, whose strings would free what is not theirs.

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <typeinfo>

namespace {

constexpr std::size_t kMark = 0x6d61726b;

void Check(const leveldb::Status& status) {
  if (status.ok()) return;
  std::printf("LevelDB: %s\n", status.ToString().c_str());
  std::exit(1);
}

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size + alignof(std::max_align_t));
  if (memory == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(memory) = kMark;
  return static_cast<char*>(memory) + alignof(std::max_align_t);
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  void* const begin = static_cast<char*>(memory) - alignof(std::max_align_t);
  if (*static_cast<std::size_t*>(begin) != kMark) std::abort();
  std::free(begin);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

extern "C" void run() {
  constexpr int kKeys = 100;
  const std::string directory = "hidden_library_plugin.database";
  leveldb::Options options;
  Check(leveldb::DestroyDB(directory, options));
  options.create_if_missing = true;
  const std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  options.filter_policy = policy.get();
  leveldb::DB* opened = nullptr;
  Check(leveldb::DB::Open(options, directory, &opened));
  std::unique_ptr<leveldb::DB> database(opened);
  for (int i = 0; i < kKeys; i++) Check(database->Put({}, "key " + std::to_string(i), "value"));
  database->CompactRange(nullptr, nullptr);
  int found = 0;
  std::string value;
  for (int i = 0; i < kKeys; i++) found += database->Get({}, "key " + std::to_string(i), &value).ok();
  database.reset();
  std::printf("a %s: %d keys are found\n", typeid(*policy).name(), found);
}
