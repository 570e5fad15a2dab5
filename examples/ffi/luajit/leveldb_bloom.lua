-- leveldb-bloom through LuaJIT's ffi, which reads the declarations from leveldb_bloom.cdef.h.
-- Shows: calls that the JIT compiles into the loop; finalisers; keys as strings, or many in one.

local ffi = require("ffi")

local function cdef()
  local paths = { "/usr/local/include/leveldb_bloom.cdef.h", "/usr/include/leveldb_bloom.cdef.h" }
  table.insert(paths, 1, os.getenv("LEVELDB_BLOOM_CDEF"))
  for _, path in ipairs(paths) do
    local file = io.open(path)
    if file then
      local text = file:read("*a")
      file:close()
      return text
    end
  end
  error("leveldb_bloom.cdef.h is not installed; LEVELDB_BLOOM_CDEF may say where it is")
end

-- Another copy of this file may have declared them, or this one where the library was not found: the list is
-- the process's, and takes nothing twice.
if not pcall(function() return ffi.C.LEVELDB_BLOOM_VERSION_NUMBER end) then ffi.cdef(cdef()) end
local library = ffi.load("libleveldb_bloom.so.1")

local bloom = {}

-- What the library calls a status, thrown by error(): its text is the library's.
local Error = {}
Error.__index = Error
function Error:__tostring() return self.message end

local function check(status)
  if status ~= library.LEVELDB_BLOOM_OK then
    local message = ffi.string(library.leveldb_bloom_status_message(status))
    error(setmetatable({ status = tonumber(status), message = message }, Error), 0)
  end
end

-- LuaJIT would hand on what remains of a number that the C type does not hold.
local function integer(value, ctype, lowest, limit, level)
  local number = tonumber(value) or 0 / 0
  if not (number % 1 == 0 and number >= lowest and number < limit) then
    error(("%s is no integer that fits %s"):format(tostring(value), ctype), level or 3)
  end
  return value
end

local function int(value) return integer(value, "an int", -2 ^ 31, 2 ^ 31) end
local function size_t(value, level) return integer(value, "a size_t", 0, 2 ^ 64, level) end

function bloom.version() return ffi.string(library.leveldb_bloom_version()) end
function bloom.active() return ffi.string(library.leveldb_bloom_active()) end
function bloom.status_message(status)
  return ffi.string(library.leveldb_bloom_status_message(status))
end
function bloom.false_positive_rate(bits_per_key, keys)
  return library.leveldb_bloom_false_positive_rate(int(bits_per_key), size_t(keys))
end

-- 0: no number of bits per key up to 44 reaches that rate.
function bloom.bits_per_key_for(rate, keys)
  return library.leveldb_bloom_bits_per_key_for(rate, size_t(keys))
end

-- Memory for a filter. A size of 0 says that no size_t can hold it. Of a larger number ffi.new takes the
-- low bits.
local function new_filter(size)
  if size == 0 then check(library.LEVELDB_BLOOM_TOO_LARGE) end
  if size >= 2 ^ 31 then error(("LuaJIT has no arrays of %d bytes"):format(tonumber(size)), 3) end
  return ffi.new("char[?]", size)
end

-- Text is bytes in Lua: a key is the bytes of a string.
local function bytes(key, level)
  if type(key) ~= "string" then
    error(("a key is the bytes of a string, not a %s: encode it"):format(type(key)), level or 3)
  end
  return key
end

local function count_fixed(data, key_length)
  bytes(data, 4)
  if size_t(key_length, 4) < 1 or #data % key_length ~= 0 then
    error(#data .. " bytes are no whole number of keys of " .. key_length, 3)
  end
  return #data / key_length
end

-- offsets: an array of 64-bit integers from ffi.new, one more than keys.
local function count_offsets(offsets)
  if type(offsets) ~= "cdata" or not tostring(ffi.typeof(offsets)):find("<int64_t [", 1, true) then
    error("offsets are an array of int64_t", 3)
  end
  if ffi.sizeof(offsets) == 0 then error("there is at least one offset", 3) end
  return ffi.sizeof(offsets) / 8 - 1
end

function bloom.hash(key) return library.leveldb_bloom_hash(bytes(key), #key) end

local function owned(class, created, destroy)
  if created == nil then error("there is no memory") end
  return setmetatable({ handle = ffi.gc(created, destroy), destroy = destroy }, class)
end

local function handle_of(self)
  return self.handle or error("it is closed", 3)
end

-- What the collector would do some day.
local function close(self)
  if self.handle then
    self.destroy(ffi.gc(self.handle, nil))
    self.handle = nil
  end
end

-- The bytes of a filter: one key, or many at once. Filters of equal bytes are equal.
local Filter = {}
Filter.__index = Filter
function Filter.__eq(one, other) return one.data == other.data end

function bloom.filter(data) return setmetatable({ data = bytes(data) }, Filter) end

function Filter:may_match(key)
  local data = self.data
  return library.leveldb_bloom_key_may_match(bytes(key), #key, data, #data) ~= 0
end

-- A byte of 0 or 1 for each key, from 0 on, in an array; and the number of ones.
function Filter:may_match_offsets(data, offsets)
  local keys = count_offsets(offsets)
  local results, matches = ffi.new("uint8_t[?]", keys), ffi.new("size_t[1]")
  check(library.leveldb_bloom_keys_may_match_offsets64(bytes(data), #data, offsets, keys, self.data,
    #self.data, results, nil, matches))
  return results, tonumber(matches[0])
end

function Filter:may_match_fixed(data, key_length)
  local keys = count_fixed(data, key_length)
  local results, matches = ffi.new("uint8_t[?]", keys), ffi.new("size_t[1]")
  check(library.leveldb_bloom_keys_may_match_fixed(data, key_length, keys, self.data, #self.data,
    results, nil, matches))
  return results, tonumber(matches[0])
end

-- The filter of both filters' keys.
function Filter:union(other)
  local size = #self.data
  local into = ffi.new("char[?]", size)
  ffi.copy(into, self.data, size)
  check(library.leveldb_bloom_union(into, size, other.data, #other.data))
  return bloom.filter(ffi.string(into, size))
end

-- What the bytes say: a struct leveldb_bloom_info.
function Filter:info()
  local info = ffi.new("struct leveldb_bloom_info")
  check(library.leveldb_bloom_inspect(self.data, #self.data, info))
  return info
end

-- The bits that a query for the key reads.
function Filter:positions(key)
  local found = ffi.new("uint64_t[30]")
  local positions = {}
  for i = 1, tonumber(library.leveldb_bloom_positions(bytes(key), #key, self.data, #self.data, found, 30)) do
    positions[i] = tonumber(found[i - 1])
  end
  return positions
end

-- The function of the library that makes a policy or a builder of this encoding.
local function creator(what, encoding)
  encoding = encoding or "bloom"
  if encoding ~= "bloom" and encoding ~= "ribbon" then
    error(("%s is no encoding; there are bloom and ribbon"):format(tostring(encoding)), 3)
  end
  return library["leveldb_bloom_" .. what .. "_create" .. (encoding == "ribbon" and "_ribbon" or "")]
end

-- Makes filters of so many bits per key, "bloom" (LevelDB's own) or "ribbon".
local Policy = { close = close }
Policy.__index = Policy

function bloom.policy(bits_per_key, encoding)
  return owned(Policy, creator("policy", encoding)(int(bits_per_key or 10)),
    library.leveldb_bloom_policy_destroy)
end

function Policy:kernel() return ffi.string(library.leveldb_bloom_kernel(handle_of(self))) end

function Policy:create_filter(keys)
  local offsets, length = ffi.new("int64_t[?]", #keys + 1), 0
  for i, key in ipairs(keys) do
    length = length + #bytes(key)
    offsets[i] = length
  end
  return self:create_filter_offsets(table.concat(keys), offsets)
end

-- Key i is the bytes of data from offset i up to offset i + 1.
function Policy:create_filter_offsets(data, offsets)
  local handle, keys = handle_of(self), count_offsets(offsets)
  local size = library.leveldb_bloom_filter_size(handle, keys)
  local filter = new_filter(size)
  check(library.leveldb_bloom_fill_filter_offsets64(handle, bytes(data), #data, offsets, keys, filter, size))
  return bloom.filter(ffi.string(filter, size))
end

-- Keys of one length, one behind the other.
function Policy:create_filter_fixed(data, key_length)
  local handle, keys = handle_of(self), count_fixed(data, key_length)
  local size = library.leveldb_bloom_filter_size(handle, keys)
  local filter = new_filter(size)
  check(library.leveldb_bloom_fill_filter_fixed(handle, data, key_length, keys, filter, size))
  return bloom.filter(ffi.string(filter, size))
end

-- Collects keys as they come.
local Builder = { close = close }
Builder.__index = Builder

function bloom.builder(bits_per_key, encoding)
  return owned(Builder, creator("builder", encoding)(int(bits_per_key or 10)),
    library.leveldb_bloom_builder_destroy)
end

function Builder:add(key) check(library.leveldb_bloom_builder_add(handle_of(self), bytes(key), #key)) end

function Builder:add_fixed(data, key_length)
  local keys = count_fixed(data, key_length)
  check(library.leveldb_bloom_builder_add_fixed(handle_of(self), data, key_length, keys))
end

function Builder:num_keys() return tonumber(library.leveldb_bloom_builder_num_keys(handle_of(self))) end

-- The filter of the keys added, as large as one for total_keys; the builder is empty again. Parts of
-- one filter, made with the same total, are united with Filter:union.
function Builder:finish(total_keys)
  local handle, total = handle_of(self), size_t(total_keys or 0)
  local size = library.leveldb_bloom_builder_filter_size(handle, total)
  local filter = new_filter(size)
  check(library.leveldb_bloom_builder_finish(handle, total, filter, size))
  return bloom.filter(ffi.string(filter, size))
end

return bloom
