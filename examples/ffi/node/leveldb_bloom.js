// leveldb-bloom for Node through koffi.
// Shows: classes with close and a FinalizationRegistry; Buffers and typed arrays handed over as they are.

'use strict';

const koffi = require('koffi');

const library = load('libleveldb_bloom.so.1');
named('leveldb_bloom_policy', koffi.opaque);
named('leveldb_bloom_builder', koffi.opaque);
named('leveldb_bloom_info', koffi.struct, {
  bits: 'uint64_t', bits_set: 'uint64_t', probes: 'uint32_t', encoding: 'uint32_t', fill: 'double',
  estimated_keys: 'double', false_positive_rate: 'double',
});

/** koffi does not say which library it did not find. */
function load(name) {
  try {
    return koffi.load(name);
  } catch (error) {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  }
}

/** koffi has one list of names for a thread, and another copy of this file may have made the type. */
function named(name, make, ...details) {
  try {
    koffi.type(name);
  } catch {
    make(name, ...details);
  }
}

// Memory is void * here, which takes Buffers and typed arrays without looking at them.
const flat = 'const void *data, size_t data_length, const void *offsets, size_t num_keys';
const fixed = 'const void *data, size_t key_length, size_t num_keys';
const key = 'const void *key, size_t key_length';
const filter = 'const void *filter, size_t filter_length';
const answers = `${filter}, void *results, void *bitmap, void *matches`;
const native = Object.fromEntries([
  'const char *leveldb_bloom_version()',
  'const char *leveldb_bloom_active()',
  'const char *leveldb_bloom_status_message(int status)',
  `uint32_t leveldb_bloom_hash(${key})`,
  'double leveldb_bloom_false_positive_rate(int bits_per_key, size_t num_keys)',
  'int leveldb_bloom_bits_per_key_for(double rate, size_t num_keys)',
  'leveldb_bloom_policy *leveldb_bloom_policy_create(int bits_per_key)',
  'leveldb_bloom_policy *leveldb_bloom_policy_create_ribbon(int bits_per_key)',
  'void leveldb_bloom_policy_destroy(leveldb_bloom_policy *policy)',
  'const char *leveldb_bloom_kernel(const leveldb_bloom_policy *policy)',
  'size_t leveldb_bloom_filter_size(const leveldb_bloom_policy *policy, size_t num_keys)',
  `int leveldb_bloom_fill_filter_offsets32(const leveldb_bloom_policy *policy, ${flat}, void *filter, size_t length)`,
  `int leveldb_bloom_fill_filter_offsets64(const leveldb_bloom_policy *policy, ${flat}, void *filter, size_t length)`,
  `int leveldb_bloom_fill_filter_fixed(const leveldb_bloom_policy *policy, ${fixed}, void *filter, size_t length)`,
  'leveldb_bloom_builder *leveldb_bloom_builder_create(int bits_per_key)',
  'leveldb_bloom_builder *leveldb_bloom_builder_create_ribbon(int bits_per_key)',
  'void leveldb_bloom_builder_destroy(leveldb_bloom_builder *builder)',
  `int leveldb_bloom_builder_add(leveldb_bloom_builder *builder, ${key})`,
  `int leveldb_bloom_builder_add_fixed(leveldb_bloom_builder *builder, ${fixed})`,
  'size_t leveldb_bloom_builder_num_keys(const leveldb_bloom_builder *builder)',
  'size_t leveldb_bloom_builder_filter_size(const leveldb_bloom_builder *builder, size_t total_keys)',
  'int leveldb_bloom_builder_finish(leveldb_bloom_builder *builder, size_t total_keys, void *filter, size_t length)',
  `int leveldb_bloom_union(void *into, size_t into_length, ${filter})`,
  `uint8_t leveldb_bloom_key_may_match(${key}, ${filter})`,
  `int leveldb_bloom_keys_may_match_offsets32(${flat}, ${answers})`,
  `int leveldb_bloom_keys_may_match_offsets64(${flat}, ${answers})`,
  `int leveldb_bloom_keys_may_match_fixed(${fixed}, ${answers})`,
  `int leveldb_bloom_inspect(${filter}, _Out_ leveldb_bloom_info *info)`,
  `size_t leveldb_bloom_positions(${key}, ${filter}, void *positions, size_t capacity)`,
].map((declaration) => [/leveldb_bloom_(\w+)\(/.exec(declaration)[1], library.func(declaration)]));

const TOO_LARGE = 2;

/** What the library calls a status; its text is the library's. */
class BloomError extends Error {
  constructor(status) {
    super(native.status_message(status));
    this.name = 'BloomError';
    this.status = status;
  }
}

function check(status) {
  if (status !== 0) throw new BloomError(status);
}

/** koffi would hand on what remains of a number that the C type does not hold. */
function integer(value, lowest, highest) {
  if ((typeof value === 'number' && !Number.isInteger(value)) || value < lowest || value > highest) {
    throw new RangeError(`${value} is no integer from ${lowest} to ${highest}`);
  }
  return value;
}

const int = (value) => integer(value, -(2 ** 31), 2 ** 31 - 1);
const size = (value) => integer(value, 0, 2n ** 64n - 1n);

/** Memory for a filter. A size of 0 says that no size_t can hold it. */
function newFilter(size) {
  if (size === 0) throw new BloomError(TOO_LARGE);
  return Buffer.alloc(Number(size));
}

/**
 * Data with its bytes: a buffer has none left here once a worker got it, or beyond the end that it shrank
 * to, and keys would be lost.
 */
function whole(data) {
  // Throws if they are gone; not every version of Node can be asked.
  if (data.byteLength === 0) data.at ? data.at(0) : new Uint8Array(data.buffer ?? data);
  return data;
}

function fixedKeys(data, keyLength) {
  whole(data);
  if (!(size(keyLength) >= 1) || data.byteLength % keyLength !== 0) {
    throw new RangeError(`${data.byteLength} bytes are no whole number of keys of ${keyLength}`);
  }
  return [data, keyLength, data.byteLength / keyLength];
}

/** offsets: an Int32Array or a BigInt64Array, one more than keys. */
function flatKeys(data, offsets) {
  const bits = offsets instanceof Int32Array ? 32 : offsets instanceof BigInt64Array ? 64 : 0;
  if (bits === 0 || offsets.length === 0) {
    throw new TypeError('offsets are an Int32Array or a BigInt64Array with at least one');
  }
  return [bits, [whole(data), data.byteLength, offsets, offsets.length - 1]];
}

/** The function that makes a policy or a builder of this encoding. */
function creator(what, encoding) {
  const name = { bloom: `${what}_create`, ribbon: `${what}_create_ribbon` }[encoding];
  if (name === undefined) throw new RangeError(`${encoding} is no encoding; there are bloom and ribbon`);
  return native[name];
}

/** A handle of the library: given back by close, or after the collector. */
class Owner {
  static #registry = new FinalizationRegistry(({ handle, destroy }) => destroy(handle));
  #handle;
  #destroy;

  constructor(handle, destroy) {
    if (handle === null) throw new Error('there is no memory');
    this.#handle = handle;
    this.#destroy = destroy;
    Owner.#registry.register(this, { handle, destroy }, this);
  }

  get handle() {
    if (this.#handle === null) throw new Error('it is closed');
    return this.#handle;
  }

  close() {
    if (this.#handle === null) return;
    Owner.#registry.unregister(this);
    this.#destroy(this.#handle);
    this.#handle = null;
  }
}

/** Makes filters of so many bits per key, 'bloom' (LevelDB's own) or 'ribbon'. */
class Policy extends Owner {
  constructor(bitsPerKey = 10, encoding = 'bloom') {
    super(creator('policy', encoding)(int(bitsPerKey)), native.policy_destroy);
  }

  get kernel() { return native.kernel(this.handle); }

  createFilter(keys) {
    const offsets = new BigInt64Array(keys.length + 1);
    let length = 0;
    keys.forEach((key, i) => {
      length += whole(key).byteLength;
      offsets[i + 1] = BigInt(length);
    });
    return this.createFilterOffsets(Buffer.concat(keys, length), offsets);
  }

  /** Key i is the bytes of data from offset i up to offset i + 1. */
  createFilterOffsets(data, offsets) {
    const [bits, keys] = flatKeys(data, offsets);
    return this.#create(native[`fill_filter_offsets${bits}`], keys);
  }

  /** Keys of one length, one behind the other. */
  createFilterFixed(data, keyLength) {
    return this.#create(native.fill_filter_fixed, fixedKeys(data, keyLength));
  }

  #create(fill, keys) {
    const data = newFilter(native.filter_size(this.handle, keys.at(-1)));
    check(fill(this.handle, ...keys, data, data.length));
    return new Filter(data);
  }
}

/** Collects keys as they come. */
class Builder extends Owner {
  constructor(bitsPerKey = 10, encoding = 'bloom') {
    super(creator('builder', encoding)(int(bitsPerKey)), native.builder_destroy);
  }

  add(key) { check(native.builder_add(this.handle, whole(key), key.byteLength)); }

  addFixed(data, keyLength) {
    check(native.builder_add_fixed(this.handle, ...fixedKeys(data, keyLength)));
  }

  get size() { return native.builder_num_keys(this.handle); }

  /** The filter of the keys added, as large as one for totalKeys, or for those added if that is 0;
   * the builder is empty again. Parts of one filter, made with the same total, are united with
   * Filter.union. */
  finish(totalKeys = 0) {
    const data = newFilter(native.builder_filter_size(this.handle, size(totalKeys)));
    check(native.builder_finish(this.handle, totalKeys, data, data.length));
    return new Filter(data);
  }
}

/** The bytes of a filter: one key, or many at once. */
class Filter {
  #length;

  constructor(data) {
    this.data = data;
    this.#length = whole(data).byteLength;
  }

  /** A buffer has no bytes left here once a worker got it, and then every key would be absent. */
  get #bytes() {
    if (this.data.byteLength !== this.#length) {
      throw new Error(`the filter's ${this.#length} bytes were transferred or resized`);
    }
    return this.data;
  }

  mayMatch(key) {
    return native.key_may_match(whole(key), key.byteLength, this.#bytes, this.#length) !== 0;
  }

  /** A byte of 0 or 1 for each key. */
  mayMatchOffsets(data, offsets) {
    const [bits, keys] = flatKeys(data, offsets);
    return this.#ask(native[`keys_may_match_offsets${bits}`], keys);
  }

  mayMatchFixed(data, keyLength) {
    return this.#ask(native.keys_may_match_fixed, fixedKeys(data, keyLength));
  }

  #ask(mayMatch, keys) {
    const results = Buffer.alloc(keys.at(-1));
    check(mayMatch(...keys, this.#bytes, this.#length, results, null, null));
    return results;
  }

  /** The filter of both filters' keys. */
  union(other) {
    // A copy also of an ArrayBuffer, with which a Buffer would share its memory.
    const { buffer = this.#bytes, byteOffset } = this.#bytes;
    const into = Buffer.from(new Uint8Array(buffer, byteOffset, this.#length));
    check(native.union(into, into.length, other.#bytes, other.#length));
    return new Filter(into);
  }

  /** What the bytes say. */
  inspect() {
    const info = {};
    check(native.inspect(this.#bytes, this.#length, info));
    return { bits: info.bits, bitsSet: info.bits_set, probes: info.probes,
      encoding: ['bloom', 'ribbon'][info.encoding], fill: info.fill,
      estimatedKeys: info.estimated_keys, falsePositiveRate: info.false_positive_rate };
  }

  /** The bits that a query for the key reads. */
  positions(key) {
    const found = new BigUint64Array(30);
    const number = native.positions(whole(key), key.byteLength, this.#bytes, this.#length, found, found.length);
    return Array.from(found.subarray(0, number), Number);
  }
}

module.exports = {
  Policy, Builder, Filter, BloomError,
  version: native.version,
  active: native.active,
  statusMessage: native.status_message,
  hash: (key) => native.hash(whole(key), key.byteLength),
  falsePositiveRate: (bitsPerKey, keys) => native.false_positive_rate(int(bitsPerKey), size(keys)),
  /** 0: no number of bits per key up to 44 reaches that rate. */
  bitsPerKeyFor: (rate, keys) => native.bits_per_key_for(rate, size(keys)),
};
