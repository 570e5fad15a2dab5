/// <reference types="node" />

/** Bytes: a Buffer or another view of an ArrayBuffer or a SharedArrayBuffer, or all of one. Text is a
 *  TypeError; encode it, so that it is you who chooses how. */
export type Bytes = ArrayBufferView | ArrayBufferLike;

/** Keys one behind the other. With a `keyLength`, all have that many bytes; with `offsets`, one more
 *  than keys, key i is data from offset i up to offset i + 1. */
export type FlatKeys =
  | { readonly data: Bytes; readonly keyLength: number; readonly offsets?: undefined }
  | { readonly data: Bytes; readonly offsets: Int32Array | BigInt64Array; readonly keyLength?: undefined };

export type Keys = Iterable<Bytes> | FlatKeys;

/** `bloom` is LevelDB's own encoding. `ribbon` is one that LevelDB takes for a filter that may hold any
 *  key. */
export type Encoding = 'bloom' | 'ribbon';

/** How filters are made. Immutable; equal policies make equal filters. */
export class Policy {
  /**
   * `encoding: 'bloom'` makes LevelDB's own filters, byte for byte; ten bits per key give about 1 % false
   * positives. 0 is one probe, in filters of 64 bits.
   *
   * `encoding: 'ribbon'` makes filters in which one absent key in 2 ** bitsPerKey passes, whatever the
   * keys look like; it takes 1 to 13, and what lies beyond as these. They cannot be united.
   *
   * @throws RangeError for a number that is no integer from 0 to 2 ** 31 - 1, and an unknown encoding.
   */
  constructor(options?: { readonly bitsPerKey?: number; readonly encoding?: Encoding });

  /**
   * The fewest bits per key that give a false-positive rate of at most `rate`, which is between 0 and 1,
   * in a filter of so many keys.
   *
   * @throws RangeError if none do.
   */
  static forRate(rate: number, options: { readonly keys: number; readonly encoding?: Encoding }): Policy;

  readonly bitsPerKey: number;
  readonly encoding: Encoding;
  /** How many bits a key sets, and a query reads, in LevelDB's encoding. */
  readonly probes: number;
  /** Which implementation does the work on this processor. */
  readonly kernel: 'avx512' | 'avx2' | 'portable';

  /**
   * The filter of these keys.
   *
   * @throws RangeError if it does not fit in memory.
   */
  createFilter(keys: Keys): Filter;

  /** The size in bytes of a filter of so many keys. */
  filterSize(keys: number): number;

  /** The expected share of absent keys that a filter of so many keys lets pass. */
  falsePositiveRate(keys: number): number;
}

/** The bytes of a filter, made here or read from a database, of either encoding. Immutable. */
export class Filter {
  /** A copy of any bytes, which all may be a filter. */
  constructor(bytes: Bytes);

  /** The number of bytes. */
  readonly length: number;

  /** What the bytes say. Takes time in proportion to their number. */
  readonly info: FilterInfo;

  /** False is certain; true may be a false positive. */
  mayMatch(key: Bytes): boolean;

  /** A byte of 1 or 0 for each key: `mayMatch`, several times as fast. */
  mayMatchMany(keys: Keys): Uint8Array;

  /** A copy of the bytes, in memory of its own, which can be transferred to a worker. */
  toBuffer(): Buffer;

  /** Whether the other is a filter of the same bytes. */
  equals(other: unknown): boolean;

  /**
   * The filter of both filters' keys.
   *
   * @throws Error unless both are bloom filters of the same length and number of probes.
   */
  union(other: Filter): Filter;
}

/** What can be read from a filter's bytes. */
export interface FilterInfo {
  readonly encoding: Encoding;
  /** The stored number of probes. With 0, or what no encoding uses, the filter matches every key. Of a
   *  ribbon filter, the bits that a key is compared in. */
  readonly probes: number;
  readonly bits: number;
  readonly bitsSet: number;
  /** bitsSet / bits. */
  readonly fill: number;
  /** About how many different keys it holds, of a ribbon filter at most. Infinity if it matches every
   *  key. */
  readonly estimatedKeys: number;
  /** The expected share of absent keys that pass. */
  readonly falsePositiveRate: number;
}

/**
 * Collects keys as they come, and makes their filter. Keeps four bytes for each key (for ribbon filters
 * twelve).
 *
 * Parts of one filter can be built in many places: let each finish with the same total number of keys.
 * The union of the parts is then, byte for byte, the filter of all keys.
 */
export class Builder {
  /** Without a policy: that of ten bits per key. */
  constructor(policy?: Policy);

  readonly policy: Policy;
  /** The number of keys added. */
  readonly size: number;

  add(key: Bytes): this;

  /** Adds all keys. If one of them is none, keys before it may have been added. */
  update(keys: Keys): this;

  /**
   * The filter of the keys added, as large as one for totalKeys, or for as many as there are. The builder
   * is empty again.
   *
   * @throws RangeError if the filter does not fit in memory; the builder keeps its keys.
   */
  finish(totalKeys?: number): Filter;
}
