// A C++ program that knows nothing of this library and opens no database, so that a static link takes
// only LevelDB's tables: workload DIRECTORY.

#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <leveldb/table_builder.h>

#include <memory>
#include <string>

#include "check.h"
#include "proof.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string directory = std::string(argv[1]) + "/database";
  leveldb::Options options;
  const std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  options.filter_policy = policy.get();
  print_active();
  print_maker(policy.get());

  leveldb::WritableFile* file = nullptr;
  Check(options.env->CreateDir(directory));
  Check(options.env->NewWritableFile(directory + "/000001.ldb", &file));
  leveldb::TableBuilder builder(options, file);
  for (int i = 10000; i < 20000; i++) builder.Add("key " + std::to_string(i), "value");
  Check(builder.Finish());
  Check(file->Close());
  delete file;

  // A table read without a database asks no filter.
  const leveldb::Slice keys[] = {"hello", "world"};
  std::string filter;
  policy->CreateFilter(keys, 2, &filter);
  if (!policy->KeyMayMatch("hello", filter) || policy->KeyMayMatch("absent", filter)) return 1;
  return 0;
}
