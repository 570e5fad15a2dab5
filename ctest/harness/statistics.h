// LEVELDB_BLOOM_STATS, read back: the proof that this library answered, since LevelDB's own filter
// gives the same answers.

#ifndef LEVELDB_BLOOM_HARNESS_STATISTICS_H_
#define LEVELDB_BLOOM_HARNESS_STATISTICS_H_

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace harness {

// A folder that is gone when the test is over.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "leveldb_bloom.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;

  std::string Path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// One line of statistics.
class Line {
 public:
  explicit Line(const std::string& json) : json_(json) {}

  uint64_t Number(const std::string& name) const { return std::stoull(After(name)); }
  std::string Text(const std::string& name) const {
    const std::string after = After(name);
    return after.substr(1, after.find('"', 1) - 1);
  }

 private:
  std::string After(const std::string& name) const {
    const size_t found = json_.find('"' + name + "\":");
    if (found == std::string::npos) throw std::runtime_error("no " + name + " in " + json_);
    return json_.substr(found + name.size() + 3);
  }

  std::string json_;
};

// While this lives, new policies count, and write what they did into a file of ours.
class Statistics {
 public:
  Statistics() { setenv("LEVELDB_BLOOM_STATS", path_.c_str(), 1); }
  ~Statistics() { unsetenv("LEVELDB_BLOOM_STATS"); }

  // The last line of each policy that was destroyed since this was last called.
  std::vector<Line> Take() {
    std::vector<Line> lines;
    std::ifstream file(path_);
    for (std::string text; std::getline(file, text);) {
      if (Line(text).Text("event") == "destroyed") lines.emplace_back(text);
    }
    std::filesystem::remove(path_);
    return lines;
  }

 private:
  TemporaryFolder folder_;
  const std::string path_ = folder_.Path("statistics");
};

}  // namespace harness

#endif  // LEVELDB_BLOOM_HARNESS_STATISTICS_H_
