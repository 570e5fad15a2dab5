// A library with a LevelDB of its own, which it shows nobody, and what workload.cc does with it.

#define main static Workload
#include "workload.cc"
#undef main

extern "C" int NAME(int argc, char** argv) { return Workload(argc, argv); }
