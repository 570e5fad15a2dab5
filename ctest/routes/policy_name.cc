// Prints the name of the bloom policy that a program gets, and what is active; where LevelDB has type
// information (RTTI), whether the policy is of LevelDB's class and of no other.

#include <leveldb/filter_policy.h>

#include <cstdio>
#include <typeinfo>

#include "program.h"

int main() {
  const leveldb::FilterPolicy *policy = leveldb::NewBloomFilterPolicy(10);
  std::printf("name: %s\n", policy->Name());
  print_active();
#ifdef RTTI
  struct Other : leveldb::FilterPolicy {};
  const bool of_another = dynamic_cast<const Other *>(policy) != nullptr;
  std::printf("type: %s, %s\n", typeid(*policy).name(), of_another ? "Other" : "not Other");
#endif
  delete policy;
  return 0;
}
