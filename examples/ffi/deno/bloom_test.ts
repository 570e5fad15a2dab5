// The wrapper of leveldb_bloom.ts: golden values, a million keys, errors, workers, the collector.

import * as bloom from "./leveldb_bloom.ts";

const KEY_LENGTH = 16;
const KEYS = 1_000_000;
const HALF = KEYS / 2;
const BATCH = 100_000;
const encoder = new TextEncoder();

function check(condition: boolean, what: unknown): asserts condition {
  if (!condition) throw new Error(`not so: ${what}`);
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function unhex(text: string): bloom.Bytes {
  return Uint8Array.from(text === "-" ? [] : text.match(/../g)!, (byte) => parseInt(byte, 16));
}

function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

function bestOf(rounds: number, work: () => unknown): number {
  let best = Infinity;
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    work();
    best = Math.min(best, performance.now() - start);
  }
  return best / 1e3;
}

let golden = 0;

Deno.test("golden values", () => {
  const lines = Deno.readTextFileSync(Deno.env.get("LEVELDB_BLOOM_GOLDEN")!).trim().split("\n");
  for (const line of lines) {
    const [kind, ...fields] = line.split(" ");
    if (kind === "filter") {
      using policy = new bloom.Policy(Number(fields[0]));
      using builder = new bloom.Builder(Number(fields[0]));
      const keys = fields.slice(2).map(unhex);
      check(equal(policy.createFilter(keys).data, unhex(fields[1])), line);
      keys.forEach((key) => builder.add(key));
      check(builder.size === keys.length, line);
      check(equal(builder.finish().data, unhex(fields[1])), line);
      check(builder.size === 0, line);
    } else if (kind === "hash") {
      check(bloom.hash(unhex(fields[0])) === parseInt(fields[1], 16), line);
    } else {
      check(kind === "answer", line);
      const key = unhex(fields[0]);
      const filter = new bloom.Filter(unhex(fields[1]));
      check(filter.mayMatch(key) === (fields[2] === "1"), line);
      for (const offsets of [Int32Array.of(0, key.length), BigInt64Array.of(0n, BigInt(key.length))]) {
        check(filter.mayMatchOffsets(key, offsets)[0] === Number(fields[2]), line);
      }
    }
    golden++;
  }
});

Deno.test("ribbon filters", () => {
  using policy = new bloom.Policy(10, "ribbon");
  using builder = new bloom.Builder(10, "ribbon");
  const keys = ["hello", "world"].map((key) => encoder.encode(key));
  const filter = policy.createFilter(keys);
  keys.forEach((key) => builder.add(key));
  check(equal(builder.finish().data, filter.data), "builder");
  check(keys.every((key) => filter.mayMatch(key)), "present keys");
  check(!filter.mayMatch(encoder.encode("absent")), "an absent key");
  const info = filter.inspect();
  check(info.encoding === "ribbon" && info.probes === 10, JSON.stringify(info));
  check(info.falsePositiveRate === 2 ** -10, info.falsePositiveRate);
  check(thrown(() => filter.union(filter)) instanceof bloom.BloomError, "union");
});

Deno.test("the library", () => {
  check(bloom.version() === "1.0.0", bloom.version());
  check(bloom.bitsPerKeyFor(0.01, KEYS) === 11, "bits per key");
  const rate = bloom.falsePositiveRate(11, KEYS);
  check(rate > 0.005 && rate < 0.01, rate);
  using policy = new bloom.Policy();
  const filter = policy.createFilter([encoder.encode("hello"), encoder.encode("world")]);
  const info = filter.inspect();
  check(info.bits === 64 && info.bitsSet === 10 && info.probes === 6, JSON.stringify(info));
  check(info.fill === 10 / 64, info.fill);
  check(info.estimatedKeys > 1.81 && info.estimatedKeys < 1.82, info.estimatedKeys);
  check(info.falsePositiveRate > 0.004 && info.falsePositiveRate < 0.005, info.falsePositiveRate);
  const positions = filter.positions(encoder.encode("hello"));
  check(positions.length === 6, positions);
  check(positions.every((p) => (filter.data[p >> 3] >> p % 8 & 1) === 1), positions);
  const key = encoder.encode("key");
  using most = new bloom.Policy(44);
  check(most.createFilter([key]).positions(key).length === 30, "probes");
});

Deno.test("ways to make one filter", () => {
  using policy = new bloom.Policy();
  using ten = new bloom.Policy(10);
  using builder = new bloom.Builder();
  const data = encoder.encode("0123456789".repeat(10));
  const keys = Array.from({ length: 20 }, (_, i) => data.subarray(5 * i, 5 * i + 5));
  const offsets = Array.from({ length: 21 }, (_, i) => 5 * i);
  keys.forEach((key) => builder.add(key));
  const expected = ten.createFilter(keys).data;
  for (const filter of [
    policy.createFilter(keys),
    policy.createFilterFixed(data, 5),
    policy.createFilterOffsets(data, Int32Array.from(offsets)),
    policy.createFilterOffsets(data, BigInt64Array.from(offsets.map(BigInt))),
    builder.finish(),
  ]) check(equal(filter.data, expected), filter.data);
});

Deno.test("errors", () => {
  const status = (status: number, call: () => unknown) => {
    const error = thrown(call);
    check(error instanceof bloom.BloomError && error.status === status, error);
    check(error.message === bloom.statusMessage(status), error);
  };
  const policy = new bloom.Policy();
  const builder = new bloom.Builder();
  const a = encoder.encode("a");
  const small = policy.createFilter([a]);
  status(4, () => small.union(policy.createFilter(Array(100).fill(a))));
  status(2, () => builder.finish(2n ** 63n));
  const data = encoder.encode("0123456789");
  for (const wrong of [[0, 7, 5], [-1, 7, 9], [0, 5, 11]]) {
    for (const offsets of [Int32Array.from(wrong), BigInt64Array.from(wrong.map(BigInt))]) {
      status(1, () => policy.createFilterOffsets(data, offsets));
      status(1, () => small.mayMatchOffsets(data, offsets));
    }
  }
  for (const length of [3, 0, 2.5, NaN]) {
    check(thrown(() => policy.createFilterFixed(data, length)) instanceof RangeError, length);
    check(thrown(() => small.mayMatchFixed(data, length)) instanceof RangeError, length);
    check(thrown(() => builder.addFixed(data, length)) instanceof RangeError, length);
  }
  for (const none of [new Int32Array(0), new BigInt64Array(0)]) {
    check(thrown(() => policy.createFilterOffsets(data, none)) instanceof RangeError, none);
    check(thrown(() => small.mayMatchOffsets(data, none)) instanceof RangeError, none);
  }
  const b = encoder.encode("b");
  const both = policy.createFilter([a, b]);
  check(equal(small.union(policy.createFilter([b])).data, both.data), "union");
  check(equal(small.data, policy.createFilter([a]).data), "after a union");
  for (let i = 0; i < 2; i++) {
    policy.close();
    builder.close();
  }
  for (const use of [
    () => policy.createFilter([]), () => policy.createFilterFixed(a, 1), () => policy.kernel,
    () => policy.createFilterOffsets(a, Int32Array.of(0)), () => builder.add(a), () => builder.size,
    () => builder.addFixed(a, 1), () => builder.finish(),
  ]) check(`${thrown(use)}`.includes("closed"), use);
});

Deno.test("what is not of its type", () => {
  using policy = new bloom.Policy();
  using builder = new bloom.Builder();
  const filter = policy.createFilter([encoder.encode("a")]);
  const data = new Uint8Array(3);
  // deno-lint-ignore no-explicit-any
  for (const wrong of ["abcd", 5, [1, 2], null] as any[]) {
    for (const use of [
      () => bloom.hash(wrong), () => new bloom.Filter(wrong), () => policy.createFilter([wrong]),
      () => policy.createFilterFixed(wrong, 1), () => builder.add(wrong), () => builder.addFixed(wrong, 1),
      () => filter.mayMatch(wrong), () => filter.mayMatchFixed(wrong, 1), () => filter.positions(wrong),
      () => filter.mayMatchOffsets(wrong, Int32Array.of(0, 1)),
      () => filter.mayMatchOffsets(data, wrong), () => policy.createFilterOffsets(data, wrong),
      () => policy.createFilterOffsets(wrong, Int32Array.of(0, 1)),
    ]) check(thrown(use) instanceof TypeError, use);
  }
  // deno-lint-ignore no-explicit-any
  check(`${thrown(() => builder.add("text" as any))}`.includes("encode"), "text");
});

Deno.test("keys of every kind, and filters as values", () => {
  using policy = new bloom.Policy();
  using builder = new bloom.Builder();
  const words = Uint16Array.of(1, 2, 3, 4);
  const whole = new Uint8Array(words.buffer);
  const filter = policy.createFilter([whole]);
  for (const key of [words, words.buffer, new DataView(words.buffer), whole]) {
    builder.add(key);
    for (const made of [policy.createFilter([key]), builder.finish(), policy.createFilterFixed(key, 8),
      policy.createFilterOffsets(key, Int32Array.of(0, 8))]) check(made.equals(filter), key);
    check(filter.mayMatch(key) && filter.mayMatchFixed(key, 8)[0] === 1, key);
    check(filter.mayMatchOffsets(key, Int32Array.of(0, 8))[0] === 1, key);
    check(bloom.hash(key) === bloom.hash(whole) && filter.positions(key).length === 6, key);
    check(equal(new bloom.Filter(key).data, whole), key);
  }
  check(!filter.equals(policy.createFilter([words.subarray(1)])), "other bytes");
  check(!filter.equals(policy.createFilter(Array(100).fill(words))), "another length");
});

Deno.test("numbers that C has no room for", () => {
  using builder = new bloom.Builder();
  const refused = <T>(use: (number: T) => unknown, ...numbers: T[]) => {
    for (const number of numbers) {
      const error = thrown(() => use(number));
      check(error instanceof RangeError, `${number}: ${error}`);
    }
  };
  for (const use of [
    (bits: number) => new bloom.Policy(bits).close(),
    (bits: number) => new bloom.Builder(bits).close(),
    (bits: number) => bloom.falsePositiveRate(bits, 1),
  ]) {
    refused(use, 2.9, NaN, Infinity, -(2 ** 31) - 1, 2 ** 31, 2 ** 32 + 10);
    for (const bits of [-(2 ** 31), 2 ** 31 - 1]) use(bits);
  }
  for (const use of [
    (keys: number | bigint) => builder.finish(keys),
    (keys: number | bigint) => bloom.falsePositiveRate(10, keys),
    (keys: number | bigint) => bloom.bitsPerKeyFor(0.01, keys),
  ]) {
    refused(use, 100.7, NaN, Infinity, -1, -1n, 2 ** 64, 2n ** 64n, 2n ** 64n + 100n);
    for (const keys of [100, 100n]) use(keys);
  }
  check(bloom.bitsPerKeyFor(0.01, 2n ** 64n - 1n) === 0, "too many keys");
});

Deno.test("a filter whose bytes went to a worker", () => {
  using policy = new bloom.Policy();
  const key = encoder.encode("hello");
  const [sent, kept] = [policy.createFilter([key]), policy.createFilter([key])];
  structuredClone(sent.data, { transfer: [sent.data.buffer] });
  for (const use of [
    () => sent.mayMatch(key),
    () => sent.mayMatchFixed(key, 5),
    () => sent.mayMatchOffsets(key, Int32Array.of(0, 5)),
    () => sent.inspect(),
    () => sent.positions(key),
    () => sent.union(kept),
    () => kept.union(sent),
  ]) {
    check(`${thrown(use)}`.includes("transferred"), use);
  }
  check(kept.mayMatch(key), "what was kept");
  check(!new bloom.Filter(new Uint8Array(0)).mayMatch(key), "no bytes");
});

Deno.test("keys whose bytes went to a worker, or whose buffer shrank", () => {
  using policy = new bloom.Policy();
  using builder = new bloom.Builder();
  const sent = new Uint8Array(10);
  const shrunk = new Uint8Array(new ArrayBuffer(10, { maxByteLength: 10 }), 0, 10);
  const filter = policy.createFilter([sent]);
  structuredClone(sent, { transfer: [sent.buffer] });
  shrunk.buffer.resize(5);
  for (const gone of [sent, shrunk]) {
    for (const use of [
      () => policy.createFilter([gone]),
      () => policy.createFilterFixed(gone, 5),
      () => policy.createFilterOffsets(gone, Int32Array.of(0)),
      () => builder.add(gone),
      () => builder.addFixed(gone, 5),
      () => filter.mayMatch(gone),
      () => filter.mayMatchFixed(gone, 5),
      () => filter.mayMatchOffsets(gone, Int32Array.of(0)),
      () => filter.positions(gone),
      () => bloom.hash(gone),
      () => new bloom.Filter(gone),
    ]) {
      check(`${thrown(use)}`.includes("detached"), use);
    }
  }
  builder.add(new Uint8Array(0));
  check(builder.size === 1, "an empty key");
});

Deno.test("the collector", async () => {
  const gc = (globalThis as { gc?: () => void }).gc;
  check(gc !== undefined, "run with --v8-flags=--expose-gc");
  // What is closed at once, and what is left to the collector: of 40 MB each, which malloc does not keep.
  const keys = new Uint8Array(10 * KEYS);
  const before = Deno.memoryUsage().rss;
  const left = () => Deno.memoryUsage().rss - before;
  for (let i = 0; i < 10; i++) {
    using builder = new bloom.Builder();
    builder.addFixed(keys, 1);
  }
  check(left() < 100 * KEYS, `${left()} bytes left`);
  (() => {
    for (let i = 0; i < 10; i++) new bloom.Builder().addFixed(keys, 1);
  })();
  for (let i = 0; i < 100 && left() > 100 * KEYS; i++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  check(left() < 100 * KEYS, `${left()} bytes left`);
});

Deno.test("a million keys", async () => {
  const data = encoder.encode(
    Array.from({ length: KEYS }, (_, i) => `key-${String(i).padStart(12, "0")}`).join(""),
  );
  const keyAt = (i: number) => data.subarray(i * KEY_LENGTH, (i + 1) * KEY_LENGTH);
  const half = data.subarray(0, HALF * KEY_LENGTH);
  using policy = new bloom.Policy(10);
  const filter = policy.createFilterFixed(half, KEY_LENGTH);
  const answers = filter.mayMatchFixed(data, KEY_LENGTH);
  const offsets = new BigInt64Array(KEYS + 1);
  let matches = 0;
  for (let i = 0; i < KEYS; i++) {
    check(filter.mayMatch(keyAt(i)) === (answers[i] === 1), i);
    matches += answers[i];
    offsets[i + 1] = BigInt((i + 1) * KEY_LENGTH);
  }
  check(equal(filter.mayMatchOffsets(data, offsets), answers), "offsets");

  const parts = await Promise.all([0, 1, 2, 3].map((part) =>
    new Promise<{ part: bloom.Bytes; answers: bloom.Bytes }>((resolve, reject) => {
      const worker = new Worker(new URL("./bloom_worker.ts", import.meta.url), { type: "module" });
      worker.onmessage = ({ data }) => {
        worker.terminate();
        resolve(data);
      };
      worker.onerror = reject;
      const size = half.length / 4;
      worker.postMessage({
        data, filter: filter.data, keyLength: KEY_LENGTH, total: HALF,
        part: half.slice(part * size, (part + 1) * size),
      });
    })
  ));
  for (const part of parts) check(equal(part.answers, answers), "answers of a worker");
  const whole = parts.map(({ part }) => new bloom.Filter(part)).reduce((all, part) => all.union(part));
  check(equal(whole.data, filter.data), "parts united");

  const some = Array.from({ length: 1000 }, (_, i) => keyAt(HALF - 500 + i).slice());
  let found = 0;
  const one = bestOf(200, () => {
    for (const key of some) if (filter.mayMatch(key)) found++;
  });
  const batch = data.subarray((HALF - BATCH / 2) * KEY_LENGTH, (HALF + BATCH / 2) * KEY_LENGTH);
  const query = bestOf(200, () => filter.mayMatchFixed(batch, KEY_LENGTH));
  const build = bestOf(200, () => policy.createFilterFixed(batch, KEY_LENGTH));
  console.log("\n" + JSON.stringify({
    language: "TypeScript", through: "Deno.dlopen", runtime: `Deno ${Deno.version.deno}`,
    library: bloom.version(), active: bloom.active(), kernel: policy.kernel, golden, matches,
    distinct: [filter, policy.createFilterFixed(batch, KEY_LENGTH), new bloom.Filter(filter.data.slice())]
      .filter((made, i, all) => all.findIndex((other) => other.equals(made)) === i).length,
    filter_hash: bloom.hash(filter.data).toString(16).padStart(8, "0"),
    call_ns: Math.round(one / some.length * 1e10) / 10,
    query_keys_per_s: Math.round(BATCH / query), build_keys_per_s: Math.round(BATCH / build),
  }));
});
