// A crawler's memory: which addresses were fetched already, in little more than a byte each.

import * as bloom from "./leveldb_bloom.ts";

const encoder = new TextEncoder();
const address = (number: number) => encoder.encode(`https://example.org/${number}`);
const FETCHED = 100_000;

console.log(`leveldb-bloom ${bloom.version()}, ${bloom.active()}`);
using builder = new bloom.Builder(10);
for (let i = 0; i < FETCHED; i++) builder.add(address(i));
const fetched = builder.finish();

const { probes, fill, estimatedKeys } = fetched.inspect();
console.log(
  `${FETCHED} addresses in ${fetched.data.length} bytes: ${probes} probes, ` +
    `${(100 * fill).toFixed(1)} % of the bits set, about ${estimatedKeys.toFixed(0)} keys`,
);
let skipped = 0;
for (let i = FETCHED; i < 2 * FETCHED; i++) if (fetched.mayMatch(address(i))) skipped++;
console.log(`of ${FETCHED} new addresses ${skipped} would be skipped`);
console.log(`bits of ${new TextDecoder().decode(address(7))}: ${fetched.positions(address(7)).join(" ")}`);
