// How a program is linked: compiled with HOST for those that have a LevelDB.

#include "doors.h"

#ifdef HOST
#include <leveldb/c.h>
#include <leveldb/db.h>
// A linker takes nothing from an archive that nobody refers to.
__attribute__((used)) static const auto host = &leveldb::DestroyDB;
__attribute__((used)) static const auto host_of_c = &leveldb_open;
#endif

namespace harness {

// Where this machine has not the kernel that LEVELDB_BLOOM_KERNEL names, there is nothing to test.
static const bool has_kernel = [] {
  leveldb_bloom_policy* const policy = leveldb_bloom_policy_create(10);
  const char* const wanted = std::getenv("LEVELDB_BLOOM_KERNEL");
  if (wanted != nullptr && std::string(wanted) != leveldb_bloom_kernel(policy)) std::_Exit(77);
  leveldb_bloom_policy_destroy(policy);
  return true;
}();

#ifdef HOST
const bool kHasLevelDB = true;
#else
const bool kHasLevelDB = false;
#endif

TEST(Way, IsActive) {
  EXPECT_STREQ(kHasLevelDB ? "leveldb_bloom (append-cxx11)" : "leveldb_bloom (no LevelDB found)",
               leveldb_bloom_active());
}

}  // namespace harness
