// A module with LevelDB in it that shows nothing of it but one name of its C API: what kind of
// string it has cannot be seen, and filters must go through a policy that it makes itself.

#include <leveldb/c.h>
#include <leveldb/filter_policy.h>

#include <string>

extern "C" {

// Calls the policy as LevelDB would, from within the module. Returns something, because a call in
// the last place could be a jump that leaves no trace of the module.
__attribute__((visibility("default"))) size_t HiddenHostCreateFilter(
    const leveldb::FilterPolicy* policy, const leveldb::Slice* keys, int count,
    std::string* destination) {
  policy->CreateFilter(keys, count, destination);
  return destination->size();
}

__attribute__((visibility("default"))) void* hidden_host_needs =
    reinterpret_cast<void*>(&leveldb_filterpolicy_create);

}  // extern "C"
