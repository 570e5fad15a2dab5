// Policies, filters and builders.

'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const test = require('node:test');
const util = require('node:util');
const { Builder, Filter, Policy } = require('leveldb-bloom');
const { million } = require('./keys.js');

// The filter of half a million of the tests' keys matches so many of a million: from LevelDB's own
// policy, as in scripts/ffi/results.py.
const MATCHES = 512283;

const unhex = (text) => (text === '-' ? Buffer.alloc(0) : Buffer.from(text, 'hex'));
const [hello, world, absent] = ['hello', 'world', 'absent'].map((text) => Buffer.from(text));
const ones = (number) => new Uint8Array(number).fill(1);
const bigEndian = (number) => {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt(number));
  return key;
};

test('golden values', () => {
  const kinds = new Set();
  for (const line of fs.readFileSync(process.env.LEVELDB_BLOOM_GOLDEN, 'utf8').trim().split('\n')) {
    const [kind, ...fields] = line.split(' ');
    kinds.add(kind);
    if (kind === 'filter') {
      const made = new Policy({ bitsPerKey: Number(fields[0]) }).createFilter(fields.slice(2).map(unhex));
      assert.deepStrictEqual(made.toBuffer(), unhex(fields[1]), line);
    } else if (kind === 'answer') {
      const [key, asked] = [unhex(fields[0]), new Filter(unhex(fields[1]))];
      assert.strictEqual(asked.mayMatch(key), fields[2] === '1', line);
      assert.deepStrictEqual(asked.mayMatchMany([key]), Uint8Array.of(Number(fields[2])), line);
    }
  }
  assert.deepStrictEqual([...kinds].sort(), ['answer', 'filter', 'hash']);
});

test('a million keys', () => {
  const members = new Policy().createFilter(million.slice(0, 500_000));
  const answers = members.mayMatchMany(million);
  assert.strictEqual(answers.length, million.length);
  assert.strictEqual(answers.reduce((sum, answer) => sum + answer), MATCHES);
  million.forEach((key, i) => {
    if (members.mayMatch(key) !== (answers[i] === 1)) assert.fail(`key ${i}`);
  });
});

test('batches', () => {
  for (const number of [0, 1, 2, 999, 4095, 4096, 4097, 8192, 40_000]) {
    const keys = million.slice(0, number);
    const builder = new Builder();
    for (const key of keys) assert.strictEqual(builder.add(key), builder);
    assert.strictEqual(builder.size, number);
    const expected = builder.finish();
    assert.strictEqual(builder.size, 0);
    assert.strictEqual(expected.length, new Policy().filterSize(number));
    for (const iterable of [() => keys, () => new Set(keys), () => keys.values(), () => new Map(keys.entries()).values(),
      function* () { yield* keys; }]) {
      assert.ok(new Policy().createFilter(iterable()).equals(expected));
      assert.ok(new Builder().update(iterable()).finish().equals(expected));
      assert.deepStrictEqual(expected.mayMatchMany(iterable()), ones(number));
    }
  }
});

test('long keys', () => {
  for (const length of [65_535, 65_536, 65_537, 1_000_000]) {
    const keys = [hello, Buffer.alloc(length, 1), world, Buffer.alloc(length, 2), Buffer.alloc(0)];
    const builder = new Builder();
    keys.forEach((key) => builder.add(key));
    const expected = builder.finish();
    assert.ok(new Policy().createFilter(keys).equals(expected));
    assert.deepStrictEqual(expected.mayMatchMany(keys), ones(5));
  }
});

test('policies', () => {
  const policy = new Policy();
  assert.deepStrictEqual([policy.bitsPerKey, policy.encoding, policy.probes], [10, 'bloom', 6]);
  assert.ok(['avx512', 'avx2', 'portable'].includes(policy.kernel));
  assert.deepStrictEqual(new Policy({ bitsPerKey: 10, encoding: 'bloom' }), policy);
  assert.notDeepStrictEqual(new Policy({ bitsPerKey: 9 }), policy);
  assert.notDeepStrictEqual(new Policy({ encoding: 'ribbon' }), policy);
  // As a worker gets it.
  assert.deepStrictEqual(new Policy(structuredClone(new Policy({ bitsPerKey: 7 }))), new Policy({ bitsPerKey: 7 }));
  assert.deepStrictEqual(Policy.forRate(0.01, { keys: 1000 }), policy);
  assert.ok(policy.falsePositiveRate(1000) <= 0.01 && new Policy({ bitsPerKey: 9 }).falsePositiveRate(1000) > 0.01);
  assert.strictEqual(new Policy({ bitsPerKey: 0 }).filterSize(1000), 9);
  assert.match(util.inspect(policy), /bitsPerKey: 10,\s+encoding: 'bloom'/);
  assert.throws(() => { policy.bitsPerKey = 5; }, TypeError);
});

test('wrong policies', () => {
  for (const wrong of [-1, 2 ** 31, 2 ** 32 + 10, 10.5, NaN, Infinity]) {
    assert.throws(() => new Policy({ bitsPerKey: wrong }), { name: 'RangeError', message: /^bitsPerKey is an integer/ });
  }
  for (const wrong of ['10', 10n, null, true, {}]) {
    assert.throws(() => new Policy({ bitsPerKey: wrong }), { name: 'TypeError', message: /^bitsPerKey is a number/ });
  }
  for (const wrong of ['ribon', '', 'BLOOM', null, 1, Symbol('bloom'), 'constructor']) {
    assert.throws(() => new Policy({ encoding: wrong }), { name: 'RangeError', message: /^encoding is/ });
    assert.throws(() => Policy.forRate(0.01, { keys: 10, encoding: wrong }), /^RangeError: encoding is/);
  }
  for (const wrong of [10, null, 'bloom']) assert.throws(() => new Policy(wrong), TypeError);
  for (const wrong of [0, 1, -1, 2, NaN, Infinity]) {
    assert.throws(() => Policy.forRate(wrong, { keys: 10 }), { name: 'RangeError', message: /between 0 and 1/ });
  }
  assert.throws(() => Policy.forRate('0.01', { keys: 10 }), TypeError);
  assert.throws(() => Policy.forRate(0.01), TypeError);
  assert.throws(() => Policy.forRate(0.01, {}), { name: 'TypeError', message: /^keys is a number/ });
  for (const wrong of [-1, 1.5, 2 ** 53]) assert.throws(() => Policy.forRate(0.01, { keys: wrong }), RangeError);
  assert.throws(() => Policy.forRate(0.001, { keys: 50_000_000 }), /no number of bits/);
  assert.throws(() => Policy(), TypeError);
});

test('ribbon filters', () => {
  const ten = new Policy({ bitsPerKey: 10, encoding: 'ribbon' });
  for (const bitsPerKey of [1, 7, 10, 13]) {
    const policy = new Policy({ bitsPerKey, encoding: 'ribbon' });
    assert.deepStrictEqual([policy.bitsPerKey, policy.encoding], [bitsPerKey, 'ribbon']);
    assert.strictEqual(policy.falsePositiveRate(5), 2 ** -bitsPerKey);
    assert.deepStrictEqual(Policy.forRate(2 ** -bitsPerKey, { keys: 5, encoding: 'ribbon' }), policy);
    for (const number of [1, 6, 64, 65, 3000]) {
      const keys = Array.from({ length: number }, (_, i) => bigEndian(2 * i));
      const made = policy.createFilter(keys);
      assert.strictEqual(made.length, policy.filterSize(number));
      assert.ok(new Builder(policy).update(keys.values()).finish().equals(made));
      assert.deepStrictEqual(made.mayMatchMany(keys), ones(number));
      assert.deepStrictEqual([made.info.encoding, made.info.probes], ['ribbon', bitsPerKey]);
      assert.strictEqual(made.info.falsePositiveRate, 2 ** -bitsPerKey);
      assert.throws(() => made.union(made), { name: 'Error', message: /united/ });
    }
  }
  const asked = Array.from({ length: 3000 }, (_, i) => bigEndian(2 * i + 1));
  const passed = (policy) => policy.createFilter(asked.map((key) => key.map((byte, i) => (i === 7 ? byte - 1 : byte))))
    .mayMatchMany(asked).reduce((sum, answer) => sum + answer);
  assert.ok(passed(ten) < 20);
  // As the core limits them.
  assert.strictEqual(new Policy({ bitsPerKey: 100, encoding: 'ribbon' }).bitsPerKey, 13);
  assert.strictEqual(new Policy({ bitsPerKey: 0, encoding: 'ribbon' }).bitsPerKey, 1);
  assert.strictEqual(Policy.forRate(0.01, { keys: 5, encoding: 'ribbon' }).bitsPerKey, 7);
  assert.throws(() => Policy.forRate(0.0001, { keys: 5, encoding: 'ribbon' }), /no number of bits/);
});

test('sizes beyond memory', () => {
  const builder = new Builder().add(hello);
  for (const tooMany of [2 ** 53 - 1, 2 ** 50, 2 ** 46]) {
    assert.throws(() => builder.finish(tooMany), { name: 'RangeError', message: /does not fit in memory/ });
  }
  const most = new Policy({ bitsPerKey: 2 ** 31 - 1 });
  assert.throws(() => most.filterSize(2 ** 53 - 1), /does not fit in memory/);
  assert.throws(() => new Builder(most).finish(2 ** 53 - 1), /does not fit in memory/);
  for (const wrong of [-1, 1.5, NaN, 2 ** 53, Infinity]) assert.throws(() => builder.finish(wrong), RangeError);
  for (const wrong of ['1', 1n, null]) assert.throws(() => builder.finish(wrong), TypeError);
  assert.strictEqual(builder.size, 1);
  assert.ok(builder.finish().mayMatch(hello));
});

test('filters are values', () => {
  const [first, second] = [hello, world].map((key) => new Policy().createFilter([key]));
  const copy = new Filter(first.toBuffer());
  assert.ok(first.equals(copy) && copy.equals(first) && !first.equals(second));
  for (const other of [undefined, null, first.toBuffer(), {}, 'hello']) assert.ok(!first.equals(other));
  assert.deepStrictEqual(copy, first);
  assert.notDeepStrictEqual(second, first);
  assert.deepStrictEqual([first.length, first.toBuffer().length], [9, 9]);
  for (const unknown of ['', '06', '00'.repeat(9), 'ff'.repeat(9)]) {
    assert.strictEqual(new Filter(unhex(unknown)).toBuffer().toString('hex'), unknown);
  }
  assert.ok(Buffer.isBuffer(first.toBuffer()));
  assert.throws(() => { first.length = 3; }, TypeError);
  // Its bytes are its own.
  const data = first.toBuffer();
  const made = new Filter(data);
  const before = data.toString('hex');
  data.fill(0);
  made.toBuffer().fill(0);
  for (const filter of [made, first]) assert.strictEqual(filter.toBuffer().toString('hex'), before);
  assert.throws(() => new Filter(8), TypeError);
  assert.throws(() => new Filter(), TypeError);
  assert.throws(() => Filter(data), TypeError);
});

test('union', () => {
  const policy = new Policy();
  const keys = million.slice(0, 100);
  const parts = [0, 25, 50, 75].map((start) => new Builder(policy).update(keys.slice(start, start + 25)).finish(100));
  const before = parts[0].toBuffer();
  const whole = parts.reduce((all, part) => all.union(part));
  assert.ok(whole.equals(policy.createFilter(keys)));
  assert.ok(parts.reverse().reduce((all, part) => all.union(part)).equals(whole));
  assert.deepStrictEqual(parts[3].toBuffer(), before);
  assert.ok(whole.union(whole).equals(whole));
  for (const other of [new Filter(Buffer.alloc(9)), new Policy({ bitsPerKey: 5 }).createFilter(keys), new Filter(Buffer.alloc(0))]) {
    assert.throws(() => whole.union(other), { name: 'Error', message: /same length/ });
  }
  for (const other of [undefined, null, before, {}, Object.create(null)]) assert.throws(() => whole.union(other), TypeError);
});

test('info', () => {
  const { info } = new Policy().createFilter([hello, world]);
  const { estimatedKeys, falsePositiveRate, ...rest } = info;
  assert.deepStrictEqual(rest, { encoding: 'bloom', probes: 6, bits: 64, bitsSet: 10, fill: 10 / 64 });
  assert.ok(Math.abs(estimatedKeys - 2) < 0.3 && falsePositiveRate > 0 && falsePositiveRate < 0.01);
  assert.strictEqual(new Filter(Buffer.alloc(0)).info.falsePositiveRate, 0);
  assert.strictEqual(new Filter(Buffer.alloc(9, 0x1f)).info.estimatedKeys, Infinity);
});

test('builders', () => {
  const builder = new Builder();
  assert.deepStrictEqual(builder.policy, new Policy());
  assert.throws(() => { builder.policy = new Policy(); }, TypeError);
  assert.ok(builder.add(hello).finish().mayMatch(hello));
  assert.ok(builder.finish().equals(new Policy().createFilter([])));
  assert.ok(!builder.finish().mayMatch(absent));
  for (const wrong of [10, null, {}, 'bloom']) assert.throws(() => new Builder(wrong), TypeError);
});
