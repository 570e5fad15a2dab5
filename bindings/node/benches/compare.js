// Keys a second, and nanoseconds for mayMatch, with bloom-filters (npm) beside it.
//
// Needs both packages. Each figure is the best of several rounds, on one core.

'use strict';

const assert = require('node:assert');
const crypto = require('node:crypto');
const { BloomFilter } = require('bloom-filters');
const { Policy } = require('leveldb-bloom');

const KEYS = 200_000;
const LENGTH = 16;

function best(work, rounds) {
  let least = Infinity;
  for (let i = 0; i < rounds; i++) {
    const start = process.hrtime.bigint();
    work();
    least = Math.min(least, Number(process.hrtime.bigint() - start));
  }
  return least;
}

const rate = (work, rounds = 7) => `${(KEYS / best(work, rounds) * 1e3).toFixed(2).padStart(8)} M keys/s`;
const each = (keys, work, rounds = 200) => `${(best(() => keys.forEach(work), rounds) / keys.length).toFixed(0).padStart(8)} ns`;

const data = crypto.randomBytes(KEYS * LENGTH);
const keys = Array.from({ length: KEYS }, (_, i) => data.subarray(i * LENGTH, (i + 1) * LENGTH));
const policy = new Policy();
const made = policy.createFilter(keys);
// bloom-filters takes text for keys, or a Buffer.
const other = (some) => {
  const filter = BloomFilter.create(some.length, 0.01);
  for (const key of some) filter.add(key);
  return filter;
};
const [some, flat] = [keys.slice(0, 1000), { data, keyLength: LENGTH }];
const [ours, theirs] = [policy.createFilter(some), other(some)];
assert.ok(made.mayMatchMany(flat).every((answer) => answer === 1) && some.every((key) => theirs.has(key)));

console.log(`Node ${process.versions.node}, ${policy.kernel}, ${KEYS} keys of ${LENGTH} bytes
create from an array       ${rate(() => policy.createFilter(keys))}
  bloom-filters            ${rate(() => other(keys), 1)}
create from one buffer     ${rate(() => policy.createFilter(flat))}
query an array             ${rate(() => made.mayMatchMany(keys))}
query one buffer           ${rate(() => made.mayMatchMany(flat))}
mayMatch, 1000 keys        ${each(some, (key) => ours.mayMatch(key))}
  bloom-filters            ${each(some, (key) => theirs.has(key), 20)}`);
