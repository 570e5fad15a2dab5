// What the C++ programs do where LevelDB reports an error.

#ifndef LEVELDB_BLOOM_ROUTES_CHECK_H
#define LEVELDB_BLOOM_ROUTES_CHECK_H

#include <leveldb/status.h>

#include <cstdio>
#include <cstdlib>

inline void Check(const leveldb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "LevelDB: %s\n", status.ToString().c_str());
  std::exit(1);
}

#endif
