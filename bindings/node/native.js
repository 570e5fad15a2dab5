// The native module of this system, which npm has installed as an optional package.

'use strict';

// Of two for one system, the first that can be loaded is right. Written out, for tools that bundle.
const builds = {
  'linux-x64': [() => require('leveldb-bloom-linux-x64-gnu'), () => require('leveldb-bloom-linux-x64-musl')],
  'linux-arm64': [() => require('leveldb-bloom-linux-arm64-gnu'), () => require('leveldb-bloom-linux-arm64-musl')],
  'win32-x64': [() => require('leveldb-bloom-win32-x64')],
};

function load() {
  const system = `${process.platform}-${process.arch}`;
  const errors = [];
  for (const build of builds[system] ?? []) {
    try {
      return build();
    } catch (error) {
      errors.push(error);
    }
  }
  const said = errors.map((error) => `\n  ${error.message.split('\n')[0]}`).join('');
  throw new Error(`leveldb-bloom has no native module for ${system}, or npm has not installed it: ` +
    `it is an optional dependency${said}`, { cause: errors[0] });
}

module.exports = load();
