// A policy whose CreateFilter is called by code that is in no module, as that of a compiler at run time is
// (and as it looks to the function where a tool has put an address of its own in place of the caller's),
// beside LevelDBs that only their loader sees: made_at_run_time LEVELDB... For the filter there is no memory
// at first: the string is looked for when there is some.

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "../harness/failing_malloc.h"

using CreateFilter = void (*)(const leveldb::FilterPolicy*, const leveldb::Slice*, int, std::string*);

// Calls `function` with its own arguments.
static CreateFilter MakeCaller(CreateFilter function) {
  const unsigned char begin[] = {0x48, 0x83, 0xec, 0x08,  // sub rsp, 8
                                 0x48, 0xb8};             // mov rax, function
  const unsigned char end[] = {0xff, 0xd0,                // call rax
                               0x48, 0x83, 0xc4, 0x08,    // add rsp, 8
                               0xc3};                     // ret
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  unsigned char* const code = static_cast<unsigned char*>(memory);
  std::memcpy(code, begin, sizeof begin);
  std::memcpy(code + sizeof begin, &function, sizeof function);
  std::memcpy(code + sizeof begin + sizeof function, end, sizeof end);
  if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) != 0) return nullptr;
  return reinterpret_cast<CreateFilter>(memory);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  for (int i = 1; i < argc; i++) {
    if (dlopen(argv[i], RTLD_NOW | RTLD_LOCAL) == nullptr) return 2;
  }
  using Create = const leveldb::FilterPolicy* (*)(int);
  const auto create = reinterpret_cast<Create>(dlsym(RTLD_DEFAULT, "leveldb_filterpolicy_create_bloom"));
  if (create == nullptr) return 3;
  const leveldb::FilterPolicy* const policy = create(10);
  void* const* functions;
  std::memcpy(&functions, policy, sizeof functions);
  // Behind two destructors and Name.
  const CreateFilter call = MakeCaller(reinterpret_cast<CreateFilter>(functions[3]));
  if (call == nullptr) return 4;
  const leveldb::Slice keys[] = {"hello", "world"};
  std::string filter;
  filter.reserve(100);
  const harness::FailingMalloc seen =
      harness::WithFailingMalloc(0, 50, [&] { call(policy, keys, 2, &filter); });
  if (seen.failed != 50) return 5;
  const bool found = policy->KeyMayMatch(keys[0], filter) && policy->KeyMayMatch(keys[1], filter);
  std::printf("%zu bytes, the keys are %s\n", filter.size(), found ? "found" : "lost");
  delete policy;
  return 0;
}
