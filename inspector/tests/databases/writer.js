// Writes a database with npm's classic-level, which has filters of 10 bits per key:
// node writer.js MODULES FOLDER KEYS VALUE_BYTES
const fs = require('node:fs')
const path = require('node:path')
const [modules, folder, keys, valueBytes] = process.argv.slice(2)
const { ClassicLevel } = require(path.join(modules, 'classic-level'))

async function main () {
  const db = new ClassicLevel(folder)
  await db.open()
  // The databases are what ours is compared with.
  if (/\/libleveldb_bloom\.so[^/]*$/m.test(fs.readFileSync('/proc/self/maps', 'utf8'))) {
    throw new Error('the filters might not be of classic-level: libleveldb_bloom.so is loaded')
  }
  for (let i = 0; i < Number(keys); i += 1000) {
    const batch = []
    for (let j = i; j < Math.min(i + 1000, Number(keys)); j++) {
      const value = String(j * 7919).repeat(Number(valueBytes)).slice(0, Number(valueBytes))
      batch.push({ type: 'put', key: 'key' + String(j).padStart(8, '0'), value })
    }
    await db.batch(batch)
  }
  await db.compactRange('a', 'z')
  await db.close()
}

main().catch(error => { console.error(error); process.exit(1) })
