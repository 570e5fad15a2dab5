// Filters that keys in order do not get past, in a LevelDB of C++.

#ifndef LEVELDB_BLOOM_POLICY_H_
#define LEVELDB_BLOOM_POLICY_H_

namespace leveldb {
class FilterPolicy;
}

namespace leveldb_bloom {

// leveldb::NewBloomFilterPolicy with ribbon filters: leveldb_bloom_policy_create_ribbon in
// leveldb_bloom.h says what these are. For leveldb::Options::filter_policy; the caller deletes the
// result once the database is closed. The two libraries define it, and so does leveldb_bloom_policy.cc.
// It works where leveldb::NewBloomFilterPolicy of the libraries does, and where it does not, as
// leveldb_bloom_filterpolicy_create_ribbon.
__attribute__((visibility("default")))
const leveldb::FilterPolicy* NewRibbonFilterPolicy(int bits_per_key);

}  // namespace leveldb_bloom

#endif  // LEVELDB_BLOOM_POLICY_H_
