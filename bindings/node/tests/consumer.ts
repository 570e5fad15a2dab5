// A program that uses the types; `tsc --strict` finds each mistake marked here, and no other. It is not
// run.

import { Builder, Filter, Policy, type Encoding, type FilterInfo, type Keys } from 'leveldb-bloom';

const policy = new Policy({ bitsPerKey: 10, encoding: 'bloom' });
const hello = Buffer.from('hello');
const made: Filter = policy.createFilter([hello, new Uint8Array(3), new DataView(new ArrayBuffer(2)), new ArrayBuffer(2)]);
policy.createFilter(new Set([hello]));
policy.createFilter((function* () { yield hello; })());
policy.createFilter({ data: hello, keyLength: 5 });
policy.createFilter({ data: new SharedArrayBuffer(8), offsets: Int32Array.of(0, 5) });
policy.createFilter({ data: hello, offsets: BigInt64Array.of(0n, 5n) });
const may: boolean = made.mayMatch(hello);
const answers: Uint8Array = made.mayMatchMany([hello]);
const bytes: Buffer = made.toBuffer();
const info: FilterInfo = made.union(new Filter(bytes)).info;
const encoding: Encoding = Policy.forRate(0.01, { keys: 1000 }).encoding;
const built: Filter = new Builder(policy).add(hello).update([hello]).finish(100);
const numbers: number[] = [info.fill, built.length, policy.bitsPerKey, policy.filterSize(5), new Builder().size];
const same: boolean = made.equals(built);
export const keys = (given: Keys): unknown[] => [policy.createFilter(given), may, answers, encoding, numbers, same];

// @ts-expect-error
policy.createFilter(['text']);
// @ts-expect-error
policy.createFilter('text');
// @ts-expect-error
policy.createFilter(hello);
// @ts-expect-error
policy.createFilter([1, 2]);
// @ts-expect-error
policy.createFilter({ data: hello });
// @ts-expect-error
policy.createFilter({ data: hello, offsets: [0, 5] });
// @ts-expect-error
made.mayMatch('text');
// @ts-expect-error
new Policy({ encoding: 'blom' });
// @ts-expect-error
new Policy(10);
// @ts-expect-error
Policy.forRate(0.01);
// @ts-expect-error
policy.bitsPerKey = 3;
// @ts-expect-error
made.union(bytes);
// @ts-expect-error
new Filter(9);
