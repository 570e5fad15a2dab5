// RocksDB's FastLocalBloom, as its table builder makes it with format_version 5: another format,
// one cache line a key.

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <memory>

// Not in the installed headers. These are the functions of 7.8's classes in their order, up to the
// last that is called here.
#if ROCKSDB_MAJOR != 7 || ROCKSDB_MINOR != 8
#error "the classes below are those of RocksDB 7.8"
#endif
namespace rocksdb {
class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() = default;
  virtual void AddKey(const Slice& key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* memory) = 0;
};
class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() = default;
  virtual bool MayMatch(const Slice& key) = 0;
};
}  // namespace rocksdb

namespace {

using rocksdb::Slice;

struct Policy {
  explicit Policy(int bits_per_key) : policy(rocksdb::NewBloomFilterPolicy(bits_per_key)) {}

  std::unique_ptr<rocksdb::FilterBitsBuilder> Builder() const {
    rocksdb::BlockBasedTableOptions options;
    options.format_version = 5;
    return std::unique_ptr<rocksdb::FilterBitsBuilder>(
        policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(options)));
  }

  std::unique_ptr<const rocksdb::FilterPolicy> policy;
};

Slice Build(rocksdb::FilterBitsBuilder* builder, const Slice* keys, size_t n,
            std::unique_ptr<const char[]>* memory) {
  for (size_t i = 0; i < n; i++) builder->AddKey(keys[i]);
  return builder->Finish(memory);
}

struct Filter {
  std::unique_ptr<const char[]> memory;
  std::unique_ptr<rocksdb::FilterBitsReader> reader;
};

}  // namespace

extern "C" {

// A builder serves one filter after the other, as in a table with partitioned filters.
size_t peer_create(int bits_per_key, const Slice* keys, size_t n, size_t per) {
  const Policy policy(bits_per_key);
  const auto builder = policy.Builder();
  size_t bytes = 0;
  for (size_t i = 0; i + per <= n; i += per) {
    std::unique_ptr<const char[]> memory;
    bytes += Build(builder.get(), keys + i, per, &memory).size();
  }
  return bytes;
}

void* peer_filter(int bits_per_key, const Slice* keys, size_t n) {
  const Policy policy(bits_per_key);
  auto* filter = new Filter;
  const Slice contents = Build(policy.Builder().get(), keys, n, &filter->memory);
  filter->reader.reset(policy.policy->GetFilterBitsReader(contents));
  return filter;
}

size_t peer_query(void* filter, const Slice* keys, size_t n) {
  auto* reader = static_cast<Filter*>(filter)->reader.get();
  size_t ones = 0;
  for (size_t i = 0; i < n; i++) ones += reader->MayMatch(keys[i]);
  return ones;
}

void peer_destroy(void* filter) { delete static_cast<Filter*>(filter); }

}  // extern "C"
