// A list of leaked passwords that fits in memory, as its filter: a "no" is certain, and a "maybe" is
// worth a look into the list itself.

'use strict';

const { createHash } = require('node:crypto');
const bloom = require('./leveldb_bloom.js');

const digest = (text) => createHash('sha1').update(text).digest();
const LEAKED = 50_000;

console.log(`leveldb-bloom ${bloom.version()}, ${bloom.active()}`);
const digests = Buffer.concat(Array.from({ length: LEAKED }, (_, i) => digest(`password${i}`)));
const policy = new bloom.Policy(bloom.bitsPerKeyFor(0.001, LEAKED));
const leaked = policy.createFilterFixed(digests, 20);
policy.close();
const { probes, fill } = leaked.inspect();
console.log(`${LEAKED} digests of ${digests.length} bytes became a filter of ${leaked.data.length}: ` +
  `${probes} probes, ${(100 * fill).toFixed(1)} % of the bits set`);

for (const password of ['password7', 'correct horse battery staple']) {
  console.log(`${password}: ${leaked.mayMatch(digest(password)) ? 'perhaps leaked' : 'not leaked'}`);
}
const others = Buffer.concat(Array.from({ length: LEAKED }, (_, i) => digest(`other${i}`)));
const wrong = leaked.mayMatchFixed(others, 20).reduce((sum, answer) => sum + answer);
console.log(`of ${LEAKED} others ${wrong} are worth a look (${(100 * wrong / LEAKED).toFixed(2)} %)`);
