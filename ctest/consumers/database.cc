// database.c in C++: leveldb::NewBloomFilterPolicy, leveldb_bloom::NewRibbonFilterPolicy, and `delete`. With an
// argument it leaves the last database.

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb_bloom_policy.h>

#include <memory>
#include <string>

#include "proof.h"

namespace {

const int kKeys = 5000;

void Check(const leveldb::Status& status) {
  if (!status.ok()) {
    fprintf(stderr, "%s\n", status.ToString().c_str());
    exit(1);
  }
}

void Use(const std::string& path, const leveldb::FilterPolicy* owned, bool keep) {
  std::unique_ptr<const leveldb::FilterPolicy> policy(owned);
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = policy.get();
  Check(leveldb::DestroyDB(path, options));
  leveldb::DB* opened = nullptr;
  Check(leveldb::DB::Open(options, path, &opened));
  std::unique_ptr<leveldb::DB> db(opened);
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "key" + std::to_string(i);
    Check(db->Put(leveldb::WriteOptions(), key, key));
  }
  db->CompactRange(nullptr, nullptr);
  for (int i = 0; i < kKeys; i++) {
    const std::string key = "key" + std::to_string(i);
    std::string value;
    Check(db->Get(leveldb::ReadOptions(), key, &value));
    EXPECT(value == key);
    // Between the keys, so that only the filter can tell.
    EXPECT(db->Get(leveldb::ReadOptions(), key + "x", &value).IsNotFound());
  }
  db.reset();
  if (!keep) Check(leveldb::DestroyDB(path, options));
}

}  // namespace

int main(int argc, char** argv) {
  for (const bool ribbon : {false, true}) {
    proof_begin(argv[0]);
    Use(std::string(argv[0]) + ".db",
        ribbon ? leveldb_bloom::NewRibbonFilterPolicy(10) : leveldb::NewBloomFilterPolicy(10),
        argc > 1);
    proof_end();
    EXPECT(proof_route_is(ROUTE));
    EXPECT(proof_says(ribbon ? "\"encoding\":\"ribbon\"" : "\"encoding\":\"bloom\""));
    EXPECT(proof_count("filters") > 0 && proof_count("keys") == kKeys);
    EXPECT(proof_count("queries") >= 2 * kKeys - 10);
    EXPECT(proof_count("negatives") > kKeys * 95 / 100);
  }
  return 0;
}
