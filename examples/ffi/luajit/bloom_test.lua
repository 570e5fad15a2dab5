-- The wrapper of leveldb_bloom.lua: golden values, a million keys, errors, finalisers.
-- LuaJIT has no threads.

local ffi = require("ffi")
local bloom = require("leveldb_bloom")

local KEY_LENGTH, KEYS = 16, 1000000
local HALF, BATCH = KEYS / 2, 100000

local function equal(expected, actual, what)
  if expected ~= actual then
    error(("%s: %s, not %s"):format(what, tostring(actual), tostring(expected)), 2)
  end
end

local function unhex(text)
  return text == "-" and "" or (text:gsub("..", function(pair)
    return string.char(tonumber(pair, 16))
  end))
end

local function offsets_of(...)
  local values = { ... }
  return ffi.new("int64_t[?]", #values, values)
end

local check = {}
function check.filter(line, bits, expected, ...)
  local keys = { ... }
  for i, key in ipairs(keys) do keys[i] = unhex(key) end
  local policy, builder = bloom.policy(tonumber(bits)), bloom.builder(tonumber(bits))
  equal(unhex(expected), policy:create_filter(keys).data, line)
  for _, key in ipairs(keys) do builder:add(key) end
  equal(#keys, builder:num_keys(), line)
  equal(unhex(expected), builder:finish().data, line)
  equal(0, builder:num_keys(), line)
  policy:close()
  builder:close()
end
function check.hash(line, key, expected) equal(tonumber(expected, 16), bloom.hash(unhex(key)), line) end
function check.answer(line, key, data, expected)
  key = unhex(key)
  local filter = bloom.filter(unhex(data))
  equal(expected == "1", filter:may_match(key), line)
  local results, matches = filter:may_match_offsets(key, offsets_of(0, #key))
  equal(tonumber(expected), results[0], line)
  equal(tonumber(expected), matches, line)
end

local golden = 0
for line in io.lines(os.getenv("LEVELDB_BLOOM_GOLDEN")) do
  local fields = {}
  for field in line:gmatch("%S+") do fields[#fields + 1] = field end
  check[fields[1]](line, unpack(fields, 2))
  golden = golden + 1
end

-- Two libraries of one program may each have a copy of the file; and where the first cannot find the
-- library, the second says so too.
local copy = dofile("leveldb_bloom.lua")
assert(copy ~= bloom)
local hello = copy.policy(10):create_filter({ "hello" })
equal(true, bloom.filter(hello.data):may_match("hello"), "another copy's filter")
equal(6, hello:info().probes, "another copy's inspection")

-- Ribbon filters.
local ribbon, ribbon_builder = bloom.policy(10, "ribbon"), bloom.builder(10, "ribbon")
local solved = ribbon:create_filter({ "hello", "world" })
ribbon_builder:add("hello")
ribbon_builder:add("world")
equal(solved.data, ribbon_builder:finish().data, "ribbon builder")
equal(true, solved:may_match("hello") and solved:may_match("world"), "present keys")
equal(false, solved:may_match("absent"), "an absent key")
equal(ffi.C.LEVELDB_BLOOM_ENCODING_RIBBON, solved:info().encoding, "encoding")
equal(2 ^ -10, solved:info().false_positive_rate, "rate of a ribbon")
equal(false, pcall(solved.union, solved, solved), "union of ribbons")
equal(false, pcall(bloom.policy, 10, "xor"), "no encoding")
ribbon:close()
ribbon_builder:close()

equal("1.0.0", bloom.version(), "version")
equal(11, bloom.bits_per_key_for(0.01, KEYS), "bits per key")
assert(bloom.false_positive_rate(11, KEYS) > 0.005 and bloom.false_positive_rate(11, KEYS) < 0.01)

local policy, builder = bloom.policy(), bloom.builder()
local small = policy:create_filter({ "hello", "world" })
local info = small:info()
equal(64, tonumber(info.bits), "bits")
equal(10, tonumber(info.bits_set), "bits set")
equal(6, info.probes, "probes")
equal(10 / 64, info.fill, "fill")
assert(info.estimated_keys > 1.81 and info.estimated_keys < 1.82, info.estimated_keys)
assert(info.false_positive_rate > 0.004 and info.false_positive_rate < 0.005, info.false_positive_rate)
local positions = small:positions("hello")
equal(6, #positions, "positions")
for _, position in ipairs(positions) do
  local byte = small.data:byte(math.floor(position / 8) + 1)
  equal(1, math.floor(byte / 2 ^ (position % 8)) % 2, "bit " .. position)
end

local function status_of(call, ...)
  local fine, problem = pcall(call, ...)
  assert(not fine, "no error")
  equal(bloom.status_message(problem.status), tostring(problem), "message")
  return problem.status
end
local many = {}
for i = 1, 100 do many[i] = "a" end
equal(4, status_of(small.union, small, policy:create_filter(many)), "mismatch")
equal(2, status_of(builder.finish, builder, 2 ^ 63), "too large")
-- 10 bits of each are some bytes more than 2^32, and than 2^31.
for _, keys in ipairs({ math.ceil(2 ^ 35 / 10), math.ceil(2 ^ 34 / 10) }) do
  local fine, problem = pcall(builder.finish, builder, keys)
  assert(not fine and problem:find("LuaJIT has no arrays of", 1, true), problem)
end
for _, wrong in ipairs({ offsets_of(0, 7, 5), offsets_of(-1, 7, 9), offsets_of(0, 5, 11) }) do
  equal(1, status_of(policy.create_filter_offsets, policy, "0123456789", wrong), "offsets")
  equal(1, status_of(small.may_match_offsets, small, "0123456789", wrong), "offsets")
end
for _, length in ipairs({ 3, 0, 2.5, 0 / 0 }) do
  assert(not pcall(policy.create_filter_fixed, policy, "0123456789", length), length)
  assert(not pcall(small.may_match_fixed, small, "0123456789", length), length)
  assert(not pcall(builder.add_fixed, builder, "0123456789", length), length)
end
assert(not pcall(policy.create_filter_offsets, policy, "12345", ffi.new("int32_t[2]", { 0, 5 })))
for _, bits in ipairs({ 0, 1, 10 }) do
  for _, none in ipairs({ ffi.new("int64_t[0]"), ffi.new("int64_t[?]", 0) }) do
    local one = bloom.policy(bits)
    for _, use in ipairs({ function() one:create_filter_offsets("12345", none) end,
      function() small:may_match_offsets("12345", none) end }) do
      local fine, problem = pcall(use)
      assert(not fine and tostring(problem):find("there is at least one offset", 1, true), tostring(problem))
    end
  end
end

local function refused(call, ...)
  for _, number in ipairs({ ... }) do
    local fine, problem = pcall(call, number)
    assert(not fine and tostring(problem):find("is no integer that fits", 1, true), tostring(number))
  end
end
local function rate_of_bits(bits) return bloom.false_positive_rate(bits, 1) end
for _, call in ipairs({ bloom.policy, bloom.builder, rate_of_bits }) do
  refused(call, 2.9, 0 / 0, math.huge, -2 ^ 31 - 1, 2 ^ 31, 2 ^ 32 + 10, 2 ^ 32 + 10LL, true)
  for _, bits in ipairs({ -2 ^ 31, 2 ^ 31 - 1, 10LL }) do call(bits) end
end
local function finish(keys) return builder:finish(keys) end
local function rate_of_keys(keys) return bloom.false_positive_rate(10, keys) end
local function bits_for(keys) return bloom.bits_per_key_for(0.01, keys) end
for _, call in ipairs({ finish, rate_of_keys, bits_for }) do
  refused(call, 100.7, 0 / 0, -1, -1LL, 2 ^ 64 + 4096, true)
  for _, keys in ipairs({ 100, 100LL }) do call(keys) end
end

for _, wrong in ipairs({ 5, {}, false, ffi.new("char[5]") }) do
  for _, use in ipairs({ function() policy:create_filter({ wrong }) end, function() builder:add(wrong) end,
    function() builder:add_fixed(wrong, 1) end, function() small:may_match(wrong) end,
    function() small:may_match_fixed(wrong, 1) end, function() small:positions(wrong) end,
    function() small:may_match_offsets(wrong, ffi.new("int64_t[1]")) end, function() bloom.hash(wrong) end,
    function() policy:create_filter_offsets(wrong, ffi.new("int64_t[1]")) end,
    function() bloom.filter(wrong) end }) do
    local fine, problem = pcall(use)
    assert(not fine and tostring(problem):find("encode it", 1, true), tostring(problem))
  end
end

for _ = 1, 2 do
  policy:close()
  builder:close()
end
for _, use in ipairs({ function() policy:create_filter({ "a" }) end,
  function() policy:create_filter_fixed("a", 1) end, function() policy:kernel() end,
  function() builder:add("a") end, function() builder:add_fixed("a", 1) end,
  function() builder:num_keys() end, function() builder:finish() end }) do
  local fine, problem = pcall(use)
  assert(not fine and tostring(problem):find("it is closed", 1, true), tostring(problem))
end

-- What is closed at once, and what is left to the collector: of 40 MB each, which
-- malloc does not keep.
local function resident_kilobytes()
  local file = io.open("/proc/self/status")
  local kilobytes = file:read("*a"):match("VmRSS:%s*(%d+) kB")
  file:close()
  return tonumber(kilobytes)
end
local many_keys, kept = ("k"):rep(10 * KEYS), {}
local before = resident_kilobytes()
for i = 1, 10 do
  kept[i] = bloom.builder()
  kept[i]:add_fixed(many_keys, 1)
  kept[i]:close()
end
assert(resident_kilobytes() < before + KEYS / 10, resident_kilobytes() - before)
for _ = 1, 10 do bloom.builder():add_fixed(many_keys, 1) end
collectgarbage()
collectgarbage()
assert(resident_kilobytes() < before + KEYS / 10, resident_kilobytes() - before)

local function distinct(...)
  local different = {}
  for _, made in ipairs({ ... }) do
    local known = false
    for _, other in ipairs(different) do known = known or made == other end
    if not known then table.insert(different, made) end
  end
  return #different
end

local keys = {}
for i = 0, KEYS - 1 do keys[i + 1] = ("key-%012d"):format(i) end
local data = table.concat(keys)
local half = data:sub(1, HALF * KEY_LENGTH)
policy = bloom.policy()
local filter = policy:create_filter_fixed(half, KEY_LENGTH)
local answers, matches = filter:may_match_fixed(data, KEY_LENGTH)
local ones = 0
for i = 1, KEYS do
  local answer = filter:may_match(keys[i]) and 1 or 0
  if answers[i - 1] ~= answer then error(keys[i]) end
  ones = ones + answer
end
equal(ones, matches, "matches")
local offsets = ffi.new("int64_t[?]", KEYS + 1)
for i = 0, KEYS do offsets[i] = i * KEY_LENGTH end
local others = filter:may_match_offsets(data, offsets)
equal(ffi.string(answers, KEYS), ffi.string(others, KEYS), "offsets")

local whole
for part = 0, 3 do
  local quarter = HALF / 4 * KEY_LENGTH
  local builder = bloom.builder()
  builder:add_fixed(half:sub(part * quarter + 1, (part + 1) * quarter), KEY_LENGTH)
  local filter = builder:finish(HALF)
  builder:close()
  whole = whole and whole:union(filter) or filter
end
equal(filter.data, whole.data, "parts united")

ffi.cdef([[
struct leveldb_bloom_test_time { long seconds, nanoseconds; };
int clock_gettime(int clock, struct leveldb_bloom_test_time *time);
]])
local function best_of(rounds, work)
  local time, best = ffi.new("struct leveldb_bloom_test_time"), math.huge
  local function now()
    ffi.C.clock_gettime(1, time)
    return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
  end
  for _ = 1, rounds do
    local start = now()
    work()
    best = math.min(best, now() - start)
  end
  return best
end
local one = best_of(200, function()
  local found = 0
  for i = HALF - 499, HALF + 500 do
    if filter:may_match(keys[i]) then found = found + 1 end
  end
  return found
end)
local batch = data:sub((HALF - BATCH / 2) * KEY_LENGTH + 1, (HALF + BATCH / 2) * KEY_LENGTH)
local query = best_of(200, function() filter:may_match_fixed(batch, KEY_LENGTH) end)
local build = best_of(200, function() policy:create_filter_fixed(batch, KEY_LENGTH) end)
print(('{"language":"Lua","through":"ffi","runtime":"%s","library":"%s","active":"%s","kernel":"%s",'
  .. '"golden":%d,"matches":%d,"distinct":%d,"filter_hash":"%s","call_ns":%.1f,"query_keys_per_s":%.0f,'
  .. '"build_keys_per_s":%.0f}'):format(jit.version, bloom.version(), bloom.active(),
  policy:kernel(), golden, matches, distinct(filter, policy:create_filter({ "a" }), bloom.filter(filter.data .. "")), bit.tohex(bloom.hash(filter.data)), one / 1000 * 1e9,
  BATCH / query, BATCH / build))
