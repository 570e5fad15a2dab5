# frozen_string_literal: true

# A filter in front of something slow: only what may be there is looked up.

require_relative 'leveldb_bloom'

random = Random.new(1)
stored = Array.new(10_000) { random.bytes(8) }.to_h { |key| [key, true] }

puts "leveldb-bloom #{LevelDBBloom.version}, #{LevelDBBloom.active}"
bits = LevelDBBloom.bits_per_key_for(0.01, stored.size)
filter = LevelDBBloom::Policy.open(bits) { |policy| policy.create_filter(stored.keys) }
puts "#{stored.size} keys at #{bits} bits per key: a filter of #{filter.data.bytesize} bytes, " \
     "#{filter.info[:probes]} probes"

asked = stored.keys.first(100) + Array.new(9_900) { random.bytes(8) }
maybe = asked.grep(filter)
puts "asked for #{asked.size} keys, looked up #{maybe.size}, found #{maybe.count(&stored)}"

builder = LevelDBBloom::Builder.new(bits)
builder << 'hello' << 'world'
small = builder.finish
builder.close
puts "hello, world: #{small.data.unpack1('H*')}, bits of hello: #{small.positions('hello').join(' ')}"
