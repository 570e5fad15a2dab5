# That prove.py fails when it should: each of these ends with the message it names.

function(must_fail name message)
  route_test(prove.${name} FAILS ${ARGN})
  set_tests_properties(routes.prove.${name} PROPERTIES
    PASS_REGULAR_EXPRESSION "FAILED: ${message}" FAIL_REGULAR_EXPRESSION "it succeeds")
endfunction()
set(program $<TARGET_FILE:routes_c>)

must_fail(the-original-answered "no policy counted .* with the route append-cxx11"
  ROUTES append-cxx11 COMMAND ${program})
must_fail(another-route "no policy counted .* with the route delegate"
  PRELOAD ROUTES delegate COMMAND ${program})
must_fail(one-route-too-many "a policy counted with the route append-cxx11"
  PRELOAD COMMAND ${program})
must_fail(too-few-policies "1 policies counted, expected: 2"
  PRELOAD ROUTES append-cxx11 POLICIES 2 COMMAND ${program})
must_fail(another-line "the program did not say: active: original"
  PRELOAD ROUTES append-cxx11 SAYS "active: original" COMMAND ${program})
set(line "'{\"route\":\"append-cxx11\",\"filters\":1,\"queries\":1,\"negatives\":1")
must_fail(too-few-keys "a policy did not count what is in its filters" ROUTES append-cxx11
  COMMAND sh -c "echo ${line},\"keys\":0,\"filter_bytes\":9}' >\"$LEVELDB_BLOOM_STATS\"")
must_fail(too-few-bytes "a policy did not count what is in its filters" ROUTES append-cxx11
  COMMAND sh -c "echo ${line},\"keys\":1,\"filter_bytes\":8}' >\"$LEVELDB_BLOOM_STATS\"")
must_fail(the-control-counted "the control has statistics too"
  PRELOAD ROUTES append-cxx11
  CONTROL "${CMAKE_COMMAND}" -E env "LD_PRELOAD=$<TARGET_FILE:leveldb_bloom::shared>" ${program}
  COMMAND ${program})
must_fail(other-bytes "database/.* differs from the control's"
  CONTROL $<TARGET_FILE:routes_cxx> COMMAND ${program})
must_fail(no-filters "database/.* has no filter called leveldb.BuiltinBloomFilter2"
  COMMAND $<TARGET_FILE:routes_custom_program>)
must_fail(no-database "the program left no database" COMMAND "${CMAKE_COMMAND}" -E echo)
must_fail(a-crash "the program died of SIGSEGV" COMMAND sh -c "kill -SEGV $$")
must_fail(no-program "the program does not link" LINK COMMAND "${CMAKE_COMMAND}" -E false)
must_fail(a-status "the program ended with status 1" COMMAND "${CMAKE_COMMAND}" -E false)
