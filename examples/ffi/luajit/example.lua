-- A cache in front of something slow, as in a proxy: a key is admitted when it comes again.

local bloom = require("leveldb_bloom")

print("leveldb-bloom " .. bloom.version() .. ", " .. bloom.active())

math.randomseed(1)
local seen_before = {}
for i = 1, 20000 do seen_before[i] = "/page/" .. math.random(10 ^ 9) end

local bits = bloom.bits_per_key_for(0.001, #seen_before)
local policy = bloom.policy(bits)
local yesterday = policy:create_filter(seen_before)
policy:close()
local info = yesterday:info()
print(("yesterday: %d pages in %d bytes, %d probes, %.1f %% of the bits set"):format(
  #seen_before, #yesterday.data, info.probes, 100 * info.fill))

local again, admitted = 0, 0
for i = 1, 100000 do
  local old = i % 5 == 0
  local page = old and seen_before[math.random(#seen_before)] or "/page/" .. -math.random(10 ^ 9)
  if old then again = again + 1 end
  if yesterday:may_match(page) then admitted = admitted + 1 end
end
print(("today: 100000 requests, %d of pages seen yesterday, %d admitted to the cache"):format(
  again, admitted))
print("bits of the first page: " .. table.concat(yesterday:positions(seen_before[1]), " "))
