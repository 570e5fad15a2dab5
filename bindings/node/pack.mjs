// pack.mjs OUT VERSION PLATFORM=LIBRARY...: the package and one for each platform, packed by npm into
// OUT. On npm the package's optional dependencies are all platforms; of those it is given the libraries.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const [out, version, ...libraries] = process.argv.slice(2);
const main = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'));

function pack(manifest, files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leveldb-bloom-'));
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const [name, from] of Object.entries(files)) fs.copyFileSync(from, path.join(folder, name));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', out], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  fs.rmSync(folder, { recursive: true });
}

const platforms = {};
for (const [, name] of fs.readFileSync(path.join(here, 'native.js'), 'utf8').matchAll(/require\('(leveldb-bloom-.*?)'\)/g)) {
  platforms[name] = version;
}
const own = ['index.js', 'index.d.ts', 'native.js', 'README.md', 'LICENSE'];
pack({ ...main, version, optionalDependencies: platforms },
  Object.fromEntries(own.map((name) => [name, path.join(here, name)])));

for (const library of libraries) {
  const [platform, file] = library.split('=');
  const [system, cpu, abi] = platform.split('-');
  const name = `${main.name}-${platform}`;
  if (!(name in platforms)) throw new Error(`native.js does not load ${name}`);
  const libc = { gnu: 'glibc', musl: 'musl' }[abi];
  const { description, license, engines } = main;
  pack({ name, version, description: `The native module of ${main.name} for ${platform}: ${description}`,
    license, engines, main: 'index.node', files: ['index.node'], os: [system], cpu: [cpu], ...(libc && { libc: [libc] }) },
  { 'index.node': file, LICENSE: path.join(here, 'LICENSE') });
}
