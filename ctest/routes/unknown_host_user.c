/* Uses a LevelDB whose string is not known. Linked with it: unknown_host_user DIRECTORY. */

#include <stdio.h>

#include "program.h"
#include "unknown_host.h"

int main(void) {
  void *policy = unknown_host_policy(9);
  const char *made_by;
  print_active();
  print_maker(policy);
  const int wrong = unknown_host_use(policy, &made_by);
  if (wrong != 0) die("wrong answer %d, the filter is %s", wrong, made_by);
  printf("filter: %s\n", made_by);
  if (!unknown_host_throws(policy)) die("no std::bad_alloc where the string cannot grow");
  unknown_host_delete(policy);
  if (unknown_host_living() != 0) die("policies of the host live on");
  return 0;
}
