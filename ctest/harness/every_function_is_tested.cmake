# cmake -DNM=... -DHEADER=... -DPROGRAM=... -P every_function_is_tested.cmake
#
# Every function that the header declares is one that the C test, linked with the shared library,
# takes from there.
execute_process(COMMAND ${NM} --dynamic --undefined-only ${PROGRAM} OUTPUT_VARIABLE used
  COMMAND_ERROR_IS_FATAL ANY)
file(READ ${HEADER} header)
# Comments speak of functions too.
string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" header "${header}")
string(REGEX MATCHALL "[ *]leveldb_[a-z_]+\\(" declared "${header}")
list(LENGTH declared count)
if(count LESS 13)
  message(FATAL_ERROR "only ${count} functions found in ${HEADER}")
endif()
foreach(function ${declared})
  string(REGEX REPLACE "[ *(]" "" function "${function}")
  if(NOT used MATCHES " ${function}\n")
    message(FATAL_ERROR "c_test.c does not call ${function}")
  endif()
endforeach()
message(STATUS "${count} functions")
