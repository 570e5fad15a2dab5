// Writes a table by Debian's leveldb::TableBuilder alone, with no database around it, as TensorFlow writes the index of
// a checkpoint:
//
//   table FILE KEYS BITS_PER_KEY
//
// BITS_PER_KEY 0 is no filter policy.

#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <leveldb/table_builder.h>

#include <cstdio>
#include <cstdlib>

static void Check(const leveldb::Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
  }
}

int main(int, char** argv) {
  leveldb::WritableFile* file;
  Check(leveldb::Env::Default()->NewWritableFile(argv[1], &file));
  leveldb::Options options;
  if (std::atoi(argv[3]) != 0) options.filter_policy = leveldb::NewBloomFilterPolicy(std::atoi(argv[3]));
  leveldb::TableBuilder builder(options, file);
  builder.Add("", "the header");
  for (int i = 0; i < std::atoi(argv[2]); i++) {
    char key[40];
    std::snprintf(key, sizeof key, "layer_%06d/kernel", i);
    builder.Add(key, "shape and offset");
  }
  Check(builder.Finish());
  Check(file->Close());
}
