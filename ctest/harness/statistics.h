// LEVELDB_BLOOM_STATS, read back: the proof that this library answered, since LevelDB's own filter
// gives the same answers.

#ifndef LEVELDB_BLOOM_HARNESS_STATISTICS_H_
#define LEVELDB_BLOOM_HARNESS_STATISTICS_H_

#include <stdlib.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "temporary_folder.h"

namespace harness {

// One line: a JSON object of strings and whole numbers.
class StatisticsLine {
 public:
  // Throws std::runtime_error unless `json` is exactly one such object.
  explicit StatisticsLine(const std::string& json) : rest_(json) {
    Expect('{');
    do {
      const std::string name = String();
      Expect(':');
      if (!rest_.empty() && rest_[0] == '"') {
        AddOnce(&texts_, name, String());
      } else {
        AddOnce(&numbers_, name, Number());
      }
    } while (Accept(','));
    Expect('}');
    if (!rest_.empty()) throw std::runtime_error("more than an object: " + json);
  }

  const std::string& Text(const std::string& name) const { return Get(texts_, name); }
  uint64_t Number(const std::string& name) const { return Get(numbers_, name); }

 private:
  template <class Value>
  static void AddOnce(std::map<std::string, Value>* fields, const std::string& name, Value value) {
    if (!fields->emplace(name, value).second) throw std::runtime_error(name + " comes twice");
  }

  template <class Value>
  static const Value& Get(const std::map<std::string, Value>& fields, const std::string& name) {
    auto field = fields.find(name);
    if (field == fields.end()) throw std::runtime_error("no field " + name);
    return field->second;
  }

  bool Accept(char expected) {
    if (rest_.empty() || rest_[0] != expected) return false;
    rest_.erase(0, 1);
    return true;
  }

  void Expect(char expected) {
    if (!Accept(expected)) {
      throw std::runtime_error(std::string("expected ") + expected + " before \"" + rest_ + "\"");
    }
  }

  std::string String() {
    Expect('"');
    const size_t end = rest_.find_first_of("\"\\");
    if (end == std::string::npos || rest_[end] != '"') throw std::runtime_error("string: " + rest_);
    const std::string text = rest_.substr(0, end);
    rest_.erase(0, end + 1);
    return text;
  }

  uint64_t Number() {
    const size_t end = rest_.find_first_not_of("0123456789");
    const std::string digits = rest_.substr(0, end);
    if (digits.empty() || (digits[0] == '0' && digits.size() > 1)) {
      throw std::runtime_error("number: " + rest_);
    }
    rest_.erase(0, digits.size());
    return std::stoull(digits);
  }

  std::string rest_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, uint64_t> numbers_;
};

// The lines of `text`, each of which must end with a newline.
inline std::vector<StatisticsLine> StatisticsLines(std::string text) {
  std::vector<StatisticsLine> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string::npos) throw std::runtime_error("half a line: " + text);
    lines.emplace_back(text.substr(0, end));
    text.erase(0, end + 1);
  }
  return lines;
}

// While this lives, new policies count, and write what they did into a file of ours.
class Statistics {
 public:
  Statistics() { Count(true); }
  ~Statistics() { Count(false); }

  // Whether policies that are made from now on count.
  void Count(bool on) const {
    if (on) {
      setenv("LEVELDB_BLOOM_STATS", path().c_str(), 1);
    } else {
      unsetenv("LEVELDB_BLOOM_STATS");
    }
  }

  std::string path() const { return folder_.Path("statistics"); }

  // One line for each policy destroyed since this was last called.
  std::vector<StatisticsLine> Take() {
    std::vector<StatisticsLine> lines = StatisticsLines(ReadFile(path()));
    std::filesystem::remove(path());
    return lines;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_STATISTICS_H_
