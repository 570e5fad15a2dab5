# cmake -DNM=... -DHEADER=... -DPROGRAMS=...,... -P every_function_is_tested.cmake
#
# Every function that the header declares is one that the C tests, linked with the shared library,
# take from there.
string(REPLACE "," ";" PROGRAMS "${PROGRAMS}")
execute_process(COMMAND ${NM} --dynamic --undefined-only ${PROGRAMS} OUTPUT_VARIABLE used
  COMMAND_ERROR_IS_FATAL ANY)
file(READ ${HEADER} header)
# Comments speak of functions too.
string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" header "${header}")
string(REGEX MATCHALL "[ *]leveldb_[a-z0-9_]+\\(" declared "${header}")
list(LENGTH declared count)
if(count LESS 40)
  message(FATAL_ERROR "only ${count} functions found in ${HEADER}")
endif()
foreach(function ${declared})
  string(REGEX REPLACE "[ *(]" "" function "${function}")
  if(NOT used MATCHES " ${function}\n")
    message(FATAL_ERROR "no C test calls ${function}")
  endif()
endforeach()
message(STATUS "${count} functions")
