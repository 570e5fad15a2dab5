// The command leveldb-bloom on what Chromium itself writes: IndexedDB, which has a comparator of its own,
// and Local Storage.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { launchProfile } from "./browser.mjs";

function command(status, ...args) {
  const done = spawnSync(process.env.INSPECTOR, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(done.status, status, `${args}: ${done.stdout.slice(0, 2000)}${done.stderr}`);
  return done;
}

const dump = (database) =>
  command(0, "dump", "--format", "ndjson", "--encoding", "hex", database).stdout.split("\n").filter(Boolean).map(JSON.parse);

test("a browser's profile", async () => {
  const profile = mkdtempSync(join(tmpdir(), "leveldb-bloom-profile."));
  const server = createServer((_, answer) => answer.end("<!doctype html>")).listen(0, "127.0.0.1");
  try {
    const address = await new Promise((resolve) => server.on("listening", () => resolve(server.address())));
    const context = await launchProfile(profile);
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${address.port}/`);
    await page.evaluate(async () => {
      for (let i = 0; i < 1000; i++) localStorage.setItem(`key ${i}`, `value ${i} `.repeat(20));
      const open = indexedDB.open("things", 1);
      open.onupgradeneeded = () => open.result.createObjectStore("store");
      await new Promise((resolve, reject) => Object.assign(open, { onsuccess: resolve, onerror: reject }));
      // More than is held in memory, so that there are tables.
      for (let from = 0; from < 20_000; from += 5000) {
        const write = open.result.transaction("store", "readwrite");
        for (let i = from; i < from + 5000; i++) write.objectStore("store").put(`value ${i} `.repeat(50), `name ${i}`);
        await new Promise((resolve, reject) => Object.assign(write, { oncomplete: resolve, onerror: reject }));
      }
    });
    await context.close();

    // The profile is no database; its databases are named.
    const below = command(2, "inspect", profile).stderr;
    assert.match(below, /Name a database.s own folder; \d+ found below/);
    const defaults = join(profile, "Default");
    const storage = join(defaults, "Local Storage", "leveldb");
    assert.ok(below.includes(storage) || command(2, "inspect", defaults).stderr.includes(storage), below);

    const indexed = join(defaults, "IndexedDB");
    const [name] = readdirSync(indexed).filter((each) => each.endsWith(".indexeddb.leveldb"));
    const database = join(indexed, name);
    const found = JSON.parse(command(0, "inspect", "--json", database).stdout);
    assert.equal(found.databases[0].comparator, "idb_cmp1");
    assert.ok(found.total.tables > 0 && found.total.bloom.keys_checked > 1000, JSON.stringify(found.total));
    assert.equal(found.total.bloom.keys_lost, 0);
    assert.match(command(0, "verify", database).stdout, /no key is lost/);
    // IndexedDB has strings in big-endian UTF-16.
    const utf16 = (text) => Buffer.from(text, "utf16le").swap16().toString("hex");
    const keys = dump(database).map((entry) => entry.key).join("\n");
    for (const i of [0, 7777, 19_999]) assert.ok(keys.includes(utf16(`name ${i}`)), `name ${i}`);
    const key = keys.split("\n").find((each) => each.endsWith(utf16("name 7777")));
    assert.match(command(0, "probe", "--hex", database, key).stdout, /found: /);

    command(0, "verify", storage);
    const values = new Map(dump(storage).map((entry) => [Buffer.from(entry.key, "hex").toString("latin1"), entry.value]));
    const [own] = [...values].filter(([each]) => each.endsWith("\0\x01key 7"));
    assert.equal(Buffer.from(own[1], "hex").toString("latin1"), "\x01" + "value 7 ".repeat(20));
  } finally {
    server.close();
    rmSync(profile, { recursive: true, force: true });
  }
});
