// Prints golden_values.h from LevelDB's own library: golden_generator [/path/to/libleveldb.so]
//
//     golden_generator > ctest/harness/golden_values.h
//
// The library is loaded with RTLD_LOCAL and each function is checked to be in its file, so that no
// other definition in the process can answer.

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "keys.h"
#include "stock.h"

namespace harness {
namespace {

struct Filter {
  int bits_per_key;
  std::vector<std::string> keys;
};

std::vector<std::string> Numbers(uint32_t count) {
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < count; i++) keys.push_back(NumberKey(i));
  return keys;
}

std::vector<Filter> Filters() {
  std::vector<Filter> filters = {
      {10, {}},
      {10, {"hello", "world"}},
      {10, {"hello"}},
      {10, {"hello", "hello"}},
      {10, {""}},
      // The last bytes of a key count as unsigned.
      {10, {"\xc3\x97"}},
      {10, {"\xff"}},
      {10, {"\x80\x81\x82"}},
      {10, {"\xfc\xfd\xfe\xff\xf9"}},
      {10, {std::string("\0", 1), std::string("\0\0\0\0", 4)}},
  };
  // Every number of probes, on both sides of where it changes first and last, and the filter that
  // is larger than the smallest.
  for (int bits : {0, 1, 2, 3, 4, 5, 20, 28, 29, 30, 42, 43, 44, 45, 63, 64, 65, 100}) {
    filters.push_back({bits, {"a"}});
  }
  // Sizes around whole bytes.
  for (uint32_t count : {6, 7, 8, 100}) filters.push_back({10, Numbers(count)});
  filters.push_back({7, Numbers(11)});
  filters.push_back({1, Numbers(65)});
  return filters;
}

std::vector<std::string> HashedKeys() {
  return {"",
          "\x62",
          "\xc3\x97",
          "\xe2\x99\xa5",
          "\xe1\x80\xb9\x32",
          "hello",
          std::string("\x01\xc0\x00\x00\x00\x00\x00\x00\x00\x14", 10),
          std::string(47, '\xee')};
}

struct Query {
  std::string key;
  std::string filter;
};

std::vector<Query> Queries() {
  std::vector<Query> queries;
  auto add = [&](const char* filter) { queries.push_back({"hello", FromHex(filter)}); };
  for (const char* filter : {"", "06", "ff", "0006", "ff06", "0000", "ff00"}) add(filter);
  // The number of probes: the last one known, the first ones reserved, and those that a signed
  // byte would take for negative.
  for (const char* probes : {"01", "1e", "1f", "20", "7f", "80", "ff"}) {
    for (const char* bits : {"0000000000000000", "ffffffffffffffff"}) {
      queries.push_back({"hello", FromHex(bits + std::string(probes))});
    }
  }
  // Filters of "hello" and "world".
  for (const char* key : {"hello", "world", "x", "foo", ""}) {
    queries.push_back({key, FromHex("114000414410401006")});
  }
  // The same bits, the number of probes of another policy.
  for (const char* key : {"hello", "world", "x", "foo", ""}) {
    queries.push_back({key, FromHex("114000414410401001")});
  }
  return queries;
}

// The hash of a key. A filter with one probe holds one bit of it: hash % bits. No two 32-bit hashes agree
// on both remainders, because the least common multiple of the two sizes is more than 2^32.
uint32_t HashOf(const leveldb::FilterPolicy& one_bit_per_key, const std::string& key) {
  constexpr uint32_t kBits[] = {1 << 19, 8 * ((1 << 14) - 1)};
  uint32_t remainders[2];
  for (int i = 0; i < 2; i++) {
    const std::vector<leveldb::Slice> copies(kBits[i], key);
    std::string filter;
    one_bit_per_key.CreateFilter(copies.data(), static_cast<int>(kBits[i]), &filter);
    const size_t byte = filter.find_first_not_of('\0');
    remainders[i] = static_cast<uint32_t>(byte * 8) + static_cast<uint32_t>(__builtin_ctz(filter[byte]));
  }
  for (uint64_t hash = remainders[0]; hash <= UINT32_MAX; hash += kBits[0]) {
    if (hash % kBits[1] == remainders[1]) return static_cast<uint32_t>(hash);
  }
  throw std::runtime_error("no hash has these remainders");
}

std::string CppString(const std::string& bytes) {
  std::string hex = ToHex(bytes);
  constexpr size_t kLine = 86;
  for (size_t end = hex.size() / kLine * kLine; end > 0; end -= kLine) {
    if (end < hex.size()) hex.insert(end, "\"\n     \"");
  }
  return "\"" + hex + "\"";
}

void Print(const Stock& stock) {
  auto new_policy = [&](int bits) {
    return std::unique_ptr<const leveldb::FilterPolicy>(stock.NewBloomFilterPolicy(bits));
  };
  std::printf(
      "// Printed by golden_generator.cc from LevelDB's own library (1.23, as in Debian 12):\n"
      "// do not edit. Bytes are in hexadecimal.\n\n"
      "#ifndef LEVELDB_BLOOM_HARNESS_GOLDEN_VALUES_H_\n"
      "#define LEVELDB_BLOOM_HARNESS_GOLDEN_VALUES_H_\n\n"
      "#include \"golden.h\"\n\n"
      "namespace harness {\n\n");
  std::printf("constexpr char kGoldenName[] = \"%s\";\n\n", new_policy(10)->Name());

  std::printf("const std::vector<GoldenFilter> kGoldenFilters = {\n");
  for (const Filter& row : Filters()) {
    std::string filter;
    const std::vector<leveldb::Slice> keys = Slices(row.keys);
    new_policy(row.bits_per_key)
        ->CreateFilter(keys.data(), static_cast<int>(keys.size()), &filter);
    std::printf("    {%d, {", row.bits_per_key);
    for (size_t i = 0; i < row.keys.size(); i++) {
      const char* separator = i == 0 ? "" : i % 7 == 0 ? ",\n          " : ", ";
      std::printf("%s%s", separator, CppString(row.keys[i]).c_str());
    }
    std::printf("},\n     %s},\n", CppString(filter).c_str());
  }
  std::printf("};\n\n");

  std::printf("const std::vector<GoldenHash> kGoldenHashes = {\n");
  for (const std::string& key : HashedKeys()) {
    const auto policy = new_policy(1);
    std::printf("    {%s, 0x%08x},\n", CppString(key).c_str(),
                HashOf(*policy, key));
  }
  std::printf("};\n\n");

  std::printf("const std::vector<GoldenAnswer> kGoldenAnswers = {\n");
  for (const Query& query : Queries()) {
    std::printf("    {%s, %s, %s},\n", CppString(query.key).c_str(),
                CppString(query.filter).c_str(),
                new_policy(10)->KeyMayMatch(query.key, query.filter) ? "true" : "false");
  }
  std::printf(
      "};\n\n"
      "}  // namespace harness\n\n"
      "#endif  // LEVELDB_BLOOM_HARNESS_GOLDEN_VALUES_H_\n");
}

}  // namespace
}  // namespace harness

int main(int argc, char** argv) {
  try {
    const harness::Stock stock(argc > 1 ? argv[1] : HARNESS_LEVELDB_FILE);
    // Only LevelDB itself has a database.
    stock.Find<void*>("leveldb_open");
    harness::Print(stock);
    std::fprintf(stderr, "printed from %s%s\n", stock.file().c_str(),
                 dlsym(RTLD_DEFAULT, "leveldb_bloom_active") ? ", beside leveldb_bloom" : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "golden_generator: %s\n", error.what());
    return 1;
  }
  return 0;
}
