/* Two libraries with our archive and a LevelDB in each, side by side: copies DIRECTORY. */

#include "program.h"

void embedded_one(const char *directory);
void embedded_two(const char *directory);

int main(int argc, char **argv) {
  if (argc != 2) die("usage: %s DIRECTORY", argv[0]);
  embedded_one(argv[1]);
  embedded_two(argv[1]);
  return 0;
}
