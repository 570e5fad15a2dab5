// The package as npm installs it, beside a real LevelDB, and in worker threads.

'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { spawnSync } = require('node:child_process');
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');
const { Builder, Filter, Policy } = require('leveldb-bloom');

if (isMainThread) main();
else parentPort.postMessage(work(workerData));

/** A thread's share: a part of the filter, and all answers. */
function work({ data, filter, part, options }) {
  const share = data.byteLength / 4;
  return {
    part: new Builder(new Policy(options)).update({ data: new Uint8Array(data, part * share, share), keyLength: 16 })
      .finish(data.byteLength / 16).toBuffer(),
    answers: new Filter(filter).mayMatchMany({ data, keyLength: 16 }),
  };
}

/** The filters in a table of LevelDB's: of its filter block, that of each 2 KiB of data. */
function filtersOf(file) {
  const table = fs.readFileSync(file);
  let at;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = table[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const block = () => {
    const [offset, size] = [number(), number()];
    return table.subarray(offset, offset + size);
  };
  at = table.length - 48;
  const metaindex = block();
  const name = metaindex.indexOf('filter.leveldb.BuiltinBloomFilter2');
  assert.ok(name > 0);
  at = metaindex.byteOffset - table.byteOffset + name + 'filter.leveldb.BuiltinBloomFilter2'.length;
  const filters = block();
  const offsets = filters.readUInt32LE(filters.length - 5);
  assert.strictEqual(filters[filters.length - 1], 11);
  const ends = [];
  for (let i = offsets; i < filters.length - 1; i += 4) ends.push(filters.readUInt32LE(i));
  return ends.slice(1).map((end, i) => filters.subarray(ends[i], end));
}

function main() {
  test('what is installed is tested', () => {
    const file = require.resolve('leveldb-bloom');
    assert.strictEqual(file, path.join(__dirname, 'node_modules', 'leveldb-bloom', 'index.js'));
    const manifest = require('leveldb-bloom/package.json');
    const modules = process.report.getReport().sharedObjects.filter((name) => /leveldb-bloom.*\.node$/.test(name));
    assert.strictEqual(modules.length, 1);
    const platform = path.dirname(modules[0]);
    assert.strictEqual(path.dirname(platform), path.join(__dirname, 'node_modules'));
    const own = JSON.parse(fs.readFileSync(path.join(platform, 'package.json'), 'utf8'));
    assert.strictEqual(manifest.optionalDependencies[own.name], own.version);
    assert.strictEqual(manifest.version, process.env.LEVELDB_BLOOM_VERSION);
  });

  test('import', async () => {
    const imported = await import('leveldb-bloom');
    assert.deepStrictEqual(Object.keys(imported).filter((name) => /^[A-Z]/.test(name)), ['Builder', 'Filter', 'Policy']);
    assert.strictEqual(imported.Policy, Policy);
  });

  test('without the native module', () => {
    const said = spawnSync(process.execPath, ['-e', `
      const { _resolveFilename } = module.constructor;
      module.constructor._resolveFilename = function (name, ...rest) {
        return _resolveFilename.call(this, name.replace(/^leveldb-bloom-/, 'absent-'), ...rest);
      };
      require('leveldb-bloom');`], { cwd: __dirname, encoding: 'utf8' });
    assert.strictEqual(said.status, 1);
    assert.match(said.stderr, /Error: leveldb-bloom has no native module for .*optional dependency/s);
  });

  test('the filters of a real LevelDB', async () => {
    const { ClassicLevel } = require('classic-level');
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leveldb-bloom-'));
    const database = new ClassicLevel(folder, { compression: false });
    const keys = Array.from({ length: 1000 }, (_, i) => Buffer.from(`user${String(i).padStart(8, '0')}`));
    await database.batch(keys.map((key) => ({ type: 'put', key, value: Buffer.alloc(100), keyEncoding: 'buffer',
      valueEncoding: 'buffer' })));
    await database.compactRange('', '~');
    assert.deepStrictEqual(await database.get(keys[7], { keyEncoding: 'buffer', valueEncoding: 'buffer' }), Buffer.alloc(100));
    await database.close();
    const tables = fs.readdirSync(folder).filter((name) => name.endsWith('.ldb'));
    assert.strictEqual(tables.length, 1);
    const stored = filtersOf(path.join(folder, tables[0])).filter((bytes) => bytes.length > 0);
    assert.ok(stored.length > 20);
    // Each is of the next keys, and of as many as fit its size.
    let start = 0;
    for (const bytes of stored) {
      const theirs = new Filter(bytes);
      let count = 0;
      while (start + count < keys.length && theirs.mayMatch(keys[start + count])) count++;
      let ours;
      for (; count > 0; count--) {
        ours = new Policy({ bitsPerKey: 10 }).createFilter(keys.slice(start, start + count));
        if (ours.equals(theirs)) break;
      }
      assert.ok(count > 0, `the filter from key ${start} on`);
      start += count;
    }
    assert.strictEqual(start, keys.length);
    fs.rmSync(folder, { recursive: true });
  });

  for (const encoding of ['bloom', 'ribbon']) {
    test(`worker threads, ${encoding}`, async () => {
      const data = new SharedArrayBuffer(40_000 * 16);
      new Uint32Array(data).forEach((_, i, words) => { words[i] = Math.imul(i + 1, 0x9e3779b1); });
      const policy = new Policy({ encoding });
      const filter = policy.createFilter({ data, keyLength: 16 });
      const parts = await Promise.all([0, 1, 2, 3].map((part) => new Promise((resolve, reject) => {
        const sent = filter.toBuffer();
        new Worker(__filename, { workerData: { data, filter: sent, part, options: policy }, transferList: [sent.buffer] })
          .on('message', resolve).on('error', reject);
      })));
      for (const { answers } of parts) assert.deepStrictEqual(answers, new Uint8Array(40_000).fill(1));
      if (encoding === 'ribbon') return;
      assert.ok(parts.map(({ part }) => new Filter(part)).reduce((all, part) => all.union(part)).equals(filter));
    });
  }

  test('worker threads that are ended in the middle of a call', async () => {
    for (let i = 0; i < 5; i++) {
      const worker = new Worker(`
        const { Policy } = require('leveldb-bloom');
        const data = new Uint8Array(16_000_000);
        for (;;) { new Policy().createFilter({ data, keyLength: 16 }); require('node:worker_threads').parentPort.postMessage(1); }`,
      { eval: true });
      await new Promise((resolve) => worker.once('message', resolve));
      await worker.terminate();
    }
  });

  test('nothing is leaked', () => {
    const data = new Uint8Array(1_600_000);
    // Half a megabyte each time, none of which waits for the event loop.
    const work = () => {
      for (let i = 0; i < 100; i++) {
        const made = new Policy().createFilter({ data, keyLength: 16 });
        made.mayMatchMany({ data, keyLength: 16 });
        made.union(made);
        assert.throws(() => made.mayMatchMany([data.subarray(1), 'text']));
        assert.throws(() => made.union(new Filter(data.subarray(0, 5))));
      }
      global.gc();
    };
    work();
    const before = process.memoryUsage().rss;
    work();
    work();
    assert.ok(process.memoryUsage().rss < before + 30_000_000);
  });

  for (const name of ['README.md', 'README.top.md']) test(`the README: ${name}`, () => {
    const text = fs.readFileSync(path.join(__dirname, name), 'utf8');
    const program = [...text.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code).join('\n');
    const expected = [...program.matchAll(/^console\.log\(.*\); +\/\/ (.*)$/gm)].map(([, said]) => said);
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program], { cwd: __dirname, encoding: 'utf8' });
    assert.strictEqual(status, 0, stderr);
    assert.deepStrictEqual(stdout.trim().split('\n'), expected);
    assert.ok(expected.length > 0);
  });
}
