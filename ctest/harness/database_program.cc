// Writes or reads a database with a bloom filter policy; linked once with LevelDB alone and once
// with our library in front of it:
//
//     database_program write|read FOLDER BITS_PER_KEY VALUE_SIZE SNAPPY(0|1)
//
// Says which file its filters are of, and fails at the first wrong answer.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include "keys.h"
#include "stock.h"

namespace {

using leveldb::Status;

// About as much data whatever the size of a value.
int KeyCount(size_t value_size) { return static_cast<int>(4000000 / (value_size + 100)); }

// Bytes that are the same everywhere, and that can be compressed.
std::string SomeBytes(uint32_t seed, size_t count) {
  std::string bytes;
  for (uint32_t state = seed * 2654435761u + 1; bytes.size() < count;) {
    state = state * 1664525 + 1013904223;
    bytes.append(1 + (state >> 16) % 12, static_cast<char>(state >> 24));
  }
  bytes.resize(count);
  return bytes;
}

// Spread over the whole database, 5 to 44 bytes long. No two are equal: the number is in each.
std::string Key(int number, char kind) {
  const uint32_t spread = static_cast<uint32_t>(number) * 2654435761u;
  std::string key = harness::NumberKey(spread);
  return key + kind + SomeBytes(spread, spread >> 8 & 31 ? spread >> 8 & 31 : 39);
}

constexpr char kPresent = 'p', kAbsent = 'a';

std::string Value(int number, size_t size) {
  return SomeBytes(static_cast<uint32_t>(number), size);
}

void Check(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

void Expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

void Write(leveldb::DB* database, size_t value_size) {
  const int count = KeyCount(value_size);
  for (int i = 0; i < count; i++) {
    Check(database->Put({}, Key(i, kPresent), Value(i, value_size)));
  }
  // Before anything else is written: only this way are the tables the same each time.
  database->CompactRange(nullptr, nullptr);
  std::printf("%d written\n", count);
}

void Read(leveldb::DB* database, size_t value_size) {
  const int count = KeyCount(value_size);
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  std::string value;
  for (int i = 0; i < count; i++) {
    Check(database->Get(options, Key(i, kPresent), &value));
    Expect(value == Value(i, value_size), "another value");
    Expect(database->Get(options, Key(i, kAbsent), &value).IsNotFound(), "found what is not there");
  }
  std::unique_ptr<leveldb::Iterator> iterator(database->NewIterator(options));
  int seen = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    Expect(iterator->value().size() == value_size, "a value of another size");
    seen++;
  }
  Check(iterator->status());
  Expect(seen == count, "not as many as were written");
  std::printf("%d found, %d absent\n", count, count);
}

void Run(const std::string& command, const std::string& folder, int bits_per_key,
         size_t value_size, bool snappy) {
  std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(bits_per_key));
  std::printf("filters of %s\n", harness::FileOfFilters(policy.get()).c_str());
  std::printf("leveldb_bloom is %s\n",
              dlsym(RTLD_DEFAULT, "leveldb_bloom_active") ? "there" : "not there");

  leveldb::Options options;
  options.create_if_missing = command == "write";
  options.paranoid_checks = true;
  options.filter_policy = policy.get();
  options.compression = snappy ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  // One memtable.
  options.write_buffer_size = 64 << 20;
  leveldb::DB* opened = nullptr;
  Check(leveldb::DB::Open(options, folder, &opened));
  std::unique_ptr<leveldb::DB> database(opened);
  (command == "write" ? Write : Read)(database.get(), value_size);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  try {
    Run(argv[1], argv[2], std::atoi(argv[3]), std::strtoul(argv[4], nullptr, 10),
        std::atoi(argv[5]) != 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "database_program: %s\n", error.what());
    return 1;
  }
  return 0;
}
