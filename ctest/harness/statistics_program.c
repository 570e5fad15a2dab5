/* Makes policies whose statistics can be foretold: statistics_program HOW COUNT [FILE FLAGS]
 *
 * Policy i, from 1 to COUNT, has i bits per key. Through the callbacks it makes the filter of i keys twice,
 * and is asked for their key in a filter without bits and, unless 4 divides i, in the second of these. HOW
 * tells what becomes of the policies: they are destroyed; or left; or (late) some are made when main has
 * returned, where a C++ program's global objects end, all do their work there, and some are destroyed; or
 * they are left, and a handler that runs then ends the program at once (cut); or they are left by the program
 * and two children of its own (fork), each of which asks the first policy once more; or left where the
 * program ends by quick_exit; or destroyed while fork waits for another thread of the program (lock; first,
 * where it waits after all other handlers of fork); or left by a program that is killed for any system call but
 * those of malloc, printf and its end (sandbox). With FILE, that is opened with FLAGS (those of open, a
 * number) and has the number of stderr, which is closed. */

#include <fcntl.h>
#include <leveldb_bloom.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 100 };

static struct leveldb_bloom_policy* policies[kMost];

static void DestroyAll(void) {
  size_t i;
  for (i = 0; i < kMost; i++) leveldb_bloom_policy_destroy(policies[i]);
}

static void MakePolicy(int number) {
  policies[number - 1] = leveldb_bloom_policy_create(number);
}

/* Twice as many filters as queries, or as many: a line is left out only where both are none. */
static int UsePolicy(int number) {
  static const char kNothing[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1};
  const struct leveldb_bloom_vtable* table = leveldb_bloom_vtable();
  struct leveldb_bloom_policy* policy = policies[number - 1];
  const char* keys[kMost];
  size_t lengths[kMost], length;
  char* filter;
  int i, right;
  for (i = 0; i < number; i++) {
    keys[i] = "key";
    lengths[i] = 3;
  }
  free(table->create_filter(policy, keys, lengths, number, &length));
  filter = table->create_filter(policy, keys, lengths, number, &length);
  right = table->key_may_match(policy, "key", 3, kNothing, sizeof(kNothing)) == 0 &&
          (number % 4 == 0 || table->key_may_match(policy, "key", 3, filter, length) == 1);
  free(filter);
  return right;
}

static void End(void) {
  fflush(stdout);
  _exit(0);
}

static int late_count;

static void WorkLate(void) {
  int i;
  for (i = 1; i <= late_count; i++) {
    if (policies[i - 1] == NULL) MakePolicy(i);
    if (!UsePolicy(i)) _exit(4);
    if (i % 3 == 0) {
      leveldb_bloom_policy_destroy(policies[i - 1]);
    }
  }
}

static int Fork(void) {
  static const char kAll[9] = {-1, -1, -1, -1, -1, -1, -1, -1, 1};
  int i, status;
  for (i = 0; i < 2; i++) {
    const pid_t child = fork();
    if (child == 0) {
      exit(leveldb_bloom_vtable()->key_may_match(policies[0], "key", 3, kAll, sizeof(kAll)) - 1);
    }
    if (waitpid(child, &status, 0) != child || status != 0) return 0;
  }
  return 1;
}

static void* DestroyInThread(void* unused) {
  DestroyAll();
  return unused;
}

/* As a program does that waits before fork for whoever has its lock: that one may want ours by then. */
static void DestroyElsewhere(void) {
  pthread_t thread;
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 20;
  if (pthread_create(&thread, NULL, DestroyInThread, NULL) != 0 ||
      pthread_timedjoin_np(thread, NULL, &end) != 0) {
    _exit(7);
  }
}

/* Before any constructor, our library's too: of all handlers that run before fork, the first that is registered
 * is the last. */
static void Begin(int argc, char** argv, char** environment) {
  (void)environment;
  if (argc > 1 && strcmp(argv[1], "first") == 0 && pthread_atfork(DestroyElsewhere, NULL, NULL) != 0) {
    _exit(3);
  }
}

__attribute__((section(".preinit_array"), used)) static void (*begin)(int, char**, char**) = Begin;

static int ForkLocked(void) {
  int status;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return waitpid(child, &status, 0) == child && status == 0;
}

/* Whether the system has sandboxes. */
static int EnterSandbox(void) {
  static const unsigned kAllowed[] = {
      __NR_brk,   __NR_mmap,       __NR_mremap, __NR_munmap, __NR_mprotect,   __NR_madvise, __NR_futex,
      __NR_fstat, __NR_newfstatat, __NR_write,  __NR_writev, __NR_getrandom, __NR_exit_group};
  enum { kNumber = sizeof(kAllowed) / sizeof(kAllowed[0]) };
  struct sock_filter filter[kNumber + 3];
  const struct sock_fprog program = {kNumber + 3, filter};
  int i;
  filter[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (i = 0; i < kNumber; i++) {
    filter[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kAllowed[i], kNumber - i, 0);
  }
  filter[kNumber + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL);
  filter[kNumber + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Before any constructor that has no number: policy 2, if the environment asks for it. */
__attribute__((constructor(101))) static void WorkEarly(void) {
  if (getenv("STATISTICS_EARLY") == NULL) return;
  MakePolicy(2);
  if (!UsePolicy(2)) _exit(4);
  leveldb_bloom_policy_destroy(policies[1]);
  policies[1] = NULL;
}

int main(int argc, char** argv) {
  const int count = argc == 3 || argc == 5 ? atoi(argv[2]) : 0;
  int i;
  if (count < 1 || count > kMost) return 2;
  if (argc == 5) {
    close(STDERR_FILENO);
    if (open(argv[3], atoi(argv[4]), 0600) != STDERR_FILENO) return 6;
  }
  if (strcmp(argv[1], "late") == 0) {
    /* What is registered first runs last. */
    if (atexit(WorkLate) != 0) return 3;
    late_count = count;
  } else if (strcmp(argv[1], "cut") == 0) {
    if (atexit(End) != 0) return 3;
  } else if (strcmp(argv[1], "lock") == 0) {
    if (pthread_atfork(DestroyElsewhere, NULL, NULL) != 0) return 3;
  } else if (strcmp(argv[1], "sandbox") == 0) {
    if (!EnterSandbox()) return 8;
  } else if (strcmp(argv[1], "destroy") != 0 && strcmp(argv[1], "leave") != 0 &&
             strcmp(argv[1], "fork") != 0 && strcmp(argv[1], "quick") != 0 &&
             strcmp(argv[1], "first") != 0) {
    return 2;
  }
  for (i = 1; i <= count; i++) {
    if (late_count == 0 || i % 2 == 0) MakePolicy(i);
    if (late_count == 0 && !UsePolicy(i)) return 4;
  }
  if (strcmp(argv[1], "destroy") == 0) DestroyAll();
  if (strcmp(argv[1], "fork") == 0 && !Fork()) return 5;
  if ((strcmp(argv[1], "lock") == 0 || strcmp(argv[1], "first") == 0) && !ForkLocked()) return 5;
  printf("%s\n", getauxval(AT_SECURE) ? "secure" : "not secure");
  if (strcmp(argv[1], "quick") == 0) {
    fflush(stdout);
    quick_exit(0);
  }
  return 0;
}
