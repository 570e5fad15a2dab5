// A library with a LevelDB in it (LIBRARY): its global object, which is constructed once, writes tables of a
// database when it is destroyed, at the end of the process. And the program that links it.
#if defined LIBRARY

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <cstdio>
#include <string>

namespace {

struct Last {
  Last() : folder("last_database_of_" WAY) {
    setvbuf(stdout, nullptr, _IONBF, 0);
    puts("constructed");
  }
  ~Last() {
    leveldb::Options options;
    options.create_if_missing = true;
    options.filter_policy = leveldb::NewBloomFilterPolicy(10);
    leveldb::DestroyDB(folder, options);
    leveldb::DB *database;
    // What the first leaves in its log, the second writes to a table.
    for (int i = 0; i < 2; i++) {
      if (!leveldb::DB::Open(options, folder, &database).ok()) {
        puts("not opened");
        return;
      }
      database->Put({}, "key", "value");
      delete database;
    }
    leveldb::DestroyDB(folder, options);
    delete options.filter_policy;
    puts("destroyed");
  }
  std::string folder;
} last;

}  // namespace

void last_database() {}

#else

void last_database();
int main() { last_database(); }

#endif
