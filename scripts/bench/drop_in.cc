// Times leveldb::FilterPolicy of two libraries in one process, in turn: stock LevelDB's and ours.
//
//   drop_in STOCK.so OURS.so
//
// Each is loaded for itself, so that each uses its own policy; both are called through their virtual
// functions, as LevelDB calls them. Prints medians, and stock's time divided by ours.

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "leveldb/filter_policy.h"
#include "leveldb/slice.h"

namespace {

using leveldb::FilterPolicy;
using leveldb::Slice;

// Branch predictors learn shorter lists of absent keys by heart.
constexpr size_t kKeys = 60000;
constexpr size_t kQueries = 50000;

const FilterPolicy* Load(const char* file) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  void* create = library ? dlsym(library, "_ZN7leveldb20NewBloomFilterPolicyEi") : nullptr;
  if (create == nullptr) {
    std::fprintf(stderr, "%s: %s\n", file, dlerror());
    std::exit(1);
  }
  return reinterpret_cast<const FilterPolicy* (*)(int)>(create)(10);
}

// The median time of `work(policy)`, in nanoseconds, of each of the two.
template <typename Work>
void Compare(const char* name, size_t keys, size_t units, int rounds,
             const FilterPolicy* const (&policies)[2], Work work) {
  std::vector<double> times[2];
  for (int round = 0; round < rounds; round++) {
    for (int who = 0; who < 2; who++) {
      const auto start = std::chrono::steady_clock::now();
      work(*policies[who]);
      const std::chrono::duration<double, std::nano> time =
          std::chrono::steady_clock::now() - start;
      times[who].push_back(time.count() / static_cast<double>(units));
    }
  }
  for (auto& list : times) std::sort(list.begin(), list.end());
  const double stock = times[0][rounds / 2], ours = times[1][rounds / 2];
  std::printf("%-16s %8zu %12.2f %12.2f %12.2f\n", name, keys, stock, ours, stock / ours);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const FilterPolicy* const policies[2] = {Load(argv[1]), Load(argv[2])};

  std::vector<std::string> texts(kKeys + 40000);
  for (size_t i = 0; i < texts.size(); i++) {
    char text[32];
    std::snprintf(text, sizeof text, "%016zu", i * 7919);
    texts[i] = text;
  }
  const std::vector<Slice> keys(texts.begin(), texts.end());

  std::printf("%-16s %8s %12s %12s %12s\n", "ns a key", "keys", "stock", "ours", "stock/ours");
  for (size_t n : {1, 2, 5, 20, 100, 1000, 100000}) {
    const size_t filters = std::max<size_t>(1, 20000 / n);
    std::string filter;
    filter.reserve(1 << 20);
    Compare("create", n, filters * n, 31, policies, [&](const FilterPolicy& policy) {
      for (size_t i = 0; i < filters; i++) {
        filter.clear();
        policy.CreateFilter(&keys[i * n], static_cast<int>(n), &filter);
      }
    });
  }
  size_t answers = 0;
  for (size_t n : {20, 1000}) {
    std::string filter;
    policies[0]->CreateFilter(keys.data(), static_cast<int>(n), &filter);
    Compare("query, present", n, kQueries, 21, policies, [&](const FilterPolicy& policy) {
      for (size_t i = 0; i < kQueries; i++) answers += policy.KeyMayMatch(keys[i * 7 % n], filter);
    });
    Compare("query, absent", n, kQueries, 21, policies, [&](const FilterPolicy& policy) {
      for (size_t i = 0; i < kQueries; i++) answers += policy.KeyMayMatch(keys[n + i], filter);
    });
  }
  return answers == 0;
}
