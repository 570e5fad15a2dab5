// LevelDB's bloom filter for Node. index.d.ts documents what users see; src/lib.rs does the work.

'use strict';

const { types } = require('node:util');
const native = require('./native.js');

// Of the engine itself: what a class of somebody's, or an object's own property, says is not asked.
const { call } = Function.prototype;
const { prototype: views } = Object.getPrototypeOf(Uint8Array);
const getter = (prototype, name) =>
  call.bind(Object.getOwnPropertyDescriptor(prototype, name).get);
const lengthOf = getter(views, 'length');
const copyInto = call.bind(views.set);
const placeOf = [views, DataView.prototype].map((prototype) =>
  ['buffer', 'byteOffset', 'byteLength'].map((name) => getter(prototype, name)));

/** What an error calls a value. */
function named(value) {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) {
    return value === undefined || value === null ? `${value}` : `a ${typeof value}`;
  }
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Throws if a view's memory went to another thread, or ends before it: keys would be lost. */
function alive(view) {
  if (types.isDataView(view)) placeOf[1][2](view);
  else views.at.call(view, 0);
}

/** A Uint8Array of an object's bytes, which `what` names in errors. */
function bytesOf(object, what) {
  let bytes = object;
  if (!types.isUint8Array(object)) {
    if (ArrayBuffer.isView(object)) {
      alive(object);
      const [buffer, offset, length] = placeOf[Number(types.isDataView(object))];
      bytes = new Uint8Array(buffer(object), offset(object), length(object));
    } else if (types.isAnyArrayBuffer(object)) {
      bytes = new Uint8Array(object);
    } else if (typeof object === 'string') {
      throw new TypeError(`${what} is bytes, not text: encode it, as in Buffer.from(text)`);
    } else if (typeof object === 'number' || typeof object === 'bigint') {
      throw new TypeError(`${what} is bytes, not a number: encode it, as writeBigUInt64BE of a Buffer does`);
    } else {
      throw new TypeError(`${what} is bytes, a Uint8Array or the like, not ${named(object)}`);
    }
  }
  if (lengthOf(bytes) === 0) alive(bytes);
  return bytes;
}

/** The same for native code, in whose middle no other thread must change them. */
function ownBytesOf(object, what) {
  const bytes = bytesOf(object, what);
  return types.isSharedArrayBuffer(placeOf[0][0](bytes)) ? new Uint8Array(bytes) : bytes;
}

// As many keys, and as many of their bytes, as are gathered for one call of native code.
const MANY = 1 << 12;
const ROOM = 1 << 16;
let spare = null;

/**
 * Gives all keys to `consume`, as arguments of native code, with their number. An error ends it; what
 * `consume` has taken is not given back.
 */
function inBatches(keys, consume) {
  if (typeof keys === 'string') {
    throw new TypeError('keys are bytes, not text: encode each, as in Buffer.from(text)');
  }
  if (ArrayBuffer.isView(keys)) {
    throw new TypeError('the keys in one buffer are { data, keyLength } or { data, offsets }');
  }
  if (typeof keys?.[Symbol.iterator] === 'function') {
    gathered(keys, consume);
  } else if (keys?.data !== undefined) {
    const { data, keyLength, offsets } = keys;
    flat(ownBytesOf(data, 'data'), keyLength, offsets, consume);
  } else {
    throw new TypeError('keys are an iterable of bytes, { data, keyLength } or { data, offsets }, ' +
      `not ${named(keys)}`);
  }
}

function gathered(keys, consume) {
  // An iterator may itself come here.
  const { data, offsets } = spare ?? { data: new Uint8Array(ROOM), offsets: new Int32Array(MANY + 1) };
  spare = null;
  let [count, end] = [0, 0];
  const give = () => {
    if (count > 0) consume(count, data, 0, offsets.subarray(0, count + 1), null);
    [count, end] = [0, 0];
  };
  for (const key of keys) {
    const bytes = bytesOf(key, 'a key');
    const length = lengthOf(bytes);
    if (count === MANY || length > ROOM - end) give();
    if (length > ROOM) {
      consume(1, ownBytesOf(bytes), length, null, null);
    } else {
      copyInto(data, bytes, end);
      end += length;
      offsets[++count] = end;
    }
  }
  give();
  spare = { data, offsets };
}

function flat(data, keyLength, offsets, consume) {
  const length = lengthOf(data);
  if (offsets === undefined) {
    if (!(Number.isInteger(keyLength) && keyLength > 0 && length % keyLength === 0)) {
      throw new RangeError(`${length} bytes are no whole number of keys of ${keyLength} bytes`);
    }
    consume(length / keyLength, data, keyLength, null, null);
    return;
  }
  if (keyLength !== undefined) throw new TypeError('keys have a keyLength or offsets, not both');
  const [short, long] = [types.isInt32Array(offsets), types.isBigInt64Array(offsets)];
  if (!short && !long) throw new TypeError(`offsets are an Int32Array or a BigInt64Array, not ${named(offsets)}`);
  if (lengthOf(offsets) === 0) {
    alive(offsets);
    throw new RangeError('offsets are one more than keys');
  }
  const own = types.isSharedArrayBuffer(placeOf[0][0](offsets))
    ? new (short ? Int32Array : BigInt64Array)(offsets) : offsets;
  consume(lengthOf(own) - 1, data, 0, short ? own : null, long ? own : null);
}

/** A number of bits or of keys. */
function integer(value, name, most) {
  if (typeof value !== 'number') throw new TypeError(`${name} is a number, not ${named(value)}`);
  if (!(Number.isInteger(value) && value >= 0 && value <= most)) {
    throw new RangeError(`${name} is an integer from 0 to ${most}, not ${value}`);
  }
  return value;
}

const keyCount = (value, name) => integer(value, name, Number.MAX_SAFE_INTEGER);

function isRibbon(encoding) {
  if (encoding !== 'bloom' && encoding !== 'ribbon') {
    throw new RangeError(`encoding is 'bloom' or 'ribbon', not ${String(encoding)}`);
  }
  return encoding === 'ribbon';
}

function options(given) {
  if (given === null || typeof given !== 'object') {
    throw new TypeError(`options are an object, not ${named(given)}`);
  }
  return given;
}

/** Properties that stay. */
function define(object, properties) {
  for (const [name, value] of Object.entries(properties)) {
    Object.defineProperty(object, name, { value, enumerable: true });
  }
}

class Policy {
  constructor(given = {}) {
    const { bitsPerKey = 10, encoding = 'bloom' } = options(given);
    const facts = native.policy(integer(bitsPerKey, 'bitsPerKey', 2 ** 31 - 1), isRibbon(encoding));
    define(this, { bitsPerKey: facts.bitsPerKey, encoding, probes: facts.probes, kernel: facts.kernel });
  }

  static forRate(rate, given) {
    const { keys, encoding = 'bloom' } = options(given);
    if (typeof rate !== 'number') throw new TypeError(`rate is a number, not ${named(rate)}`);
    if (!(rate > 0 && rate < 1)) throw new RangeError(`a false-positive rate lies between 0 and 1, not ${rate}`);
    const bitsPerKey = native.bitsPerKey(rate, keyCount(keys, 'keys'), isRibbon(encoding));
    if (bitsPerKey === null) {
      throw new RangeError(`no number of bits per key gives a rate of ${rate} in a filter of ${keys} keys`);
    }
    return new Policy({ bitsPerKey, encoding });
  }

  filterSize(keys) {
    return sizeOf(this, keyCount(keys, 'keys'));
  }

  falsePositiveRate(keys) {
    return native.falsePositiveRate(this.bitsPerKey, isRibbon(this.encoding), keyCount(keys, 'keys'));
  }

  createFilter(keys) {
    return new Builder(this).update(keys).finish();
  }
}

function sizeOf({ bitsPerKey, encoding }, keys) {
  const size = native.filterSize(bitsPerKey, isRibbon(encoding), keys);
  if (size === null) throw tooLarge(keys);
  return size;
}

function tooLarge(keys, cause) {
  return new RangeError(`a filter of ${keys} keys does not fit in memory`, { cause });
}

class Builder {
  #core;

  constructor(policy = new Policy()) {
    if (!(policy instanceof Policy)) throw new TypeError(`policy is a Policy, not ${named(policy)}`);
    this.#core = new native.Builder(policy.bitsPerKey, isRibbon(policy.encoding));
    define(this, { policy });
  }

  get size() {
    return this.#core.size();
  }

  add(key) {
    this.#core.add(ownBytesOf(key, 'a key'));
    return this;
  }

  update(keys) {
    inBatches(keys, (count, ...batch) => this.#core.addMany(...batch));
    return this;
  }

  finish(totalKeys = this.size) {
    const size = sizeOf(this.policy, keyCount(totalKeys, 'totalKeys'));
    let bytes;
    try {
      bytes = new Uint8Array(size);
    } catch (error) {
      throw tooLarge(totalKeys, error);
    }
    this.#core.finish(totalKeys, bytes);
    return hold(Object.create(Filter.prototype), bytes);
  }
}

// Seen by assert.deepStrictEqual and console.log, as a private field is not.
const BYTES = Symbol('bytes');

function hold(filter, bytes) {
  return Object.defineProperty(filter, BYTES, { value: bytes, enumerable: true });
}

function held(filter) {
  const bytes = filter?.[BYTES];
  if (bytes === undefined) throw new TypeError(`a Filter is needed, not ${named(filter)}`);
  return bytes;
}

class Filter {
  constructor(bytes) {
    hold(this, new Uint8Array(bytesOf(bytes, 'a filter')));
  }

  get length() {
    return held(this).length;
  }

  mayMatch(key) {
    return native.mayMatch(ownBytesOf(key, 'a key'), held(this));
  }

  mayMatchMany(keys) {
    const filter = held(this);
    const parts = [];
    let total = 0;
    inBatches(keys, (count, ...batch) => {
      const part = new Uint8Array(count);
      native.mayMatchMany(filter, part, ...batch);
      parts.push(part);
      total += count;
    });
    if (parts.length === 1) return parts[0];
    const answers = new Uint8Array(total);
    let end = 0;
    for (const part of parts) {
      answers.set(part, end);
      end += part.length;
    }
    return answers;
  }

  get info() {
    return native.info(held(this));
  }

  toBuffer() {
    return Buffer.from(new Uint8Array(held(this)).buffer);
  }

  equals(other) {
    return other?.[BYTES] !== undefined && Buffer.compare(held(this), held(other)) === 0;
  }

  union(other) {
    const united = new Uint8Array(held(this));
    native.union(united, held(other));
    return hold(Object.create(Filter.prototype), united);
  }
}

module.exports = { Builder, Filter, Policy };
