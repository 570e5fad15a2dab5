# frozen_string_literal: true

# leveldb-bloom through Fiddle, of Ruby's standard library.
# Shows: objects with close, a block form and finalisers; keys as Strings, or many in one.

require 'fiddle'

module LevelDBBloom
  LIBRARY = Fiddle.dlopen('libleveldb_bloom.so.1')
  private_constant :LIBRARY

  P = Fiddle::TYPE_VOIDP
  SIZE = Fiddle::TYPE_SIZE_T
  INT = Fiddle::TYPE_INT
  BYTE = -Fiddle::TYPE_CHAR
  UINT32 = -Fiddle::TYPE_INT
  DOUBLE = Fiddle::TYPE_DOUBLE
  KEYS = [P, SIZE, P, SIZE].freeze
  FIXED = [P, SIZE, SIZE].freeze
  ANSWERS = [P, SIZE, P, P, P].freeze
  # Other threads run while a function works, and may change a String. These take the caller's own, of one
  # key, and hold the threads off; many keys come as a String that nobody else has.
  ALONE = %i[hash builder_add key_may_match positions].freeze
  FUNCTIONS = {
    version: [P, []],
    active: [P, []],
    status_message: [P, [INT]],
    hash: [UINT32, [P, SIZE]],
    false_positive_rate: [DOUBLE, [INT, SIZE]],
    bits_per_key_for: [INT, [DOUBLE, SIZE]],
    policy_create: [P, [INT]],
    policy_create_ribbon: [P, [INT]],
    policy_destroy: [Fiddle::TYPE_VOID, [P]],
    kernel: [P, [P]],
    filter_size: [SIZE, [P, SIZE]],
    fill_filter_offsets64: [INT, [P, *KEYS, P, SIZE]],
    fill_filter_fixed: [INT, [P, *FIXED, P, SIZE]],
    builder_create: [P, [INT]],
    builder_create_ribbon: [P, [INT]],
    builder_destroy: [Fiddle::TYPE_VOID, [P]],
    builder_add: [INT, [P, P, SIZE]],
    builder_add_fixed: [INT, [P, *FIXED]],
    builder_num_keys: [SIZE, [P]],
    builder_filter_size: [SIZE, [P, SIZE]],
    builder_finish: [INT, [P, SIZE, P, SIZE]],
    union: [INT, [P, SIZE, P, SIZE]],
    key_may_match: [BYTE, [P, SIZE, P, SIZE]],
    keys_may_match_offsets64: [INT, [*KEYS, *ANSWERS]],
    keys_may_match_fixed: [INT, [*FIXED, *ANSWERS]],
    inspect: [INT, [P, SIZE, P]],
    positions: [SIZE, [P, SIZE, P, SIZE, P, SIZE]]
  }.to_h do |name, (result, arguments)|
    [name, Fiddle::Function.new(LIBRARY["leveldb_bloom_#{name}"], arguments, result,
                                need_gvl: ALONE.include?(name))]
  end.freeze
  KEY_MAY_MATCH = FUNCTIONS[:key_may_match]
  INTS = (-2**31..2**31 - 1)
  SIZES = (0..2**64 - 1)
  private_constant :P, :SIZE, :INT, :BYTE, :UINT32, :DOUBLE, :KEYS, :FIXED, :ANSWERS, :ALONE,
                   :FUNCTIONS, :KEY_MAY_MATCH, :INTS, :SIZES

  TOO_LARGE = 2

  # What the library calls a status; its text is the library's.
  class Error < StandardError
    attr_reader :status

    def initialize(status)
      super(LevelDBBloom.status_message(status))
      @status = status
    end
  end

  class << self
    def call(name, *arguments) = FUNCTIONS.fetch(name).call(*arguments)

    def check(name, *arguments)
      status = call(name, *arguments)
      raise Error, status unless status.zero?
    end

    # Fiddle would cut off a fraction, and hand on a negative size as a huge one.
    def integer(value, range)
      return value if value.is_a?(Integer) && range.cover?(value)

      raise RangeError, "#{value.inspect} is no Integer in #{range}"
    end

    # Text is bytes in Ruby: a key is the bytes of a String, in whatever encoding.
    def bytes(key)
      return key if key.is_a?(String)

      raise TypeError, "a key is the bytes of a String, not #{key.class}: encode it, as in [number].pack('Q>')"
    end

    # A String for the library to write a filter in. A size of 0 says that no size_t can hold it.
    def new_filter(size)
      raise Error, TOO_LARGE if size.zero?

      "\0".b * size
    end

    def fixed(data, key_length)
      # Not a copy: they share their memory until one is changed.
      data = bytes(data).b
      if integer(key_length, SIZES) < 1 || data.bytesize % key_length != 0
        raise ArgumentError, "#{data.bytesize} bytes are no whole number of keys of #{key_length}"
      end

      [data, key_length, data.bytesize / key_length]
    end

    # offsets: one more than keys, packed as 64-bit integers: `[0, 5, 10].pack('q*')`.
    def flat(data, offsets)
      data = bytes(data).b
      offsets = offsets.b
      if offsets.bytesize < 8 || offsets.bytesize % 8 != 0
        raise ArgumentError, 'offsets are of 8 bytes each, and at least one'
      end

      # A part of another String lies anywhere in it; the library wants whole words.
      offsets = String.new(capacity: offsets.bytesize) << offsets if Fiddle::Pointer[offsets].to_i % 8 != 0
      [data, data.bytesize, offsets, offsets.bytesize / 8 - 1]
    end

    def version = call(:version).to_s
    def active = call(:active).to_s
    def status_message(status) = call(:status_message, status).to_s
    def key_hash(key) = call(:hash, bytes(key), key.bytesize)
    def false_positive_rate(bits_per_key, keys)
      call(:false_positive_rate, integer(bits_per_key, INTS), integer(keys, SIZES))
    end

    # 0: no number of bits per key up to 44 reaches that rate.
    def bits_per_key_for(rate, keys) = call(:bits_per_key_for, rate, integer(keys, SIZES))
  end

  # A handle of the library: given back by close, the end of `open`'s block, or the collector.
  class Owner
    def self.open(...)
      owner = new(...)
      return owner unless block_given?

      begin
        yield owner
      ensure
        owner.close
      end
    end

    def initialize(created, destroy)
      raise NoMemoryError if created.null?

      # Shared with the finaliser, which must not refer to this object.
      @owned = [created]
      ObjectSpace.define_finalizer(self, Owner.release(@owned, destroy))
      @release = Owner.release(@owned, destroy)
    end

    def self.release(owned, destroy)
      proc { (handle = owned.pop) && LevelDBBloom.call(destroy, handle) }
    end

    def close = @release.call

    private

    def handle = @owned.first || raise(IOError, "the #{self.class} is closed")
  end

  # Makes filters of so many bits per key, :bloom (LevelDB's own) or :ribbon; any number of threads may use
  # one while none closes it.
  class Policy < Owner
    CREATE = { bloom: :policy_create, ribbon: :policy_create_ribbon }.freeze
    private_constant :CREATE

    def initialize(bits_per_key = 10, encoding: :bloom)
      super(LevelDBBloom.call(CREATE.fetch(encoding), LevelDBBloom.integer(bits_per_key, INTS)),
            :policy_destroy)
    end

    def kernel = LevelDBBloom.call(:kernel, handle).to_s

    def create_filter(keys)
      data = ''.b
      offsets = [0]
      keys.each { |key| offsets << (data << LevelDBBloom.bytes(key).b).bytesize }
      create_filter_offsets(data, offsets.pack('q*'))
    end

    # Key i is the bytes of data from offset i up to offset i + 1.
    def create_filter_offsets(data, offsets)
      create(:fill_filter_offsets64, LevelDBBloom.flat(data, offsets))
    end

    # Keys of one length, one behind the other.
    def create_filter_fixed(data, key_length)
      create(:fill_filter_fixed, LevelDBBloom.fixed(data, key_length))
    end

    private

    def create(fill, keys)
      filter = LevelDBBloom.new_filter(LevelDBBloom.call(:filter_size, handle, keys.last))
      LevelDBBloom.check(fill, handle, *keys, filter, filter.bytesize)
      Filter.new(filter)
    end
  end

  # Collects keys as they come; for one thread at a time.
  class Builder < Owner
    CREATE = { bloom: :builder_create, ribbon: :builder_create_ribbon }.freeze
    private_constant :CREATE

    def initialize(bits_per_key = 10, encoding: :bloom)
      super(LevelDBBloom.call(CREATE.fetch(encoding), LevelDBBloom.integer(bits_per_key, INTS)),
            :builder_destroy)
    end

    def add(key)
      LevelDBBloom.check(:builder_add, handle, LevelDBBloom.bytes(key), key.bytesize)
      self
    end
    alias << add

    def add_fixed(data, key_length)
      LevelDBBloom.check(:builder_add_fixed, handle, *LevelDBBloom.fixed(data, key_length))
    end

    def size = LevelDBBloom.call(:builder_num_keys, handle)

    # The filter of the keys added, as large as one for total_keys; the builder is empty again.
    # Parts of one filter, made with the same total, are united with Filter#|.
    def finish(total_keys = 0)
      LevelDBBloom.integer(total_keys, SIZES)
      filter = LevelDBBloom.new_filter(LevelDBBloom.call(:builder_filter_size, handle, total_keys))
      LevelDBBloom.check(:builder_finish, handle, total_keys, filter, filter.bytesize)
      Filter.new(filter)
    end
  end

  # The bytes of a filter: `filter.include?(key)`, or many keys at once. Filters of equal bytes are equal.
  class Filter
    attr_reader :data

    def initialize(data)
      @data = data.b.freeze
      @size = @data.bytesize
    end

    def include?(key) = KEY_MAY_MATCH.call(LevelDBBloom.bytes(key), key.bytesize, @data, @size) != 0
    alias === include?

    def ==(other) = other.is_a?(Filter) && other.data == @data
    alias eql? ==
    def hash = @data.hash

    # A byte of 0 or 1 for each key.
    def may_match_offsets(data, offsets)
      ask(:keys_may_match_offsets64, LevelDBBloom.flat(data, offsets))
    end

    def may_match_fixed(data, key_length)
      ask(:keys_may_match_fixed, LevelDBBloom.fixed(data, key_length))
    end

    # The filter of both filters' keys.
    def |(other)
      # `+@data` may share its memory with @data, which the library does not know.
      into = String.new(capacity: @size) << @data
      LevelDBBloom.check(:union, into, @size, other.data, other.data.bytesize)
      Filter.new(into)
    end

    # What the bytes say.
    def info
      bytes = "\0".b * 48
      LevelDBBloom.check(:inspect, @data, @size, bytes)
      bits, bits_set, probes, encoding, fill, estimated_keys, rate = bytes.unpack('Q2L2d3')
      { bits: bits, bits_set: bits_set, probes: probes, encoding: %i[bloom ribbon][encoding], fill: fill,
        estimated_keys: estimated_keys, false_positive_rate: rate }
    end

    # The bits that a query for the key reads.
    def positions(key)
      bytes = "\0".b * (30 * 8)
      found = LevelDBBloom.call(:positions, LevelDBBloom.bytes(key), key.bytesize, @data, @size, bytes, 30)
      bytes.unpack("Q#{found}")
    end

    private

    def ask(may_match, keys)
      results = "\0".b * keys.last
      LevelDBBloom.check(may_match, *keys, @data, @size, results, nil, nil)
      results
    end
  end
end
