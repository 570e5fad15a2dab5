// LevelDB's own library, loaded beside whatever else is in the process, and proof that what is
// called here is in it.

#ifndef LEVELDB_BLOOM_HARNESS_STOCK_H_
#define LEVELDB_BLOOM_HARNESS_STOCK_H_

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include <leveldb/filter_policy.h>

namespace harness {

// The file that the code or data at `address` was loaded from.
inline std::string FileOf(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0) throw std::runtime_error("an address of no module");
  return std::filesystem::canonical(info.dli_fname).string();
}

// The file with the code that `policy` makes filters with.
inline std::string FileOfFilters(const leveldb::FilterPolicy* policy) {
  const void* const* const methods = *reinterpret_cast<const void* const* const*>(policy);
  constexpr int kCreateFilter = 3;
  return FileOf(methods[kCreateFilter]);
}

class Stock {
 public:
  // RTLD_DEEPBIND: its own references stay in it, whoever else defines the same names.
  explicit Stock(const std::string& file)
      : file_(std::filesystem::canonical(file).string()),
        handle_(dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }

  const std::string& file() const { return file_; }

  // The function of that name, which must be the library's own.
  template <class Function>
  Function Find(const char* name) const {
    void* found = dlsym(handle_, name);
    if (found == nullptr) throw std::runtime_error(dlerror());
    if (FileOf(found) != file_) throw std::runtime_error(name + (" of " + FileOf(found)));
    return reinterpret_cast<Function>(found);
  }

  const leveldb::FilterPolicy* NewBloomFilterPolicy(int bits_per_key) const {
    using New = const leveldb::FilterPolicy* (*)(int);
    const leveldb::FilterPolicy* policy =
        Find<New>("_ZN7leveldb20NewBloomFilterPolicyEi")(bits_per_key);
    if (FileOfFilters(policy) != file_) {
      throw std::runtime_error("a filter of " + FileOfFilters(policy));
    }
    return policy;
  }

 private:
  const std::string file_;
  void* const handle_;
};

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_STOCK_H_
