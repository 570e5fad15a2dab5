# frozen_string_literal: true

# The wrapper of leveldb_bloom.rb: golden values, a million keys, errors, threads, finalisers.

require 'etc'
require 'json'
require_relative 'leveldb_bloom'

KEY_LENGTH = 16
KEYS = 1_000_000
HALF = KEYS / 2
BATCH = 100_000

def assert(condition, what)
  raise "not so: #{what}" unless condition
end

def assert_equal(expected, actual, what)
  assert(expected == actual, "#{what}: #{actual.inspect[0, 200]}, not #{expected.inspect[0, 200]}")
end

def raised(kind)
  yield
  raise "no #{kind}"
rescue kind => e
  e
end

def best_of(rounds)
  Array.new(rounds) do
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  end.min
end

# How much memory the process has.
def resident_bytes = File.read('/proc/self/statm').split[1].to_i * Etc.sysconf(Etc::SC_PAGESIZE)

def unhex(text) = text == '-' ? ''.b : [text].pack('H*')

def test_golden
  File.foreach(ENV.fetch('LEVELDB_BLOOM_GOLDEN')).count do |line|
    kind, *fields = line.split
    case kind
    when 'filter'
      bits, expected, *keys = fields
      keys.map! { |key| unhex(key) }
      LevelDBBloom::Policy.open(bits.to_i) do |policy|
        assert_equal(unhex(expected), policy.create_filter(keys).data, line)
      end
      LevelDBBloom::Builder.open(bits.to_i) do |builder|
        keys.each { |key| builder << key }
        assert_equal(keys.size, builder.size, line)
        assert_equal(unhex(expected), builder.finish.data, line)
        assert_equal(0, builder.size, line)
      end
    when 'hash'
      assert_equal(fields[1].hex, LevelDBBloom.key_hash(unhex(fields[0])), line)
    when 'answer'
      key = unhex(fields[0])
      filter = LevelDBBloom::Filter.new(unhex(fields[1]))
      assert_equal(fields[2] == '1', filter.include?(key), line)
      answers = filter.may_match_offsets(key, [0, key.bytesize].pack('q*'))
      assert_equal([fields[2].to_i].pack('C'), answers, line)
    else raise line
    end
    true
  end
end

def test_library
  assert_equal('1.0.0', LevelDBBloom.version, 'version')
  assert_equal(11, LevelDBBloom.bits_per_key_for(0.01, KEYS), 'bits per key')
  assert(LevelDBBloom.false_positive_rate(11, KEYS).between?(0.005, 0.01), 'rate')
  filter = LevelDBBloom::Policy.open { |policy| policy.create_filter(%w[hello world]) }
  bits = filter.data[0..-2].unpack1('b*')
  assert_equal([64, 10, 6, 10.0 / 64], filter.info.values_at(:bits, :bits_set, :probes, :fill), 'info')
  assert(filter.info[:estimated_keys].between?(1.81, 1.82), 'keys')
  assert(filter.info[:false_positive_rate].between?(0.004, 0.005), 'rate of a filter')
  LevelDBBloom::Policy.open(44) { |policy| assert_equal(30, policy.create_filter(%w[a]).positions('a').size, 'k') }
  positions = filter.positions('hello')
  assert(positions.size == 6 && positions.all? { |p| bits[p] == '1' }, 'positions')
end

def test_ribbon
  filter = LevelDBBloom::Policy.open(10, encoding: :ribbon) { |policy| policy.create_filter(%w[hello world]) }
  LevelDBBloom::Builder.open(10, encoding: :ribbon) do |builder|
    builder << 'hello' << 'world'
    assert_equal(filter.data, builder.finish.data, 'ribbon builder')
  end
  assert_equal([true, true, false], %w[hello world absent].map { |key| filter.include?(key) }, 'answers')
  assert_equal([:ribbon, 10, 2.0**-10], filter.info.values_at(:encoding, :probes, :false_positive_rate), 'info')
  raised(LevelDBBloom::Error) { filter | filter }
  raised(KeyError) { LevelDBBloom::Policy.new(10, encoding: :xor) }
end

# A String that another thread empties and fills again all the time: what is read is either, and never
# memory that was given back.
def test_changes_by_another_thread
  # Of 40 MB, which malloc does not keep.
  versions = ['', [1].pack('q') * 5_000_000]
  data = +''
  stop = false
  other = Thread.new do
    until stop
      data << versions.last
      Thread.pass
      data.clear
    end
  end
  LevelDBBloom::Policy.open do |policy|
    LevelDBBloom::Builder.open do |builder|
      filters = versions.map { |version| policy.create_filter_fixed(version, 16).data }
      hashes = versions.map { |version| LevelDBBloom.key_hash(version) }
      both = policy.create_filter(versions)
      positions = versions.map { |version| both.positions(version) }
      ends = [0, versions.last.bytesize].pack('q*')
      of_ends = policy.create_filter_offsets(versions.last, ends).data
      of_offsets = policy.create_filter_offsets('k', versions.last).data
      one = LevelDBBloom::Builder.new
      ones = versions.map { |version| policy.create_filter([version]).data }
      5.times do
        builder.add_fixed(data, 16)
        assert(filters.include?(builder.finish.data), 'builder')
        assert(filters.include?(policy.create_filter_fixed(data, 16).data), 'policy')
        assert(both.include?(data), 'a key')
        assert(hashes.include?(LevelDBBloom.key_hash(data)), 'a hash')
        assert(positions.include?(both.positions(data)), 'positions')
        assert(ones.include?(one.add(data).finish.data), 'a key added')
        # Of what is empty no key is a part, and it is no offsets.
        begin
          assert_equal(of_ends, policy.create_filter_offsets(data, ends).data, 'keys')
        rescue LevelDBBloom::Error => e
          assert_equal(1, e.status, 'empty')
        end
        begin
          assert_equal(of_offsets, policy.create_filter_offsets('k', data).data, 'offsets')
        rescue ArgumentError
          next
        end
      end
    end
  end
ensure
  stop = true
  other.join
end

# A key is its bytes, whatever they are said to be.
def test_encodings
  keys = ['größe', "\xff".b, 'x', 'größe'.encode('UTF-16LE')]
  LevelDBBloom::Policy.open do |policy|
    filter = policy.create_filter(keys)
    assert_equal(policy.create_filter(keys.map(&:b)).data, filter.data, 'encodings')
    assert(keys.all? { |key| filter.include?(key) }, 'encodings')
  end
end

def test_what_is_no_key
  policy = LevelDBBloom::Policy.new
  builder = LevelDBBloom::Builder.new
  filter = policy.create_filter(%w[a])
  [1, nil, :a, %w[a]].each do |wrong|
    [-> { policy.create_filter([wrong]) }, -> { builder << wrong }, -> { builder.add_fixed(wrong, 1) },
     -> { filter.include?(wrong) }, -> { filter.positions(wrong) }, -> { filter.may_match_fixed(wrong, 1) },
     -> { filter.may_match_offsets(wrong, [0].pack('q*')) }, -> { LevelDBBloom.key_hash(wrong) }].each do |use|
      assert(raised(TypeError, &use).message.include?('encode'), wrong.inspect)
    end
  end
end

# What can be read only once, as lines of a file.
def test_read_once
  keys = ["hello\n", "world\n"]
  LevelDBBloom::Policy.open do |policy|
    IO.pipe do |reader, writer|
      writer.write(*keys)
      writer.close
      assert_equal(policy.create_filter(keys).data, policy.create_filter(reader.each_line).data, 'lines')
    end
    assert_equal(policy.create_filter(keys).data, policy.create_filter(keys.lazy).data, 'lazy')
  end
end

def test_errors
  status_of = lambda do |&block|
    error = raised(LevelDBBloom::Error, &block)
    assert_equal(LevelDBBloom.status_message(error.status), error.message, 'message')
    error.status
  end
  policy = LevelDBBloom::Policy.new
  builder = LevelDBBloom::Builder.new
  small = policy.create_filter(%w[a])
  assert_equal(4, status_of.call { small | policy.create_filter(%w[a] * 100) }, 'mismatch')
  assert_equal(2, status_of.call { builder.finish(2**63) }, 'too large')
  [[0, 7, 5], [-1, 7, 9], [0, 5, 11]].each do |wrong|
    offsets = wrong.pack('q*')
    assert_equal(1, status_of.call { policy.create_filter_offsets('0123456789', offsets) }, wrong)
    assert_equal(1, status_of.call { small.may_match_offsets('0123456789', offsets) }, wrong)
  end
  # Wherever they lie: a part of a longer String shares its memory.
  offsets = [0, 1, *[1] * 100].pack('q*')
  (0..8).each do |skipped|
    part = ("\0".b * skipped + offsets)[skipped..]
    assert_equal("\1".b + "\0".b * 100, small.may_match_offsets('a', part), skipped)
    assert_equal(policy.create_filter_offsets('a', offsets).data,
                 policy.create_filter_offsets('a', part).data, skipped)
  end
  # Of no bits per key, a filter of any number of keys has its size.
  [policy, LevelDBBloom::Policy.new(0)].each do |made_by|
    ['', "\0" * 7, "\0" * 9].each do |none|
      raised(ArgumentError) { made_by.create_filter_offsets('0123456789', none) }
      raised(ArgumentError) { small.may_match_offsets('0123456789', none) }
    end
  end
  # A filter stays what it is, whatever becomes of the String that it was made from.
  data = small.data.dup
  filter = LevelDBBloom::Filter.new(data)
  data.clear
  assert_equal(small.data, filter.data, 'a filter of its own')
  assert(filter.data.frozen?, 'nobody can change it')
  kinds = { 3 => ArgumentError, 0 => ArgumentError, 2.5 => RangeError, 5r / 2 => RangeError }
  kinds.each do |length, kind|
    raised(kind) { policy.create_filter_fixed('0123456789', length) }
    raised(kind) { small.may_match_fixed('0123456789', length) }
    raised(kind) { builder.add_fixed('0123456789', length) }
  end
  2.times { [policy, builder].each(&:close) }
  raised(IOError) { policy.create_filter(%w[a]) }
  raised(IOError) { builder << 'a' }
end

def test_numbers_that_c_has_no_room_for
  builder = LevelDBBloom::Builder.new
  [->(bits) { LevelDBBloom::Policy.new(bits) }, ->(bits) { LevelDBBloom::Builder.new(bits) },
   ->(bits) { LevelDBBloom.false_positive_rate(bits, 1) }].each do |use|
    [2.9, Float::NAN, 5r / 2, -2**31 - 1, 2**31, 2**32 + 10].each { |n| raised(RangeError) { use.(n) } }
    [-2**31, 2**31 - 1].each(&use)
  end
  [->(keys) { builder.finish(keys) }, ->(keys) { LevelDBBloom.false_positive_rate(10, keys) },
   ->(keys) { LevelDBBloom.bits_per_key_for(0.01, keys) }].each do |use|
    [100.7, Float::NAN, -1, 2**64, 2**64 + 5].each { |n| raised(RangeError) { use.(n) } }
    use.(100)
  end
  assert_equal(0, LevelDBBloom.bits_per_key_for(0.01, 2**64 - 1), 'too many keys')
end

def test_finalisers
  GC.start
  # What is closed at once, and what is left to the collector: of 40 MB each, which
  # malloc does not keep.
  keys = "\0" * (10 * KEYS)
  before = resident_bytes
  builders = Array.new(10) { LevelDBBloom::Builder.open { |builder| builder.tap { |b| b.add_fixed(keys, 1) } } }
  assert(resident_bytes < before + 100 * KEYS, "#{resident_bytes - before} bytes left of #{builders.size}")
  10.times { LevelDBBloom::Builder.new.add_fixed(keys, 1) }
  GC.start
  assert(resident_bytes < before + 100 * KEYS, "#{resident_bytes - before} bytes left")
end

def test_threads(policy, data, expected, answers)
  part = HALF / 4 * KEY_LENGTH
  parts = Array.new(4) do |number|
    Thread.new do
      LevelDBBloom::Builder.open do |builder|
        builder.add_fixed(data.byteslice(number * part, part), KEY_LENGTH)
        builder.finish(HALF)
      end
    end
  end
  parts.map!(&:value)
  before = parts.map { |filter| LevelDBBloom.key_hash(filter.data) }
  assert_equal(expected.data, parts.reduce(:|).data, 'parts of four threads')
  assert_equal(before, parts.map { |filter| LevelDBBloom.key_hash(filter.data) }, 'united parts')
  4.times.map { Thread.new { expected.may_match_fixed(data, KEY_LENGTH) } }.each do |thread|
    assert_equal(answers, thread.value, 'answers in a thread')
  end
  filters = 4.times.map { Thread.new { policy.create_filter_fixed(data[0, 1600], KEY_LENGTH).data } }
  assert_equal(1, filters.map(&:value).uniq.size, 'filters of four threads')
end

golden = test_golden
test_library
test_ribbon
test_encodings
test_what_is_no_key
test_read_once
test_changes_by_another_thread
test_errors
test_numbers_that_c_has_no_room_for
test_finalisers

data = (0...KEYS).map { |i| format('key-%012d', i) }.join.b
half = data.byteslice(0, HALF * KEY_LENGTH)
policy = LevelDBBloom::Policy.new
filter = policy.create_filter_fixed(half, KEY_LENGTH)
answers = filter.may_match_fixed(data, KEY_LENGTH)
single = (0...KEYS).map { |i| filter.include?(data.byteslice(i * KEY_LENGTH, KEY_LENGTH)) ? 1 : 0 }
assert_equal(single.pack('C*'), answers, 'a million keys')
offsets = Array.new(KEYS + 1) { |i| i * KEY_LENGTH }.pack('q*')
assert_equal(answers, filter.may_match_offsets(data, offsets), 'offsets')
test_threads(policy, data, filter, answers)

some = (HALF - 500...HALF + 500).map { |i| data.byteslice(i * KEY_LENGTH, KEY_LENGTH) }
one = best_of(100) { some.each { |key| filter.include?(key) } }
batch = data.byteslice((HALF - BATCH / 2) * KEY_LENGTH, BATCH * KEY_LENGTH)
query = best_of(200) { filter.may_match_fixed(batch, KEY_LENGTH) }
build = best_of(200) { policy.create_filter_fixed(batch, KEY_LENGTH) }
puts JSON.generate(
  language: 'Ruby', through: "Fiddle #{Fiddle::VERSION}", runtime: "#{RUBY_ENGINE} #{RUBY_VERSION}",
  library: LevelDBBloom.version, active: LevelDBBloom.active, kernel: policy.kernel,
  golden: golden, matches: answers.count("\1"),
  distinct: [filter, policy.create_filter(%w[a]), Marshal.load(Marshal.dump(filter))].uniq.size,
  filter_hash: format('%08x', LevelDBBloom.key_hash(filter.data)),
  call_ns: (one / some.size * 1e9).round(1), query_keys_per_s: (BATCH / query).round,
  build_keys_per_s: (BATCH / build).round
)
