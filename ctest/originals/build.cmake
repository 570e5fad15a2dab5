# cmake -DPROJECT_DIR=... -DWORK_DIR=... -DCARGO=... -DLEVELDB_SOURCE_DIR=... -DOPTIONS=...
# -P build.cmake: builds project/ for LEVELDB_SOURCE_DIR; if that is empty, for the LevelDB that
# the crate leveldb-sys carries, where cargo has unpacked it.
cmake_minimum_required(VERSION 3.16)

include("${CMAKE_CURRENT_LIST_DIR}/../leveldb-sys/source.cmake")
message(STATUS "LevelDB: ${LEVELDB_SOURCE_DIR}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "${ARGN}: ${result}")
  endif()
endfunction()

cmake_host_system_information(RESULT jobs QUERY NUMBER_OF_LOGICAL_CORES)
run("${CMAKE_COMMAND}" -S "${PROJECT_DIR}" -B "${WORK_DIR}" ${OPTIONS}
  "-DLEVELDB_SOURCE_DIR=${LEVELDB_SOURCE_DIR}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}" --parallel ${jobs})

# LevelDB's library has our file and not the one it stands for.
file(GLOB_RECURSE archive "${WORK_DIR}/leveldb/libleveldb.a")
execute_process(COMMAND "${AR}" t "${archive}" OUTPUT_VARIABLE members RESULT_VARIABLE result)
if(result OR NOT members MATCHES "(^|\n)leveldb_bloom_policy\\.cc\\.o\n"
    OR members MATCHES "(^|\n)bloom\\.cc\\.o\n")
  message(FATAL_ERROR "not the objects that libleveldb.a should have:\n${members}")
endif()
