// leveldb-bloom for Deno through Deno.dlopen.
// Shows: disposable classes with a FinalizationRegistry; Uint8Arrays handed over as they are.

const FLAT = ["buffer", "usize", "buffer", "usize"] as const;
const FIXED = ["buffer", "usize", "usize"] as const;
const KEY = ["buffer", "usize"] as const;
const FILTER = ["buffer", "usize"] as const;
const ANSWERS = [...FILTER, "buffer", "buffer", "buffer"] as const;

const native = Deno.dlopen("libleveldb_bloom.so.1", {
  leveldb_bloom_version: { parameters: [], result: "pointer" },
  leveldb_bloom_active: { parameters: [], result: "pointer" },
  leveldb_bloom_status_message: { parameters: ["i32"], result: "pointer" },
  leveldb_bloom_hash: { parameters: KEY, result: "u32" },
  leveldb_bloom_false_positive_rate: { parameters: ["i32", "usize"], result: "f64" },
  leveldb_bloom_bits_per_key_for: { parameters: ["f64", "usize"], result: "i32" },
  leveldb_bloom_policy_create: { parameters: ["i32"], result: "pointer" },
  leveldb_bloom_policy_create_ribbon: { parameters: ["i32"], result: "pointer" },
  leveldb_bloom_policy_destroy: { parameters: ["pointer"], result: "void" },
  leveldb_bloom_kernel: { parameters: ["pointer"], result: "pointer" },
  leveldb_bloom_filter_size: { parameters: ["pointer", "usize"], result: "usize" },
  leveldb_bloom_fill_filter_offsets32: { parameters: ["pointer", ...FLAT, ...FILTER], result: "i32" },
  leveldb_bloom_fill_filter_offsets64: { parameters: ["pointer", ...FLAT, ...FILTER], result: "i32" },
  leveldb_bloom_fill_filter_fixed: { parameters: ["pointer", ...FIXED, ...FILTER], result: "i32" },
  leveldb_bloom_builder_create: { parameters: ["i32"], result: "pointer" },
  leveldb_bloom_builder_create_ribbon: { parameters: ["i32"], result: "pointer" },
  leveldb_bloom_builder_destroy: { parameters: ["pointer"], result: "void" },
  leveldb_bloom_builder_add: { parameters: ["pointer", ...KEY], result: "i32" },
  leveldb_bloom_builder_add_fixed: { parameters: ["pointer", ...FIXED], result: "i32" },
  leveldb_bloom_builder_num_keys: { parameters: ["pointer"], result: "usize" },
  leveldb_bloom_builder_filter_size: { parameters: ["pointer", "usize"], result: "usize" },
  leveldb_bloom_builder_finish: { parameters: ["pointer", "usize", ...FILTER], result: "i32" },
  leveldb_bloom_union: { parameters: [...FILTER, ...FILTER], result: "i32" },
  leveldb_bloom_key_may_match: { parameters: [...KEY, ...FILTER], result: "u8" },
  leveldb_bloom_keys_may_match_offsets32: { parameters: [...FLAT, ...ANSWERS], result: "i32" },
  leveldb_bloom_keys_may_match_offsets64: { parameters: [...FLAT, ...ANSWERS], result: "i32" },
  leveldb_bloom_keys_may_match_fixed: { parameters: [...FIXED, ...ANSWERS], result: "i32" },
  leveldb_bloom_inspect: { parameters: [...FILTER, "buffer"], result: "i32" },
  leveldb_bloom_positions: { parameters: [...KEY, ...FILTER, "buffer", "usize"], result: "usize" },
}).symbols;

export type Bytes = Uint8Array<ArrayBuffer>;
/** What a key may be: the bytes of an ArrayBuffer, or of any view of one. */
export type Key = BufferSource;
/** LevelDB's own, or ribbon filters. */
export type Encoding = "bloom" | "ribbon";
export type Offsets = Int32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer>;

const TOO_LARGE = 2;

function text(pointer: Deno.PointerValue): string {
  return pointer === null ? "" : new Deno.UnsafePointerView(pointer).getCString();
}

/** What the library calls a status; its text is the library's. */
export class BloomError extends Error {
  override name = "BloomError";

  constructor(readonly status: number) {
    super(statusMessage(status));
  }
}

function check(status: number): void {
  if (status !== 0) throw new BloomError(status);
}

/** Deno refuses other numbers, until it has compiled the call: then it hands on what remains of one. */
function int(value: number): number {
  if (value !== (value | 0)) throw new RangeError(`${value} is no integer that fits an int`);
  return value;
}

/** Deno would hand on the low bits of a larger number, and a negative one as a huge one. */
function size(value: number | bigint): bigint {
  const whole = BigInt(value);
  if (whole !== BigInt.asUintN(64, whole)) {
    throw new RangeError(`${value} is no integer that fits a size_t`);
  }
  return whole;
}

/** Memory for a filter. A size of 0 says that no size_t can hold it. */
function newFilter(size: bigint): Bytes {
  if (size === 0n) throw new BloomError(TOO_LARGE);
  return new Uint8Array(Number(size));
}

/** Deno looks at no types when it runs, and the length of other arrays is not that of their bytes. */
function bytes(value: Key): Bytes {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) {
    throw new TypeError(typeof value === "string"
      ? "keys and filters are bytes, not text: encode it, as TextEncoder does"
      : "keys and filters are bytes: a Uint8Array, another view or an ArrayBuffer");
  }
  // Throws if it is detached, or beyond the end of a buffer that shrank: it has no bytes left here, and
  // keys would be lost.
  if (value.byteLength === 0 && !(value instanceof DataView)) (value as Bytes).at(0);
  return value instanceof Uint8Array
    ? value as Bytes
    : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

function countFixed(data: Bytes, keyLength: number): number {
  if (!(keyLength >= 1) || data.length % keyLength !== 0) {
    throw new RangeError(`${data.length} bytes are no whole number of keys of ${keyLength}`);
  }
  return data.length / keyLength;
}

/** One more than keys. */
function countOffsets(offsets: Offsets): number {
  if (!(offsets instanceof Int32Array || offsets instanceof BigInt64Array)) {
    throw new TypeError("offsets are an Int32Array or a BigInt64Array");
  }
  if (offsets.length === 0) throw new RangeError("there is at least one offset");
  return offsets.length - 1;
}

export function version(): string {
  return text(native.leveldb_bloom_version());
}

export function active(): string {
  return text(native.leveldb_bloom_active());
}

export function statusMessage(status: number): string {
  return text(native.leveldb_bloom_status_message(status));
}

export function hash(key: Key): number {
  return native.leveldb_bloom_hash(bytes(key), BigInt(key.byteLength));
}

export function falsePositiveRate(bitsPerKey: number, keys: number | bigint): number {
  return native.leveldb_bloom_false_positive_rate(int(bitsPerKey), size(keys));
}

/** 0: no number of bits per key up to 44 reaches that rate. */
export function bitsPerKeyFor(rate: number, keys: number | bigint): number {
  return native.leveldb_bloom_bits_per_key_for(rate, size(keys));
}

type Destroy = (handle: Deno.PointerValue) => void;
const registry = new FinalizationRegistry<[Destroy, Deno.PointerValue]>(
  ([destroy, handle]) => destroy(handle),
);

/** A handle of the library: given back by close, the end of a `using`, or after the collector. */
class Owner implements Disposable {
  #handle: Deno.PointerValue;
  #destroy: Destroy;

  constructor(handle: Deno.PointerValue, destroy: Destroy) {
    if (handle === null) throw new Error("there is no memory");
    this.#handle = handle;
    this.#destroy = destroy;
    registry.register(this, [destroy, handle], this);
  }

  protected get handle(): Deno.PointerValue {
    if (this.#handle === null) throw new Error("it is closed");
    return this.#handle;
  }

  close(): void {
    if (this.#handle === null) return;
    registry.unregister(this);
    this.#destroy(this.#handle);
    this.#handle = null;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Makes filters of so many bits per key. */
export class Policy extends Owner {
  constructor(bitsPerKey = 10, encoding: Encoding = "bloom") {
    const create = encoding === "ribbon"
      ? native.leveldb_bloom_policy_create_ribbon
      : native.leveldb_bloom_policy_create;
    super(create(int(bitsPerKey)), native.leveldb_bloom_policy_destroy);
  }

  get kernel(): string {
    return text(native.leveldb_bloom_kernel(this.handle));
  }

  createFilter(keys: Key[]): Filter {
    const offsets = new BigInt64Array(keys.length + 1);
    const all = keys.map(bytes);
    all.forEach((key, i) => offsets[i + 1] = offsets[i] + BigInt(key.length));
    const data = new Uint8Array(Number(offsets[keys.length]));
    all.forEach((key, i) => data.set(key, Number(offsets[i])));
    return this.createFilterOffsets(data, offsets);
  }

  /** Key i is the bytes of data from offset i up to offset i + 1. */
  createFilterOffsets(data: Key, offsets: Offsets): Filter {
    const keys = BigInt(countOffsets(offsets));
    const filter = newFilter(native.leveldb_bloom_filter_size(this.handle, keys));
    const fill = offsets instanceof Int32Array
      ? native.leveldb_bloom_fill_filter_offsets32
      : native.leveldb_bloom_fill_filter_offsets64;
    check(fill(this.handle, bytes(data), BigInt(data.byteLength), offsets, keys, filter, BigInt(filter.length)));
    return new Filter(filter);
  }

  /** Keys of one length, one behind the other. */
  createFilterFixed(from: Key, keyLength: number): Filter {
    const data = bytes(from);
    const keys = BigInt(countFixed(data, keyLength));
    const filter = newFilter(native.leveldb_bloom_filter_size(this.handle, keys));
    check(native.leveldb_bloom_fill_filter_fixed(
      this.handle, data, BigInt(keyLength), keys, filter, BigInt(filter.length)));
    return new Filter(filter);
  }
}

/** Collects keys as they come. */
export class Builder extends Owner {
  constructor(bitsPerKey = 10, encoding: Encoding = "bloom") {
    const create = encoding === "ribbon"
      ? native.leveldb_bloom_builder_create_ribbon
      : native.leveldb_bloom_builder_create;
    super(create(int(bitsPerKey)), native.leveldb_bloom_builder_destroy);
  }

  add(key: Key): void {
    check(native.leveldb_bloom_builder_add(this.handle, bytes(key), BigInt(key.byteLength)));
  }

  addFixed(from: Key, keyLength: number): void {
    const data = bytes(from);
    check(native.leveldb_bloom_builder_add_fixed(
      this.handle, data, BigInt(keyLength), BigInt(countFixed(data, keyLength))));
  }

  get size(): number {
    return Number(native.leveldb_bloom_builder_num_keys(this.handle));
  }

  /** The filter of the keys added, as large as one for totalKeys, or for those added if that is 0;
   * the builder is empty again. Parts of one filter, made with the same total, are united with
   * Filter.union. */
  finish(totalKeys: number | bigint = 0): Filter {
    const total = size(totalKeys);
    const filter = newFilter(native.leveldb_bloom_builder_filter_size(this.handle, total));
    check(native.leveldb_bloom_builder_finish(this.handle, total, filter, BigInt(filter.length)));
    return new Filter(filter);
  }
}

/** The bytes of a filter: one key, or many at once. */
export class Filter {
  #length: number;
  /** The length, for which no call makes another bigint. */
  #size: bigint;

  readonly data: Bytes;

  constructor(data: Key) {
    this.data = bytes(data);
    this.#length = this.data.length;
    this.#size = BigInt(this.#length);
  }

  equals(other: Filter): boolean {
    return this.#length === other.#length && this.#bytes.every((byte, i) => byte === other.#bytes[i]);
  }

  /** A buffer has no bytes left here once a worker got it, and then every key would be absent. */
  get #bytes(): Bytes {
    if (this.data.length !== this.#length) {
      throw new Error(`the filter's ${this.#length} bytes were transferred or resized`);
    }
    return this.data;
  }

  mayMatch(key: Key): boolean {
    const asked = bytes(key);
    return native.leveldb_bloom_key_may_match(asked, BigInt(asked.length), this.#bytes, this.#size) !== 0;
  }

  /** A byte of 0 or 1 for each key. */
  mayMatchOffsets(data: Key, offsets: Offsets): Bytes {
    const results = new Uint8Array(countOffsets(offsets));
    const ask = offsets instanceof Int32Array
      ? native.leveldb_bloom_keys_may_match_offsets32
      : native.leveldb_bloom_keys_may_match_offsets64;
    check(ask(bytes(data), BigInt(data.byteLength), offsets, BigInt(results.length), this.#bytes, this.#size,
      results, null, null));
    return results;
  }

  mayMatchFixed(from: Key, keyLength: number): Bytes {
    const data = bytes(from);
    const results = new Uint8Array(countFixed(data, keyLength));
    check(native.leveldb_bloom_keys_may_match_fixed(data, BigInt(keyLength), BigInt(results.length),
      this.#bytes, this.#size, results, null, null));
    return results;
  }

  /** The filter of both filters' keys. */
  union(other: Filter): Filter {
    const into = this.#bytes.slice();
    check(native.leveldb_bloom_union(into, this.#size, other.#bytes, other.#size));
    return new Filter(into);
  }

  /** What the bytes say. */
  inspect() {
    const info = new DataView(new ArrayBuffer(48));
    check(native.leveldb_bloom_inspect(this.#bytes, this.#size, info.buffer));
    return {
      bits: Number(info.getBigUint64(0, true)),
      bitsSet: Number(info.getBigUint64(8, true)),
      probes: info.getUint32(16, true),
      encoding: (info.getUint32(20, true) === 1 ? "ribbon" : "bloom") as Encoding,
      fill: info.getFloat64(24, true),
      estimatedKeys: info.getFloat64(32, true),
      falsePositiveRate: info.getFloat64(40, true),
    };
  }

  /** The bits that a query for the key reads. */
  positions(key: Key): number[] {
    const found = new BigUint64Array(30);
    const number = native.leveldb_bloom_positions(bytes(key), BigInt(key.byteLength), this.#bytes, this.#size,
      found, BigInt(found.length));
    return Array.from(found.subarray(0, Number(number)), Number);
  }
}
