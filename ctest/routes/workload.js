// Fills and reads a database through one of npm's bindings, which ask for a bloom filter of 10 bits
// per key on their own: workload.js FOLDER_OF_THE_PACKAGE DIRECTORY.

'use strict'

const path = require('path')
const { promisify } = require('util')

const KEYS = 10000

async function main (folder, directory) {
  const location = path.join(directory, 'database')
  // One memtable for all keys: files written in the background differ from run to run.
  const options = { writeBufferSize: 64 << 20 }
  const keys = Array.from({ length: KEYS }, (_, i) => `key ${i}`)
  const absent = keys.map(key => key + '!')

  const database = open(require(folder), location)
  await database.open(options)
  await database.batch(keys.map(key => ({ type: 'put', key, value: `value of ${key}` })))
  await database.compactRange('key', 'kez')
  await database.close()

  await database.open(options)
  for (const [i, value] of (await database.getMany(keys)).entries()) {
    if (String(value) !== `value of ${keys[i]}`) throw new Error(`${keys[i]} is ${value}`)
  }
  for (const [i, value] of (await database.getMany(absent)).entries()) {
    if (value !== undefined) throw new Error(`${absent[i]} is there, and was never put`)
  }
  await database.close()
}

// classic-level has promises, leveldown only callbacks.
function open (binding, location) {
  if (binding.ClassicLevel) return new binding.ClassicLevel(location)
  const database = binding(location)
  const methods = ['open', 'batch', 'compactRange', 'close', 'getMany']
  return Object.fromEntries(methods.map(name => [name, promisify(database[name].bind(database))]))
}

main(...process.argv.slice(2)).catch(error => {
  console.error(error)
  process.exitCode = 1
})
