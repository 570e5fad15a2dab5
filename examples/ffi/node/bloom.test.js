// The wrapper of leveldb_bloom.js: golden values, a million keys, errors, worker threads, the collector.

'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const test = require('node:test');
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');
const bloom = require('./leveldb_bloom.js');

const KEY_LENGTH = 16;
const KEYS = 1_000_000;
const HALF = KEYS / 2;
const BATCH = 100_000;

if (isMainThread) main();
else work(workerData);

/** One thread's share: a part of the filter, and all answers, from memory that all threads see. */
function work({ data, filter, part }) {
  const keys = new Uint8Array(data);
  const builder = new bloom.Builder(10);
  const size = HALF / 4 * KEY_LENGTH;
  builder.addFixed(keys.subarray(part * size, (part + 1) * size), KEY_LENGTH);
  parentPort.postMessage({
    part: builder.finish(HALF).data,
    answers: new bloom.Filter(new Uint8Array(filter)).mayMatchFixed(keys, KEY_LENGTH),
  });
  builder.close();
}

function unhex(text) { return text === '-' ? Buffer.alloc(0) : Buffer.from(text, 'hex'); }

function shared(bytes) {
  const memory = new SharedArrayBuffer(bytes.length);
  new Uint8Array(memory).set(bytes);
  return memory;
}

function bestOf(rounds, work) {
  let best = Infinity;
  for (let i = 0; i < rounds; i++) {
    const start = process.hrtime.bigint();
    work();
    best = Math.min(best, Number(process.hrtime.bigint() - start));
  }
  return best / 1e9;
}

function main() {
  let golden = 0;
  test('golden values', () => {
    const lines = fs.readFileSync(process.env.LEVELDB_BLOOM_GOLDEN, 'utf8').trim().split('\n');
    for (const line of lines) {
      const [kind, ...fields] = line.split(' ');
      if (kind === 'filter') {
        const [policy, builder] = [new bloom.Policy(Number(fields[0])), new bloom.Builder(Number(fields[0]))];
        const keys = fields.slice(2).map(unhex);
        assert.deepStrictEqual(policy.createFilter(keys).data, unhex(fields[1]), line);
        keys.forEach((key) => builder.add(key));
        assert.strictEqual(builder.size, keys.length, line);
        assert.deepStrictEqual(builder.finish().data, unhex(fields[1]), line);
        assert.strictEqual(builder.size, 0, line);
        policy.close();
        builder.close();
      } else if (kind === 'hash') {
        assert.strictEqual(bloom.hash(unhex(fields[0])), parseInt(fields[1], 16), line);
      } else if (kind === 'answer') {
        const [key, filter] = [unhex(fields[0]), new bloom.Filter(unhex(fields[1]))];
        assert.strictEqual(filter.mayMatch(key), fields[2] === '1', line);
        for (const offsets of [Int32Array.of(0, key.length), BigInt64Array.of(0n, BigInt(key.length))]) {
          assert.strictEqual(filter.mayMatchOffsets(key, offsets)[0], Number(fields[2]), line);
        }
      } else {
        assert.fail(line);
      }
      golden++;
    }
  });

  test('the library', () => {
    assert.strictEqual(bloom.version(), '1.0.0');
    assert.strictEqual(bloom.bitsPerKeyFor(0.01, KEYS), 11);
    const rate = bloom.falsePositiveRate(11, KEYS);
    assert.ok(rate > 0.005 && rate < 0.01);
    const filter = new bloom.Policy().createFilter([Buffer.from('hello'), Buffer.from('world')]);
    const info = filter.inspect();
    assert.deepStrictEqual([info.bits, info.bitsSet, info.probes, info.fill], [64, 10, 6, 10 / 64]);
    assert.ok(info.estimatedKeys > 1.81 && info.estimatedKeys < 1.82);
    assert.ok(info.falsePositiveRate > 0.004 && info.falsePositiveRate < 0.005);
    const key = Buffer.from('key');
    assert.strictEqual(new bloom.Policy(44).createFilter([key]).positions(key).length, 30);
    const positions = filter.positions(Buffer.from('hello'));
    assert.strictEqual(positions.length, 6);
    for (const p of positions) assert.strictEqual(filter.data[p >> 3] >> p % 8 & 1, 1);
  });

  test('ribbon filters', () => {
    const keys = ['hello', 'world'].map((key) => Buffer.from(key));
    const [policy, builder] = [new bloom.Policy(10, 'ribbon'), new bloom.Builder(10, 'ribbon')];
    const filter = policy.createFilter(keys);
    assert.strictEqual(filter.data.toString('hex'), 'be0d050000000000b0');
    keys.forEach((key) => builder.add(key));
    assert.deepStrictEqual(builder.finish().data, filter.data);
    for (const key of keys) assert.ok(filter.mayMatch(key));
    assert.ok(!filter.mayMatch(Buffer.from('absent')));
    const info = filter.inspect();
    assert.deepStrictEqual([info.encoding, info.probes, info.falsePositiveRate], ['ribbon', 10, 2 ** -10]);
    assert.throws(() => filter.union(filter), bloom.BloomError);
    assert.throws(() => new bloom.Policy(10, 'xor'), RangeError);
  });

  // Two packages of one program may each have a copy of the file, as may two tests of one runner.
  test('another copy of the wrapper', () => {
    const file = require.resolve('./leveldb_bloom.js');
    const cached = require.cache[file];
    delete require.cache[file];
    const koffi = require('koffi');
    const { load } = koffi;
    koffi.load = (name) => load(`/nonexistent/${name}`);
    assert.throws(() => require(file), /^Error: libleveldb_bloom\.so\.1: /);
    koffi.load = load;
    const copy = require(file);
    require.cache[file] = cached;
    assert.notStrictEqual(copy, bloom);
    const filter = new copy.Policy(10).createFilter([Buffer.from('hello')]);
    assert.strictEqual(filter.inspect().probes, 6);
    assert.ok(new bloom.Filter(filter.data).mayMatch(Buffer.from('hello')));
  });

  test('ways to make one filter', () => {
    const [policy, ten, builder] = [new bloom.Policy(), new bloom.Policy(10), new bloom.Builder()];
    const data = Buffer.from('0123456789'.repeat(10));
    const keys = Array.from({ length: 20 }, (_, i) => data.subarray(5 * i, 5 * i + 5));
    const offsets = Array.from({ length: 21 }, (_, i) => 5 * i);
    for (const key of keys) builder.add(key);
    const expected = ten.createFilter(keys).data;
    for (const filter of [policy.createFilter(keys), policy.createFilterFixed(data, 5),
      policy.createFilterOffsets(data, Int32Array.from(offsets)),
      policy.createFilterOffsets(data, BigInt64Array.from(offsets, BigInt)), builder.finish()]) {
      assert.deepStrictEqual(filter.data, expected);
    }
  });

  test('buffers of wider elements', () => {
    const [policy, builder] = [new bloom.Policy(), new bloom.Builder()];
    const wide = Uint16Array.of(1, 2, 3, 4);
    const bytes = Buffer.from(wide.buffer);
    const [two, one] = [policy.createFilterFixed(bytes, 4), policy.createFilter([bytes])];
    const offsets = Int32Array.of(0, 4, 8);
    for (const data of [wide, wide.buffer, new DataView(wide.buffer)]) {
      builder.addFixed(data, 4);
      for (const filter of [policy.createFilterFixed(data, 4), policy.createFilterOffsets(data, offsets),
        builder.finish()]) assert.deepStrictEqual(filter.data, two.data);
      for (const answers of [two.mayMatchFixed(data, 4), two.mayMatchOffsets(data, offsets)]) {
        assert.deepStrictEqual(answers, Buffer.of(1, 1));
      }
      builder.add(data);
      assert.deepStrictEqual(builder.finish().data, one.data);
      assert.ok(one.mayMatch(data));
      assert.deepStrictEqual(one.positions(data), one.positions(bytes));
      assert.strictEqual(bloom.hash(data), bloom.hash(bytes));
    }
  });

  test('errors', () => {
    const status = (status, call) => assert.throws(call, (error) =>
      error instanceof bloom.BloomError && error.status === status &&
        error.message === bloom.statusMessage(status));
    const [policy, builder] = [new bloom.Policy(), new bloom.Builder()];
    const small = policy.createFilter([Buffer.from('a')]);
    status(4, () => small.union(policy.createFilter(Array(100).fill(Buffer.from('a')))));
    status(2, () => builder.finish(2n ** 63n));
    const data = Buffer.from('0123456789');
    for (const wrong of [[0, 7, 5], [-1, 7, 9], [0, 5, 11]]) {
      for (const offsets of [Int32Array.from(wrong), BigInt64Array.from(wrong, BigInt)]) {
        status(1, () => policy.createFilterOffsets(data, offsets));
        status(1, () => small.mayMatchOffsets(data, offsets));
      }
    }
    // Of no bits per key, a filter of any number of keys has its size.
    const least = new bloom.Policy(0);
    for (const none of [[0, 1], new Int32Array(0), new BigInt64Array(0)]) {
      assert.throws(() => policy.createFilterOffsets(data, none), TypeError);
      assert.throws(() => least.createFilterOffsets(data, none), TypeError);
      assert.throws(() => small.mayMatchOffsets(data, none), TypeError);
    }
    for (const length of [3, 0, 2.5, NaN, undefined]) {
      assert.throws(() => policy.createFilterFixed(data, length), RangeError);
      assert.throws(() => small.mayMatchFixed(data, length), RangeError);
      assert.throws(() => builder.addFixed(data, length), RangeError);
    }
    for (let i = 0; i < 2; i++) {
      policy.close();
      builder.close();
    }
    assert.throws(() => policy.createFilter([]), /closed/);
    assert.throws(() => builder.add(data), /closed/);
  });

  test('numbers that C has no room for', () => {
    const builder = new bloom.Builder();
    const refused = (use, numbers) => numbers.forEach((number) =>
      assert.throws(() => use(number), { name: 'RangeError', message: new RegExp(`^${number} `) }));
    for (const use of [(bits) => new bloom.Policy(bits), (bits) => new bloom.Builder(bits),
      (bits) => bloom.falsePositiveRate(bits, 1)]) {
      refused(use, [2.9, NaN, Infinity, -(2 ** 31) - 1, 2 ** 31, 2 ** 32 + 10, 2n ** 32n + 10n]);
      for (const bits of [-(2 ** 31), 2 ** 31 - 1, 10n]) use(bits);
      assert.throws(() => use('10'), TypeError);
    }
    for (const use of [(keys) => builder.finish(keys), (keys) => bloom.falsePositiveRate(10, keys),
      (keys) => bloom.bitsPerKeyFor(0.01, keys)]) {
      refused(use, [100.7, NaN, Infinity, -1, -1n, 2 ** 64, 2n ** 64n, 2n ** 64n + 100n]);
      for (const keys of [100, 100n]) use(keys);
      assert.throws(() => use('100'), TypeError);
    }
    assert.strictEqual(bloom.bitsPerKeyFor(0.01, 2n ** 64n - 1n), 0);
  });

  test('a union leaves both filters as they are', () => {
    const policy = new bloom.Policy();
    const [a, b] = ['a', 'b'].map((key) => policy.createFilter([Buffer.from(key)]).data);
    const both = policy.createFilter([Buffer.from('a'), Buffer.from('b')]).data;
    for (const copy of [
      (data) => Buffer.from(data),
      (data) => new Uint8Array(data).buffer,
      (data) => new Uint8Array([0, ...data, 0]).subarray(1, -1),
      (data) => new DataView(new Uint8Array(data).buffer),
    ]) {
      const filter = new bloom.Filter(copy(a));
      assert.deepStrictEqual(filter.union(new bloom.Filter(copy(b))).data, both);
      assert.deepStrictEqual(filter.data, copy(a));
    }
  });

  test('a filter whose bytes went to a worker', () => {
    const [key, policy] = [Buffer.from('hello'), new bloom.Policy()];
    const [sent, kept] = [policy.createFilter([key]), policy.createFilter([key])];
    structuredClone(sent.data, { transfer: [sent.data.buffer] });
    const uses = [() => sent.mayMatch(key), () => sent.mayMatchFixed(key, 5), () => sent.inspect(),
      () => sent.mayMatchOffsets(key, Int32Array.of(0, 5)), () => sent.positions(key),
      () => sent.union(kept), () => kept.union(sent)];
    for (const use of uses) assert.throws(use, /transferred/);
    assert.ok(kept.mayMatch(key));
    assert.strictEqual(new bloom.Filter(Buffer.alloc(0)).mayMatch(key), false);
  });

  test('keys whose bytes went to a worker', () => {
    const [policy, builder, sent] = [new bloom.Policy(), new bloom.Builder(), new Uint8Array(10)];
    const filter = policy.createFilter([sent]);
    structuredClone(sent, { transfer: [sent.buffer] });
    // Before version 20, buffers keep their size.
    const shrunk = new ArrayBuffer(10, { maxByteLength: 10 });
    const beyond = shrunk.resizable ? [new Uint8Array(shrunk, 5, 5)] : [];
    shrunk.resize?.(2);
    for (const gone of [sent, sent.buffer, ...beyond]) {
      const uses = [() => policy.createFilter([gone]), () => policy.createFilterFixed(gone, 5),
        () => policy.createFilterOffsets(gone, Int32Array.of(0)), () => builder.add(gone),
        () => builder.addFixed(gone, 5), () => filter.mayMatch(gone), () => filter.mayMatchFixed(gone, 5),
        () => filter.mayMatchOffsets(gone, Int32Array.of(0)), () => filter.positions(gone),
        () => bloom.hash(gone), () => new bloom.Filter(gone)];
      for (const use of uses) assert.throws(use, /detached/, `${use}`);
    }
    for (const empty of [new Uint8Array(0), Buffer.alloc(0), new ArrayBuffer(0), new DataView(new ArrayBuffer(0))]) {
      policy.createFilter([Buffer.from(new Uint8Array(empty.buffer ?? empty))]);
      builder.add(empty);
    }
    assert.strictEqual(builder.size, 4);
  });

  test('the collector', async () => {
    assert.ok(global.gc, 'run with --expose-gc');
    // What is closed at once, and what is left to the collector: of 40 MB each, which
    // malloc does not keep.
    const keys = Buffer.alloc(10 * KEYS);
    const before = process.memoryUsage().rss;
    const left = () => process.memoryUsage().rss - before;
    for (let i = 0; i < 10; i++) {
      const builder = new bloom.Builder();
      builder.addFixed(keys, 1);
      builder.close();
    }
    assert.ok(left() < 100 * KEYS, `${left()} bytes left`);
    (() => {
      for (let i = 0; i < 10; i++) new bloom.Builder().addFixed(keys, 1);
    })();
    for (let i = 0; i < 100 && left() > 100 * KEYS; i++) {
      global.gc();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.ok(left() < 100 * KEYS, `${left()} bytes left`);
  });

  test('a million keys', async () => {
    const data = Buffer.concat(Array.from({ length: KEYS },
      (_, i) => Buffer.from(`key-${String(i).padStart(12, '0')}`)));
    const half = data.subarray(0, HALF * KEY_LENGTH);
    const policy = new bloom.Policy(10);
    const filter = policy.createFilterFixed(half, KEY_LENGTH);
    const answers = filter.mayMatchFixed(data, KEY_LENGTH);
    const offsets = new Int32Array(KEYS + 1);
    let matches = 0;
    for (let i = 0; i < KEYS; i++) {
      const answer = filter.mayMatch(data.subarray(i * KEY_LENGTH, (i + 1) * KEY_LENGTH));
      if (answer !== (answers[i] === 1)) assert.fail(`key ${i}`);
      matches += answers[i];
      offsets[i + 1] = (i + 1) * KEY_LENGTH;
    }
    assert.ok(filter.mayMatchOffsets(data, offsets).equals(answers));

    const memory = { data: shared(data), filter: shared(filter.data) };
    const parts = await Promise.all([0, 1, 2, 3].map((part) => new Promise((resolve, reject) => {
      const worker = new Worker(__filename, { workerData: { ...memory, part } });
      worker.on('message', resolve).on('error', reject);
    })));
    for (const part of parts) assert.ok(answers.equals(part.answers));
    assert.ok(filter.data.equals(parts.map(({ part }) => new bloom.Filter(part))
      .reduce((all, part) => all.union(part)).data));

    const some = Array.from({ length: 1000 }, (_, i) =>
      Buffer.from(data.subarray((HALF - 500 + i) * KEY_LENGTH, (HALF - 499 + i) * KEY_LENGTH)));
    let found = 0;
    const one = bestOf(200, () => { for (const key of some) if (filter.mayMatch(key)) found++; });
    const batch = data.subarray((HALF - BATCH / 2) * KEY_LENGTH, (HALF + BATCH / 2) * KEY_LENGTH);
    const query = bestOf(200, () => filter.mayMatchFixed(batch, KEY_LENGTH));
    const build = bestOf(200, () => policy.createFilterFixed(batch, KEY_LENGTH));
    console.log('\n' + JSON.stringify({
      language: 'JavaScript', through: `koffi ${require('koffi').version}`,
      runtime: `Node ${process.versions.node}`, library: bloom.version(), active: bloom.active(),
      kernel: policy.kernel, golden, matches,
      filter_hash: bloom.hash(filter.data).toString(16).padStart(8, '0'),
      call_ns: Math.round(one / some.length * 1e10) / 10,
      query_keys_per_s: Math.round(BATCH / query), build_keys_per_s: Math.round(BATCH / build),
    }));
  });
}
