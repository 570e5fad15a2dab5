# cmake -DLIBRARY=... -DARCHIVE=... -DSONAME=... -DSYMBOLS=... -DC_COMPILER=... -P symbols.cmake: what
# the built shared library shows to the loader, and what must not be in it; what a shared library with
# the archive in it shows.
cmake_minimum_required(VERSION 3.16)

include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

# The exports, against the list in the source tree.
file(STRINGS "${SYMBOLS}" expected)
function(compare_exports library)
  run(exported nm --dynamic --defined-only --format=just-symbols "${library}")
  string(REPLACE "\n" ";" exported "${exported}")
  list(SORT exported)
  list(FILTER exported EXCLUDE REGEX "${ARGN}")
  if(exported STREQUAL expected)
    return()
  endif()
  foreach(symbol IN LISTS exported)
    if(NOT symbol IN_LIST expected)
      message(SEND_ERROR "exported by ${library}, but not in symbols.txt: ${symbol}")
    endif()
  endforeach()
  foreach(symbol IN LISTS expected)
    if(NOT symbol IN_LIST exported)
      message(SEND_ERROR "in symbols.txt, but not exported by ${library}: ${symbol}")
    endif()
  endforeach()
  message(SEND_ERROR "symbols.txt must be the sorted list of exports")
endfunction()
compare_exports("${LIBRARY}" "^$")

# Several libraries may have the archive in them, and what one shows, the others use for their own: what
# the linker found for it would be found for all. (Nobody asks for what is run at load and exit by its name.)
set(with_archive "${CMAKE_CURRENT_BINARY_DIR}/symbols-archive.so")
run(ignored "${C_COMPILER}" -shared -o "${with_archive}" -Wl,--whole-archive "${ARCHIVE}"
  -Wl,--no-whole-archive -lpthread -ldl)
compare_exports("${with_archive}" "^_[A-Z].*7AT_(EXIT|LOAD)")
file(REMOVE "${with_archive}")

# Nothing of ours is found by its name, by which a process with several copies of this library would find
# the first one's.
run(relocations readelf --relocs --wide "${LIBRARY}")
if(NOT relocations MATCHES "_ZN7leveldb9DestroyDB")
  message(SEND_ERROR "no relocations are to be seen")
endif()
foreach(symbol IN LISTS expected)
  if(relocations MATCHES " ${symbol}[ @\n]")
    message(SEND_ERROR "another copy's ${symbol} may be taken for our own")
  endif()
endforeach()

# What the loader is told.
run(dynamic readelf --dynamic --wide "${LIBRARY}")
if(NOT dynamic MATCHES "\\(SONAME\\) +Library soname: \\[${SONAME}\\]")
  message(SEND_ERROR "SONAME is not ${SONAME}:\n${dynamic}")
endif()
if(NOT dynamic MATCHES "\\(FLAGS_1\\)[^\n]* NODELETE")
  message(SEND_ERROR "not linked with -z nodelete:\n${dynamic}")
endif()
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*" needed "${dynamic}")
foreach(entry IN LISTS needed)
  # Not [libc.so.6] in one expression: CMake's brackets would not survive the list.
  if(NOT entry MATCHES "libc\\.so\\.6|ld-linux")
    message(SEND_ERROR "needs more than libc and the loader: ${entry}")
  endif()
endforeach()

# No panic can unwind out of the library, because nothing in it can panic or unwind. Local symbols
# are still there in a library that was not stripped, which the first check makes sure of.
run(all nm "${LIBRARY}")
if(NOT all MATCHES " [a-z] [^\n]*leveldb_bloom")
  message(SEND_ERROR "stripped: nothing can be said about panics")
endif()
string(REGEX MATCHALL "[^\n]*([Pp]anic|[Uu]nwind|eh_personality|__cxa_throw)[^\n]*" found "${all}")
if(found)
  list(JOIN found "\n" found)
  message(SEND_ERROR "can panic or unwind:\n${found}")
endif()

set(stripped "${CMAKE_CURRENT_BINARY_DIR}/symbols-stripped.so")
run(ignored strip -o "${stripped}" "${LIBRARY}")
file(SIZE "${stripped}" size)
file(REMOVE "${stripped}")
message(STATUS "${size} bytes stripped")
if(size GREATER_EQUAL 100000)
  message(SEND_ERROR "the stripped library has ${size} bytes; 100,000 are too many. (Rust before \
1.95 makes it larger, and so do other linkers than rustup's own.)")
endif()
