// What may be a key, what may hold keys, and what is refused.

'use strict';

const assert = require('node:assert');
const test = require('node:test');
const vm = require('node:vm');
const { Builder, Filter, Policy } = require('leveldb-bloom');

const bytes = Buffer.from('hello wd');
const some = new Policy().createFilter([bytes]);

const USES = {
  createFilter: (key) => new Policy().createFilter([Buffer.from('a'), key]),
  mayMatchMany: (key) => some.mayMatchMany([Buffer.from('a'), key]),
  update: (key) => new Builder().update([key].values()),
  add: (key) => new Builder().add(key),
  mayMatch: (key) => some.mayMatch(key),
  Filter: (key) => new Filter(key),
  data: (data) => new Policy().createFilter({ data, keyLength: 4 }),
  'asked data': (data) => some.mayMatchMany({ data, offsets: Int32Array.of(0) }),
};

const refused = (key, name, message) => {
  for (const [use, call] of Object.entries(USES)) assert.throws(() => call(key), { name, message }, use);
};

function inside(make = (length) => new ArrayBuffer(length)) {
  const memory = make(bytes.length + 16);
  new Uint8Array(memory).fill(7).set(bytes, 8);
  return memory;
}

const shared = (length) => new SharedArrayBuffer(length);
const resizable = (length) => new ArrayBuffer(length, { maxByteLength: 64 });

test('bytes-like keys', () => {
  const whole = new Uint8Array(bytes).buffer;
  const sharedWhole = shared(bytes.length);
  new Uint8Array(sharedWhole).set(bytes);
  const alike = [bytes, new Uint8Array(bytes), new Uint8ClampedArray(bytes), new Int8Array(bytes), new Uint32Array(whole),
    new Float64Array(whole), new BigInt64Array(whole), new DataView(whole), whole, sharedWhole, new DataView(sharedWhole),
    new (class Key extends Uint8Array {})(bytes), vm.runInNewContext(`new Uint8Array([${[...bytes]}])`),
    vm.runInNewContext(`new Uint8Array([${[...bytes]}]).buffer`)];
  for (const make of [undefined, shared, resizable]) {
    alike.push(new Uint8Array(inside(make), 8, 8), Buffer.from(inside(make), 8, 8), new DataView(inside(make), 8, 8),
      new Int16Array(inside(make), 8, 4));
  }
  for (const key of alike) {
    assert.ok(new Policy().createFilter([key]).equals(some));
    assert.ok(new Builder().add(key).finish().equals(some));
    assert.ok(new Policy().createFilter({ data: key, keyLength: 8 }).equals(some));
    assert.ok(some.mayMatch(key));
    assert.deepStrictEqual(some.mayMatchMany([key, Buffer.from('absent')]), Uint8Array.of(1, 0));
    assert.deepStrictEqual(new Filter(key).toBuffer(), bytes);
  }
  for (const empty of [Buffer.alloc(0), new ArrayBuffer(0), new DataView(new ArrayBuffer(0)), new Uint8Array(shared(0))]) {
    assert.ok(new Policy().createFilter([empty]).equals(new Policy().createFilter([new Uint8Array(0)])));
    assert.ok(new Policy().createFilter([empty]).mayMatch(empty));
    assert.strictEqual(new Filter(empty).length, 0);
  }
});

test('flat keys', () => {
  const policy = new Policy();
  const text = '0123456789'.repeat(10);
  const data = Buffer.from(`?${text}?`).subarray(1, -1);
  const keys = Array.from({ length: 20 }, (_, i) => data.subarray(5 * i, 5 * i + 5));
  const offsets = Array.from({ length: 21 }, (_, i) => 5 * i);
  const expected = policy.createFilter(keys);
  const memory = { 32: new Int32Array(shared(84)), 64: new BigInt64Array(shared(168)) };
  memory[32].set(offsets);
  memory[64].set(offsets.map(BigInt));
  for (const flat of [{ data, keyLength: 5 }, { data, offsets: Int32Array.from(offsets) },
    { data, offsets: BigInt64Array.from(offsets, BigInt) }, { data, offsets: memory[32] }, { data, offsets: memory[64] },
    { data, offsets: Int32Array.of(9, ...offsets, 9).subarray(1, -1) }]) {
    assert.ok(policy.createFilter(flat).equals(expected));
    assert.ok(new Builder().update(flat).finish().equals(expected));
    assert.deepStrictEqual(expected.mayMatchMany(flat), new Uint8Array(20).fill(1));
    const other = policy.createFilter(keys.slice(0, 1));
    assert.deepStrictEqual(other.mayMatchMany(flat), other.mayMatchMany(keys));
  }
  const lengths = Int32Array.of(2, 2, 3, 3, 7);
  const uneven = ['', '2', '', '3456'].map((key) => Buffer.from(key));
  assert.ok(policy.createFilter({ data, offsets: lengths }).equals(policy.createFilter(uneven)));
  for (const none of [{ data: Buffer.alloc(0), keyLength: 5 }, { data, offsets: Int32Array.of(3) }]) {
    assert.ok(policy.createFilter(none).equals(policy.createFilter([])));
    assert.deepStrictEqual(expected.mayMatchMany(none), new Uint8Array(0));
  }
  // More than what is done at once.
  const [many, wide] = [Buffer.alloc(30_000, 'abcdefg'), 3];
  const each = Array.from({ length: 10_000 }, (_, i) => many.subarray(wide * i, wide * i + wide));
  const small = policy.createFilter(each.slice(0, 5));
  assert.deepStrictEqual(small.mayMatchMany({ data: many, keyLength: wide }), small.mayMatchMany(each));
});

test('wrong flat keys', () => {
  const data = Buffer.from('0123456789');
  const wrong = (flat, name, message) => {
    for (const use of [(keys) => new Policy().createFilter(keys), (keys) => some.mayMatchMany(keys),
      (keys) => new Builder().update(keys)]) assert.throws(() => use(flat), { name, message });
  };
  for (const keyLength of [3, 0, 2.5, NaN, -5, Infinity, 2 ** 53, undefined, null, '5', 5n]) {
    wrong({ data, keyLength }, 'RangeError', /no whole number of keys/);
  }
  for (const offsets of [[0, 7, 5], [-1, 7, 9], [0, 5, 11], [2, 1], [0, 2 ** 31 - 1], [-5, -3]]) {
    wrong({ data, offsets: Int32Array.from(offsets) }, 'Error', /do not describe keys/);
    wrong({ data, offsets: BigInt64Array.from(offsets, BigInt) }, 'Error', /do not describe keys/);
  }
  wrong({ data, offsets: BigInt64Array.of(0n, 2n ** 63n - 1n) }, 'Error', /do not describe keys/);
  wrong({ data, offsets: BigInt64Array.of(2n ** 32n, 2n ** 32n + 1n) }, 'Error', /do not describe keys/);
  for (const offsets of [[0, 5], 5, null, 'x', new Uint32Array(2), new Float64Array(2), {}]) {
    wrong({ data, offsets }, 'TypeError', /^offsets are/);
  }
  wrong({ data, offsets: new Int32Array(0) }, 'RangeError', /one more than keys/);
  const sent = Int32Array.of(0, 5);
  structuredClone(sent, { transfer: [sent.buffer] });
  wrong({ data, offsets: sent }, 'TypeError', /detached/);
  wrong({ data, keyLength: 5, offsets: Int32Array.of(0, 5) }, 'TypeError', /not both/);
  wrong({ data: 'text', keyLength: 4 }, 'TypeError', /encode/);
  wrong({ data: ['text'], keyLength: 4 }, 'TypeError', /not Array/);
});

test('text and numbers are refused', () => {
  refused('text', 'TypeError', /is bytes, not text: encode it, as in Buffer\.from\(text\)/);
  for (const number of [1, 1.5, NaN, 10n]) refused(number, 'TypeError', /is bytes, not a number: encode it/);
  for (const [wrong, said] of [[null, 'null'], [true, 'a boolean'], [Symbol('a'), 'a symbol'], [[1], 'Array'], [{}, 'Object'],
    [() => {}, 'Function'], [Object('text'), 'String'], [new Map(), 'Map'], [Object.create(Uint8Array.prototype), 'Object'],
    [Object.create(bytes), 'Object'], [new Proxy(bytes, {}), 'Object'], [{ byteLength: 4, length: 4 }, 'Object'],
    [Object.create(null), 'Object']]) {
    refused(wrong, 'TypeError', new RegExp(`is bytes, a Uint8Array or the like, not ${said}`));
  }
});

test('what holds no keys is refused', () => {
  for (const use of [(keys) => new Policy().createFilter(keys), (keys) => some.mayMatchMany(keys),
    (keys) => new Builder().update(keys)]) {
    assert.throws(() => use('hello'), { name: 'TypeError', message: /encode/ });
    for (const one of [bytes, new Float64Array(3), new DataView(new ArrayBuffer(3))]) {
      assert.throws(() => use(one), { name: 'TypeError', message: /\{ data, keyLength \}/ });
    }
    for (const wrong of [undefined, null, 1, {}, new ArrayBuffer(8), { [Symbol.iterator]: 1 }, async function* () {}(),
      { data: undefined, keyLength: 5 }]) {
      assert.throws(() => use(wrong), { name: 'TypeError', message: /^keys are an iterable of bytes/ });
    }
    for (const wrong of [['text'], [1], [[bytes]], new Map([[bytes, 1]]), [, bytes], { [Symbol.iterator]: () => 1 },
      { [Symbol.iterator]: () => ({ next: () => 1 }) }]) assert.throws(() => use(wrong), TypeError);
  }
});

test('errors of iterators pass', () => {
  let closed = 0;
  function* keys() {
    try {
      yield bytes;
      throw new EvalError('gone');
    } finally {
      closed++;
    }
  }
  function* text() {
    try {
      yield bytes;
      yield 'text';
    } finally {
      closed++;
    }
  }
  for (const use of [(given) => new Policy().createFilter(given), (given) => some.mayMatchMany(given),
    (given) => new Builder().update(given)]) {
    assert.throws(() => use(keys()), { name: 'EvalError', message: 'gone' });
    assert.throws(() => use(text()), /encode/);
    assert.throws(() => use({ get data() { throw new EvalError('gone'); } }), EvalError);
  }
  assert.strictEqual(closed, 6);
  // What was done by then does not disturb what follows.
  assert.ok(new Policy().createFilter([bytes]).equals(some));
});

test('iterators that come here themselves', () => {
  const keys = Array.from({ length: 10_000 }, (_, i) => Buffer.from(`${i}`));
  const builder = new Builder();
  function* nested() {
    for (const key of keys) {
      if (new Policy().createFilter([key]).mayMatchMany(new Set([key]))[0] !== 1) assert.fail(`${key}`);
      builder.add(key);
      yield key;
    }
  }
  builder.update(nested());
  assert.strictEqual(builder.size, 20_000);
  assert.ok(builder.finish(10_000).equals(new Policy().createFilter(keys)));
});

test('an iterator that changes its key', () => {
  const key = Buffer.alloc(5);
  function* reused() {
    for (const text of ['hello', 'world']) {
      key.write(text);
      yield key;
    }
  }
  assert.ok(new Policy().createFilter(reused()).equals(new Policy().createFilter([Buffer.from('hello'), Buffer.from('world')])));
});

test('memory that is gone', () => {
  const sent = new Uint8Array(8);
  const buffer = sent.buffer;
  const views = [sent, buffer, new DataView(buffer), new Int16Array(buffer)];
  structuredClone(sent, { transfer: [buffer] });
  for (const gone of views) refused(gone, 'TypeError', /detached|out of bounds|outside/i);

  if (!resizable(8).resizable) return;
  const memory = resizable(32);
  const whole = [new Uint8Array(memory), new Int16Array(memory), new DataView(memory)];
  const late = [new Uint8Array(memory, 24, 8), new Int16Array(memory, 24, 4), new DataView(memory, 24, 8)];
  memory.resize(16);
  for (const gone of late) refused(gone, 'TypeError', /detached|out of bounds|outside/i);
  // Those without a length follow.
  for (const view of whole) {
    assert.ok(new Policy().createFilter([view]).equals(new Policy().createFilter([Buffer.alloc(16)])));
    assert.ok(new Policy().createFilter([Buffer.alloc(16)]).mayMatch(view));
  }
  memory.resize(32);
  for (const view of late) assert.ok(new Policy().createFilter([Buffer.alloc(8)]).mayMatch(view));

  // Gone in the middle of a call.
  const left = new Uint8Array(8);
  function* takes() {
    yield left;
    structuredClone(left, { transfer: [left.buffer] });
    yield left;
  }
  assert.throws(() => new Policy().createFilter(takes()), TypeError);
  const data = new Uint8Array(8);
  const flat = { data, get keyLength() { structuredClone(data, { transfer: [data.buffer] }); return 4; } };
  assert.throws(() => new Policy().createFilter(flat), TypeError);
});

test('what a key says of itself is not asked', () => {
  const liar = Buffer.from(bytes);
  for (const [name, value] of Object.entries({ length: 1e9, byteLength: 1e9, byteOffset: 1e9, buffer: null,
    constructor: null, [Symbol.toStringTag]: 'Nothing', subarray: null, slice: null })) {
    Object.defineProperty(liar, name, { value });
  }
  class Liar extends Uint8Array {
    get length() { return 1e9; }
    get byteLength() { return 1e9; }
    get buffer() { throw new Error('asked'); }
    static get [Symbol.species]() { throw new Error('asked'); }
    [Symbol.iterator]() { throw new Error('asked'); }
  }
  const orphan = new Uint8Array(bytes);
  Object.setPrototypeOf(orphan, null);
  const masked = new DataView(new Uint8Array(bytes).buffer);
  Object.setPrototypeOf(masked, Uint8Array.prototype);
  for (const key of [liar, new Liar(bytes), orphan, masked]) {
    assert.ok(new Policy().createFilter([key]).equals(some));
    assert.ok(new Policy().createFilter({ data: key, keyLength: 8 }).equals(some));
    assert.ok(new Builder().add(key).finish().equals(some));
    assert.ok(some.mayMatch(key));
    assert.deepStrictEqual(new Filter(key).toBuffer(), bytes);
  }
});

test('methods of other objects', () => {
  const getter = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  for (const other of [undefined, null, {}, bytes, Object.create(Filter.prototype), Object.create(Builder.prototype),
    Object.create(Policy.prototype), new Map()]) {
    for (const [type, names] of [[Filter, ['mayMatch', 'mayMatchMany', 'toBuffer', 'equals', 'union']],
      [Builder, ['add', 'update', 'finish']], [Policy, ['createFilter', 'filterSize', 'falsePositiveRate']]]) {
      for (const name of names) {
        assert.throws(() => type.prototype[name].call(other, ['equals', 'union'].includes(name) ? some : bytes), name);
      }
    }
    for (const [type, name] of [[Filter, 'length'], [Filter, 'info'], [Builder, 'size']]) {
      assert.throws(() => getter(type, name).call(other), name);
    }
    assert.throws(() => some.union(other));
    assert.ok(!some.equals(Object.create(Filter.prototype)));
  }
});
