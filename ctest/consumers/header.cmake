# cmake -DINCLUDE_DIR=... -DWORK_DIR=... -P header.cmake: leveldb_bloom.h under every standard it
# promises, alone and with <leveldb/c.h> before or after it, by gcc and clang; and
# leveldb_bloom.cdef.h, which must parse with no preprocessor at all.
cmake_minimum_required(VERSION 3.16)

set(bodies
  "#include <leveldb_bloom.h>"
  "#include <leveldb_bloom.h>\n#include <leveldb/c.h>"
  "#include <leveldb/c.h>\n#include <leveldb_bloom.h>")
# Takes the addresses of LevelDB's names, so that a declaration that differs is an error.
set(use "
leveldb_filterpolicy_t *(*create)(int) = leveldb_filterpolicy_create_bloom;
void (*destroy)(leveldb_filterpolicy_t *) = leveldb_filterpolicy_destroy;
")

function(check compiler standard extension)
  if(NOT ${compiler}_PATH)
    message(FATAL_ERROR "${compiler} is not installed")
  endif()
  set(number 0)
  foreach(body IN LISTS bodies)
    math(EXPR number "${number} + 1")
    set(file "${WORK_DIR}/header-${number}.${extension}")
    if(number GREATER 1)
      string(APPEND body "\n${use}")
    endif()
    file(WRITE "${file}" "${body}\n")
    execute_process(
      COMMAND "${${compiler}_PATH}" -std=${standard} -pedantic -Wall -Wextra -Werror
        -Wshadow -Wundef -Wredundant-decls -fsyntax-only "-I${INCLUDE_DIR}" "${file}"
      RESULT_VARIABLE result)
    if(result)
      message(SEND_ERROR "${compiler} -std=${standard} does not take:\n${body}")
    endif()
  endforeach()
endfunction()

foreach(compiler gcc clang g++ clang++)
  find_program(${compiler}_PATH ${compiler})
endforeach()
foreach(compiler gcc clang)
  foreach(standard c99 c11 c17 c2x)
    check(${compiler} ${standard} c)
  endforeach()
endforeach()
foreach(compiler g++ clang++)
  foreach(standard c++11 c++14 c++17 c++20 c++2b)
    check(${compiler} ${standard} cc)
  endforeach()
endforeach()

# What its readers know without being told: the types of <stddef.h> and <stdint.h>.
file(READ "${INCLUDE_DIR}/leveldb_bloom.cdef.h" cdef)
if(cdef MATCHES "#" OR NOT cdef MATCHES "leveldb_bloom_create_filter")
  message(SEND_ERROR "leveldb_bloom.cdef.h has a preprocessor's lines, or no functions")
endif()
file(WRITE "${WORK_DIR}/cdef.c" "#include <stddef.h>\n#include <stdint.h>\n${cdef}\n"
  "int ok = LEVELDB_BLOOM_OK;\nvoid (*release)(void *) = leveldb_bloom_free;\n")
foreach(compiler gcc clang)
  execute_process(
    COMMAND "${${compiler}_PATH}" -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only
      "${WORK_DIR}/cdef.c"
    RESULT_VARIABLE result)
  if(result)
    message(SEND_ERROR "${compiler} does not take leveldb_bloom.cdef.h")
  endif()
endforeach()

# The examples in the header's comments, as they stand there: lines that are indented by four more
# than the text around them. The one with a function of its own goes on behind an empty line.
file(READ "${INCLUDE_DIR}/leveldb_bloom.h" header)
string(REPLACE ";" "<semicolon>" header "${header}")
string(REGEX MATCHALL "\n\n     [^ ][^\n]*(\n     [^\n]*|\n\n     [^\n]*)+" examples "${header}")
set(functions "")
set(bodies "")
foreach(example IN LISTS examples)
  if(example MATCHES "^\n\n     static ")
    string(STRIP "${example}" example)
    string(FIND "${example}" "\n\n" end)
    string(SUBSTRING "${example}" 0 ${end} function)
    string(SUBSTRING "${example}" ${end} -1 example)
    string(APPEND functions "${function}\n")
  endif()
  string(APPEND bodies "${example}\n")
endforeach()
file(WRITE "${WORK_DIR}/examples.txt" "#include <leveldb/c.h>
#include <leveldb_bloom.h>
${functions}
int main(void) {
  struct leveldb_bloom_policy *state;
  const char *const stored = \"Key\";
  const size_t length = 3;
  size_t filter_length;
  char *filter;
  int found;
${bodies}
  filter = bloom->create_filter(state, &stored, &length, 1, &filter_length);
  found = bloom->key_may_match(state, \"kEY\", 3, filter, filter_length) == 1 &&
          bloom->key_may_match(state, \"other\", 5, filter, filter_length) == 0;
  leveldb_bloom_free(filter);
  leveldb_bloom_policy_destroy(state);
  leveldb_filterpolicy_destroy(policy);
  return found ? 0 : 1;
}
")
file(READ "${WORK_DIR}/examples.txt" program)
string(REPLACE "<semicolon>" ";" program "${program}")
file(WRITE "${WORK_DIR}/examples.c" "${program}")
execute_process(
  COMMAND "${gcc_PATH}" -std=c99 -Wall -Wextra -Werror -Wno-unused-parameter
    "-I${INCLUDE_DIR}" -o "${WORK_DIR}/examples" "${WORK_DIR}/examples.c" "-L${LIBRARY_DIR}"
    "-Wl,-rpath,${LIBRARY_DIR}" -lleveldb_bloom -lleveldb
  RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "the header's examples do not compile")
endif()
execute_process(COMMAND "${WORK_DIR}/examples" RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "the header's examples do not find their key: ${result}")
endif()
