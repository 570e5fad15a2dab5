// The page in a real Chromium, against the C library and files of stock LevelDB. scripts/page.sh
// --test runs it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, afterEach, test } from "node:test";
import { pathToFileURL } from "node:url";
import { axe, launch } from "./browser.mjs";

const hex = (text) => Buffer.from(text).toString("hex");
const address = pathToFileURL(process.env.PAGE).href;

let browser;
let folder;
let said;
let page;

function oracle(request) {
  const script = new URL("oracle.py", import.meta.url).pathname;
  const { status, stdout, stderr } = spawnSync("/usr/bin/python3", ["-B", script], {
    input: JSON.stringify(request),
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

const cFilter = (bitsPerKey, keys) => oracle({ ask: "filters", filters: [[bitsPerKey, keys.map(hex)]] })[0];

let databases = 0;
function stockTable({ keys, deleted = [], values = [20], bitsPerKey = 10, compression = null, reversed = false }) {
  const tables = oracle({
    ask: "database",
    folder: join(folder, String(databases++)),
    keys: keys.map(hex),
    deleted: deleted.map(hex),
    values,
    bits_per_key: bitsPerKey,
    compression,
    reversed,
  });
  assert.equal(tables.length, 1);
  return tables[0];
}

// A second opinion on where a key's bits are, from the format's description.
function positionsOf(key, k, m) {
  const M = 0xc6a4a793;
  let h = (0xbc9f1d34 ^ Math.imul(key.length, M)) >>> 0;
  let at = 0;
  for (; at + 4 <= key.length; at += 4) {
    h = Math.imul(h + key.readUInt32LE(at), M) >>> 0;
    h = (h ^ (h >>> 16)) >>> 0;
  }
  if (at < key.length) {
    for (let i = 0; at + i < key.length; i++) h = (h + (key[at + i] << (8 * i))) >>> 0;
    h = Math.imul(h, M) >>> 0;
    h = (h ^ (h >>> 24)) >>> 0;
  }
  const delta = ((h >>> 17) | (h << 15)) >>> 0;
  const sums = Array.from({ length: k }, (_, j) => Number((BigInt(h) + BigInt(j) * BigInt(delta)) % (1n << 32n)));
  return { h, delta, sums, positions: sums.map((sum) => sum % m) };
}

async function open(options = {}, url = address) {
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 900 }, ...options });
  const opened = await context.newPage();
  opened.on("console", (message) => said.push(message.text()));
  opened.on("pageerror", (error) => said.push(error.message));
  await opened.goto(url);
  await opened.waitForFunction(() => document.getElementById("hex").textContent !== "");
  return opened;
}

const shownHex = async (of = page) => (await of.textContent("#hex")).replaceAll(" ", "");

async function settled(of = page, panel = "#verdict") {
  await of.waitForFunction((panel) => document.querySelector(panel).textContent !== "", panel);
  return of.textContent(panel);
}

async function check(key) {
  await page.fill("#check-key", key);
  await page.click("#check button");
  return settled();
}

async function add(key) {
  await page.fill("#add-key", key);
  await page.press("#add-key", "Enter");
  return settled();
}

async function drop(path, of = page) {
  const bytes = readFileSync(path).toString("base64");
  const dataTransfer = await of.evaluateHandle((bytes) => {
    const transfer = new DataTransfer();
    const content = Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0));
    transfer.items.add(new File([content], "000005.ldb"));
    return transfer;
  }, bytes);
  await of.dispatchEvent("#zone", "drop", { dataTransfer });
  await of.waitForFunction(() => !/^$|^Reading/.test(document.getElementById("file-note").textContent));
  return of.textContent("#file-note");
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "leveldb-bloom-page."));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  said = [];
  page = await open();
});
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  assert.deepEqual(said, [], "the console is silent");
});

const FRUIT = "apple apricot banana blackberry blueberry cherry currant date elderberry fig gooseberry grape kiwi lemon mango melon orange peach pear plum".split(" ");

test("it opens with a filter, and a key that was asked for", async () => {
  assert.equal(await shownHex(), cFilter(10, FRUIT));
  assert.match(await page.textContent("#hex-note"), /^Byte for byte what LevelDB writes/);
  assert.match(await settled(), /Certainly absent/);
});

test("its bytes are those of the C library", async () => {
  await page.click("text=hello, world");
  assert.equal(await shownHex(), "114000414410401006");
  for (const [bits, count] of [[1, 1], [10, 64], [7, 123], [44, 3], [50, 100]]) {
    await page.click("#clear");
    await page.fill("#bits", String(bits));
    await page.fill("#many-count", String(count));
    await page.click("#many button");
    if (await page.isEnabled("#fit")) await page.click("#fit");
    const keys = Array.from({ length: count }, (_, i) => `key-${String(i + 1).padStart(4, "0")}`);
    assert.equal(await shownHex(), cFilter(bits, keys), `${count} keys at ${bits}`);
  }
  await page.click("#clear");
  for (const key of ["0xc397", "", "ключ"]) await add(key);
  await page.fill("#bits", "10");
  await page.click("#fit");
  const keys = ["c397", "", hex("ключ")];
  assert.equal(await shownHex(), oracle({ ask: "filters", filters: [[10, keys]] })[0]);
});

test("a key is added, and its probes are shown with the arithmetic", async () => {
  await page.fill("#room", "30");
  assert.match(await check("quince"), /Certainly absent/);
  assert.match(await add("quince"), /Added\./);
  assert.match(await add("quince"), /Already there/);
  assert.match(await check("quince"), /Maybe there, and it is/);
  // And one whose hash begins with a zero.
  const small = Array.from({ length: 100 }, (_, i) => `k${i}`).find((key) => positionsOf(Buffer.from(key), 6, 64).h < 1 << 28);
  for (const key of ["quince", "b", "papaya", "", small]) {
    await check(key);
    const filter = Buffer.from(await shownHex(), "hex");
    const m = (filter.length - 1) * 8;
    const expected = positionsOf(Buffer.from(key), 6, m);
    const caption = await page.textContent("#sum caption");
    const word = (number) => `0x${number.toString(16).padStart(8, "0")}`;
    assert.ok(caption.includes(word(expected.h)) && caption.includes(word(expected.delta)), caption);
    const rows = await page.$$eval("#sum tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    const wanted = expected.positions.map((bit, j) => [
      String(j),
      expected.sums[j].toLocaleString("en"),
      bit.toLocaleString("en"),
      filter[bit >> 3] & (1 << (bit & 7)) ? "✓ set" : "✕ clear",
    ]);
    assert.deepEqual(rows, wanted, key);
  }
});

test("a false positive is found, and called that", async () => {
  await page.click("#find");
  assert.match(await settled(), /False positive\..*was never added/);
  const key = await page.inputValue("#check-key");
  const rows = await page.$$eval("#sum tbody tr", (rows) => rows.map((row) => row.className));
  assert.deepEqual(new Set(rows), new Set(["hit"]));
  assert.ok(!FRUIT.includes(key));
  assert.deepEqual(oracle({ ask: "match", filter: cFilter(10, FRUIT), keys: [hex(key), hex("quince")] }), [1, 0]);
});

test("probes appear one after another, unless motion is unwelcome", async () => {
  assert.equal(await page.locator("#sum tbody tr").count(), 6);
  const moving = await open({ reducedMotion: "no-preference" });
  await settled(moving);
  await moving.fill("#check-key", "apple");
  const counts = await moving.evaluate(async () => {
    const seen = [];
    const watch = new MutationObserver(() => seen.push(document.querySelectorAll("#sum tbody tr").length));
    watch.observe(document.getElementById("sum"), { childList: true, subtree: true });
    document.getElementById("check").requestSubmit();
    const first = document.querySelectorAll("#sum tbody tr").length;
    await new Promise((done) => new MutationObserver(() => document.getElementById("verdict").textContent && done())
      .observe(document.getElementById("verdict"), { childList: true }));
    return [first, ...seen];
  });
  assert.deepEqual([...new Set(counts)], [0, 1, 2, 3, 4, 5, 6]);
  // A key that is asked for in between leaves no probe of the one before.
  const marks = await moving.evaluate(async () => {
    const first = ask("apple");
    await pause(300);
    await ask("zebra");
    await first;
    return bits.marks.map(({ bit }) => bit);
  });
  const m = 8 * ((await shownHex(moving)).length / 2 - 1);
  assert.deepEqual(marks, [...new Set(positionsOf(Buffer.from("zebra"), 6, m).positions)]);
  assert.match(await settled(moving), /“zebra”/);
});

test("a bit that is clicked names its keys", async () => {
  const filter = Buffer.from(await shownHex(), "hex");
  const m = (filter.length - 1) * 8;
  const owners = (bit) => FRUIT.filter((key) => positionsOf(Buffer.from(key), 6, m).positions.includes(bit));
  const box = await page.locator("#array canvas").boundingBox();
  for (const bit of [0, 2, 77, 154, m - 1]) {
    const [x, y] = await page.evaluate((bit) => {
      const [x, y] = bits.place(bit);
      return [x + bits.layout.cell / 2, y + bits.layout.cell / 2];
    }, bit);
    await page.mouse.click(box.x + 3 + x, box.y + 3 + y);
    assert.match(await page.textContent("#detail"), new RegExp(`^Bit ${bit} is bit ${bit % 8} of byte ${bit >> 3}: `));
    assert.deepEqual(await page.locator("#detail button").allTextContents(), owners(bit));
    const clear = (await page.textContent("#detail")).includes("clear");
    assert.equal(clear, owners(bit).length === 0);
  }
});

// Red, green, blue and opacity in the middle of each bit's cell.
const cells = () => page.evaluate(() => {
  const { canvas, filter, layout } = bits;
  const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
  return Array.from({ length: filter.length * 8 }, (_, bit) => {
    const [x, y] = bits.place(bit).map((at) => Math.floor((at + 3 + layout.cell / 2 - 1) * devicePixelRatio));
    const at = (y * canvas.width + x) * 4;
    return [...data.slice(at, at + 4)];
  });
});

test("a key that is pointed at shows its bits, as long as no other's are shown", async () => {
  const glowing = () => page.evaluate(() => [...bits.glow].sort((a, b) => a - b));
  const drawn = () => page.evaluate(() => bits.canvas.toDataURL());
  const point = (key) => page.hover(`#keys button:text-is("${key}")`);
  await settled();
  const marked = await drawn();
  await point("fig");
  assert.equal(await drawn(), marked);
  await page.evaluate(() => probes.clear());
  const before = await drawn();
  const bright = await cells();
  await page.mouse.move(0, 0);
  await point("fig");
  const filter = Buffer.from(await shownHex(), "hex");
  const m = 8 * (filter.length - 1);
  const { positions } = positionsOf(Buffer.from("fig"), 6, m);
  assert.deepEqual(await glowing(), [...new Set(positions)].sort((a, b) => a - b));
  assert.notEqual(await drawn(), before);
  // The bits that others set step back.
  const others = [...Array(m).keys()].filter((bit) => filter[bit >> 3] & (1 << (bit & 7)) && !positions.includes(bit));
  const dimmed = await cells();
  assert.deepEqual([...bright.keys()].filter((bit) => String(dimmed[bit]) !== String(bright[bit])), others);
  await page.mouse.move(0, 0);
  assert.deepEqual(await glowing(), []);
  assert.equal(await drawn(), before);
});

test("a bit that is no longer there is not chosen", async () => {
  await page.focus("#array");
  await page.keyboard.press("End");
  assert.match(await page.textContent("#detail"), /^Bit 199 /);
  await page.fill("#room", "19");
  assert.equal(await page.textContent("#detail"), "Choose a bit to see the keys that set it.");
  assert.equal(await page.getAttribute("#array", "aria-valuetext"), "No bit chosen");
  assert.equal(await page.getAttribute("#array", "aria-valuemax"), "191");
});

test("probes that meet in a bit are both named in it", async () => {
  page = await open({}, `${address}#bits=1&k=30&room=1`);
  const said = await check("kiwi");
  const { positions } = positionsOf(Buffer.from("kiwi"), 30, 64);
  const expected = [...new Set(positions)].map((bit) => [bit, [...positions.keys()].filter((j) => positions[j] === bit).join()]);
  assert.ok(expected.some(([, label]) => label.includes(",")));
  assert.match(said, new RegExp(`“kiwi”: ${expected.length} of its ${expected.length} bits are clear,`));
  assert.deepEqual(await page.evaluate(() => bits.marks.map(({ bit, label }) => [bit, label])), expected);
});

test("a bit that is clicked is the one that is chosen, however small the cells", async () => {
  for (const [width, bits, keys] of [[1280, 20, 500], [1280, 50, 500], [360, 10, 200]]) {
    const sized = await open({ viewport: { width, height: 900 } }, `${address}#bits=${bits}&room=${keys}&many=${keys}`);
    const { cell, columns } = await sized.evaluate(() => bits.layout);
    for (const bit of [1, 8 * columns]) {
      const [x, y] = await sized.evaluate((bit) => bits.place(bit), bit);
      const position = { x: 3 + x + cell / 2, y: 3 + y + cell / 2 };
      await sized.locator("#array canvas").click({ position });
      assert.equal(await sized.getAttribute("#array", "aria-valuenow"), String(bit), `cells of ${cell} pixels`);
    }
    // Left of the first column and above the first row there is none.
    await sized.evaluate(() => bits.select(0));
    await sized.locator("#array canvas").click({ position: { x: 0, y: 3 + 4 * cell } });
    await sized.locator("#array canvas").click({ position: { x: 3 + 4 * cell, y: 0 } });
    assert.equal(await sized.getAttribute("#array", "aria-valuenow"), "0");
    await sized.close();
  }
});

test("the bits are drawn where the bytes say", async () => {
  const filter = Buffer.from(await shownHex(), "hex");
  await page.evaluate(() => probes.clear());
  for (const media of [{ colorScheme: "light" }, { colorScheme: "dark" }, { forcedColors: "active" }, { forcedColors: "none" }]) {
    await page.emulateMedia(media);
    await page.evaluate(() => new Promise(requestAnimationFrame));
    const drawn = (await cells()).map((color) => color.slice(0, 3).join());
    const colors = (set) => new Set(drawn.filter((_, bit) => bit < (filter.length - 1) * 8 && ((filter[bit >> 3] >> (bit & 7)) & 1) === set));
    assert.equal(colors(1).size, 1);
    assert.equal(colors(0).size, 1);
    assert.notDeepEqual(colors(1), colors(0));
    const behind = await page.evaluate(() => getComputedStyle(document.querySelector(".card")).backgroundColor);
    assert.ok(![...colors(0)].includes(behind.match(/\d+/g).slice(0, 3).join()), `a clear bit is seen: ${JSON.stringify(media)}`);
    // The byte for k has a color of its own.
    assert.ok(![...colors(0), ...colors(1)].includes(drawn[(filter.length - 1) * 8 + 1]));
  }
  const last = filter.length - 1;
  const hexed = (byte) => byte.toString(16).padStart(2, "0");
  const labels = await page.evaluate(() => {
    const { fillText } = CanvasRenderingContext2D.prototype;
    const labels = [];
    CanvasRenderingContext2D.prototype.fillText = (text) => labels.push(text);
    bits.draw();
    CanvasRenderingContext2D.prototype.fillText = fillText;
    return labels;
  });
  assert.deepEqual(labels, [...filter].flatMap((byte, i) => [i === last ? "k = 6" : String(i), hexed(byte)]));
  await page.fill("#k", "3");
  const changed = Buffer.from(await shownHex(), "hex");
  const lines = [...changed.subarray(0, last)].map((byte, i) => {
    const set = [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte & (1 << bit)).map((bit) => 8 * i + bit);
    return `byte ${i}: ${hexed(byte)}, ${set.length > 0 ? `bits ${set.join(", ")}` : "no bit set"}`;
  });
  assert.ok(changed.some((byte) => byte & 0x80) && changed.includes(0));
  lines.push(`byte ${last}: 03, the number of probes, k = 3`);
  assert.deepEqual((await page.textContent("#text")).split("\n"), lines);
});

test("the rates are what the C library estimates and measures", async () => {
  await page.click("text=Far too full");
  const keys = await page.evaluate(() => hexOf(strangers).match(/.{32}/g));
  assert.equal(new Set(keys).size, 10_000);
  const wrong = oracle({ ask: "match", filter: await shownHex(), keys }).reduce((a, b) => a + b);
  assert.ok(wrong > 1000 && wrong < 9000);
  assert.equal(await page.textContent("#measured"), `${(wrong / 100).toFixed(1)} %`);
  const [estimated] = oracle({ ask: "rates", filters: [await shownHex()] });
  assert.equal(await page.textContent("#estimated"), `${(100 * estimated).toFixed(1)} %`);
  const formula = (1 - Math.exp((-2 * 60) / 80)) ** 2;
  assert.equal(await page.textContent("#formula"), `${(100 * formula).toFixed(1)} %`);
  const label = await page.getAttribute("#by-keys svg", "aria-label");
  assert.ok(label.includes(`${(100 * formula).toFixed(1)} % at 60 keys`), label);
  assert.deepEqual(await page.evaluate(() => [0, 9.9e-7, 2e-6, 0.000123, 0.00123, 0.0123, 0.123, 1].map(percent)),
    ["0 %", "below 0.0001 %", "0.0002 %", "0.0123 %", "0.123 %", "1.23 %", "12.3 %", "100.0 %"]);
  // One is not none.
  for (const [passed, text] of [[0, "none of 10,000"], [1, "0.0100 %"]]) {
    const found = await page.evaluate((passed) => {
      Object.assign(state, { bits: 10, k: null, room: 200, keys: [], many: 0 });
      do {
        state.many++;
        show();
      } while (bloom.countMatches(strangers, 16, filter) !== passed && state.many < 200);
      return document.getElementById("measured").textContent;
    }, passed);
    assert.equal(found, text);
  }
});

// What a plot shows, in its axes' units, which its ticks give: the curve, the point on it, the diamond.
const plotted = (host) => page.evaluate((host) => {
  const drawing = document.querySelector(`${host} svg`);
  const ticks = [...drawing.querySelectorAll("text.tick")].map((tick) => ({
    text: tick.textContent, x: Number(tick.getAttribute("x")), y: Number(tick.getAttribute("y")),
  }));
  const [high, low] = ["100 %", "0.001 %"].map((text) => ticks.find((tick) => tick.text === text).y - 4);
  const across = ticks.filter(({ text }) => /^[\d,]+$/.test(text)).map(({ text, x }) => [Number(text.replaceAll(",", "")), x]);
  const [[first, left], [last, right]] = [across[0], across.at(-1)];
  const point = (x, y) => [first + ((x - left) / (right - left)) * (last - first), 10 ** ((-5 * (y - high)) / (low - high))];
  const curve = drawing.querySelector("polyline").getAttribute("points").split(" ").map((pair) => point(...pair.split(",").map(Number)));
  const circle = drawing.querySelector("circle.here");
  const here = point(Number(circle.getAttribute("cx")), Number(circle.getAttribute("cy")));
  const [x, y] = drawing.querySelector("path.measured").getAttribute("d").match(/-?[\d.]+/g).map(Number);
  const guide = drawing.querySelector("line.guide")?.getAttribute("x1");
  return { curve, here, measured: point(x, y + 7), guide: guide && point(Number(guide), 0)[0] };
}, host);

test("the figures and the plots are of this filter", async () => {
  for (const [preset, k, n, room] of [["Far too full", 2, 60, 20], ["One block of fruit", 6, 20, 20], ["200 keys", 6, 200, 200]]) {
    await page.click(`text=${preset}`);
    const filter = Buffer.from(await shownHex(), "hex");
    const m = 8 * (filter.length - 1);
    const set = filter.subarray(0, -1).reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
    assert.equal(await page.textContent("#fill"), `${((100 * set) / m).toFixed(0)} %`);
    assert.equal(await page.textContent("#spent"), ((8 * filter.length) / n).toFixed(1));
    const rate = (k, n) => (1 - Math.exp((-k * n) / m)) ** k;
    const measured = parseFloat(await page.textContent("#measured")) / 100;
    const near = (found, expected, what) => assert.ok(Math.abs(Math.log10(found / expected)) < 0.04, `${preset}, ${what}: ${found}, not ${expected}`);
    for (const [host, at, formula] of [["#by-keys", n, (keys) => rate(k, keys)], ["#by-k", k, (probes) => rate(probes, n)]]) {
      const plot = await plotted(host);
      if (host === "#by-keys") assert.ok(Math.abs(plot.guide - room) < 0.02 * room, `${preset}: ${room} keys are expected at ${plot.guide}`);
      assert.ok(plot.curve.length > 20);
      for (const [x, y] of plot.curve) near(y, formula(x), `${host} at ${x}`);
      for (const [what, expected] of [["here", formula(at)], ["measured", measured]]) {
        assert.ok(Math.abs(plot[what][0] - at) < 0.02 * at, `${preset}, ${host}: ${what} is at ${plot[what][0]}`);
        near(plot[what][1], expected, `${host} ${what}`);
      }
    }
    const note = await page.textContent("#hex-note");
    assert.equal(note, n === room ? `Byte for byte what LevelDB writes for these ${n} keys.`
      : "LevelDB knows all keys when it makes a filter: it would size this one for the 60 that are in it.");
    assert.equal(await page.textContent("#room-note"), `${(room * (preset === "Far too full" ? 4 : 10)).toLocaleString("en")} bits, in whole bytes`);
  }
  await page.fill("#k", "3");
  assert.equal(await page.textContent("#hex-note"), "LevelDB never writes 3 probes at 10 bits per key, but it reads such a filter.");
  await page.fill("#room", "6");
  assert.equal(await page.textContent("#room-note"), "At least 64 bits in any filter");
  // A preset is LevelDB's own filter.
  await page.click("text=hello, world");
  assert.equal(await shownHex(), "114000414410401006");
});

test("the texts of the plots are of this filter", async () => {
  page = await open({}, `${address}#bits=10&room=200&many=100`);
  const texts = (host) => page.$$eval(`${host} text`, (texts) => texts.map(({ textContent }) => textContent));
  const rate = (k, n) => `${(100 * (1 - Math.exp((-k * n) / 2000)) ** k).toFixed(n < 200 ? 4 : n < 400 ? 3 : 1)} %`;
  // Else a scale of its own would show each plot as it should be.
  const outside = await page.$$eval(".plots svg", (drawings) => drawings.flatMap((drawing) => {
    const { left, right, top, bottom } = drawing.getBoundingClientRect();
    return [...drawing.querySelectorAll("*")].map((part) => [part.outerHTML, part.getBoundingClientRect()])
      .filter(([, box]) => box.left < left - 1 || box.right > right + 1 || box.top < top - 1 || box.bottom > bottom + 1).map(([part]) => part);
  }));
  assert.deepEqual(outside, []);
  const powers = ["100 %", "10 %", "1 %", "0.1 %", "0.01 %", "0.001 %"];
  assert.deepEqual(await texts("#by-keys"), [...powers, "0", "100", "200", "300", "400", "keys in the filter", "expected: 200"]);
  assert.deepEqual(await texts("#by-k"), [...powers, "1", "5", "10", "15", "20", "25", "30", "probes, k"]);
  assert.equal(await page.getAttribute("#by-keys svg", "aria-label"), "False-positive rate over the number of keys: " +
    `${rate(6, 100)} at 100 keys, ${rate(6, 200)} at the expected 200, ${rate(6, 400)} at 400.`);
  // Lowest at ln 2 of the 20 bits for each key.
  assert.equal(await page.getAttribute("#by-k svg", "aria-label"),
    `False-positive rate over the number of probes: ${rate(6, 100)} at 6, lowest near 14.`);
  page = await open({}, `${address}#bits=10&room=500&many=2000`);
  assert.deepEqual(await texts("#by-keys"), [...powers, "0", "500", "1,000", "1,500", "2,000", "keys in the filter", "expected: 500"]);
  assert.match(await page.getAttribute("#by-keys svg", "aria-label"), / at 2,000 keys, .* at the expected 500, .* at 2,300\.$/);
  assert.match(await page.getAttribute("#by-k svg", "aria-label"), / at 6, lowest near 2\.$/);
});

test("the state is in the address", async () => {
  await page.fill("#bits", "12");
  await page.fill("#k", "3");
  await page.fill("#room", "41");
  await page.fill("#many-count", "5");
  await page.click("#many button");
  await add("ключ & co=1#?");
  await check("key-0003");
  await page.waitForURL(/ask=key-0003/);
  const again = await open({}, page.url());
  await settled(again);
  for (const id of ["hex", "k-note", "bits-out", "room-out", "keys-note", "verdict", "sum"]) {
    assert.equal(await again.textContent(`#${id}`), await page.textContent(`#${id}`), id);
  }
  assert.equal(await again.inputValue("#check-key"), "key-0003");
  assert.match(await again.textContent("#hex"), / 03$/);
  await again.click("text=Back to LevelDB's 8");
  assert.match(await again.textContent("#hex"), / 08$/);
  assert.equal(await again.evaluate(() => document.activeElement.id), "k");
  // LevelDB's own number is that, also where it was chosen at other bits per key.
  await again.fill("#k", "9");
  await again.fill("#bits", "13");
  assert.equal(await again.textContent("#k-out"), "9");
  assert.match(await again.textContent("#k-note"), /^Back to LevelDB's 8$/);
  await again.fill("#bits", "14");
  assert.equal(await again.textContent("#k-note"), "LevelDB's: 0.69 × bits per key");
  assert.equal(await again.getAttribute("#k", "aria-valuetext"), "9, LevelDB's own");
  // Whatever somebody writes there, the page shows something.
  for (const odd of ["#bits=0&room=-3&k=99", "#bits=x&many=1e9&key=%ff", "#%", "#key=<b>x</b>"]) {
    const shown = await open({}, address + odd);
    assert.ok((await shownHex(shown)).length > 16, odd);
    assert.equal(await shown.locator("#keys b").count(), 0);
    await shown.close();
  }
  // Written into the bar of a page that is open, it is read as well.
  await page.evaluate(() => (location.hash = "#room=2&key=hello&key=world&ask=hello"));
  await page.waitForFunction(() => document.getElementById("keys-note").textContent.startsWith("2 keys"));
  assert.equal(await shownHex(), cFilter(10, ["hello", "world"]));
  assert.match(await settled(), /“hello”: all of its bits are set/);
  // What its sliders do not reach, it does not take from there either.
  for (const [given, taken] of [["bits=0&k=0&room=0", [1, 1, 1]], ["bits=51&k=31&room=501", [50, 30, 500]],
    ["bits=2000000000&k=2000000000&room=2000000000", [50, 30, 500]]]) {
    const shown = await open({}, `${address}#${given}&many=-1`);
    assert.deepEqual(await shown.evaluate(() => [state.bits, state.k, state.room, state.many]), [...taken, 0], given);
    if (taken[1] === 30) assert.equal(await shown.textContent("#k-note"), "0.69 × bits per key, at most 30");
    assert.equal(await shownHex(shown).then(({ length }) => length / 2), Math.max(8, Math.ceil((taken[0] * taken[2]) / 8)) + 1);
    await shown.close();
  }
});

test("controls work where a browser refuses to write the address so often", async () => {
  await page.evaluate(async () => {
    const write = history.replaceState.bind(history);
    let times = 0;
    history.replaceState = (...address) => {
      if (++times > 100) throw new DOMException("more than 100 times per 10 seconds", "SecurityError");
      write(...address);
    };
    const room = document.getElementById("room");
    for (let keys = 21; keys <= 300; keys++) {
      room.value = keys;
      room.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });
  assert.equal(await page.textContent("#room-out"), "300");
  await page.waitForURL(/room=300/);
});

test("the link to the filter leaves the filter alone", async () => {
  await add("quince");
  const filter = await shownHex();
  await page.waitForURL(/key=quince/);
  const url = page.url();
  await page.focus(".skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "check-key");
  // Where the link did write its address, the page would read it by now.
  await page.waitForTimeout(300);
  assert.equal(await shownHex(), filter);
  assert.equal(page.url(), url);
});

const paste = (text, of = page) => of.evaluate((text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text", text);
  document.getElementById("add-key").dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true, bubbles: true }));
}, text);

test("lines that are pasted are many keys", async () => {
  await page.click("#clear");
  assert.equal(await page.evaluate(() => String(addressed())), "bits=10&room=20");
  await paste("one\ntwo\r\nthree\n");
  assert.match(await settled(), /3 keys added/);
  await page.click("#fit");
  assert.equal(await shownHex(), cFilter(10, ["one", "two", "three"]));
  await page.click("#clear");
  await add("one");
  await page.click("#fit");
  assert.equal(await page.textContent("#hex-note"), "Byte for byte what LevelDB writes for this key.");
});

test("a page that is full says which keys it leaves out", async () => {
  page = await open({}, `${address}#bits=50&k=1&room=500&many=4998`);
  await paste("key-0001\na1\na2\na3\na4\n0x6134\na5");
  assert.match(await settled(), /2 keys added\. The last was “a2”\. The page holds 5,000 keys: 3 are left out\./);
  assert.match(await check("a2"), /Maybe there, and it is/);
  // There is no slider for so much room.
  assert.ok(await page.isDisabled("#fit"));
  const filter = await shownHex();
  assert.match(await add("zebra"), /No room\. The page holds 5,000 keys: 1 is left out\./);
  assert.equal(await page.locator("#sum tbody tr").count(), 0);
  assert.match(await add("a1"), /Already there/);
  await page.click("#many button");
  assert.match(await settled(), /No room\. The page holds 5,000 keys: 10 are left out\./);
  assert.equal(await shownHex(), filter);
  assert.match(await page.textContent("#keys-note"), /^5,000 keys/);
  page = await open({}, `${address}#room=500&many=4998`);
  await page.click("#many button");
  assert.match(await settled(), /5,000 keys: 8 are left out\./);
  page = await open({}, `${address}#room=500&many=5000&key=a`);
  assert.match(await page.textContent("#keys-note"), /^5,000 keys/);

  // Lines take the time that it takes to read them, however many keys there are.
  const [pasted, once] = await page.evaluate(() => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `line-${i}`);
    const time = (work) => {
      const start = performance.now();
      work();
      return performance.now() - start;
    };
    const once = time(() => lines.map((line) => hexOf(keyBytes(line))));
    return [time(() => add(lines)), once];
  });
  assert.ok(pasted < 3 * once, `${pasted} ms, and ${once} for reading`);
});

test("served, it asks for itself and nothing else, and could not", async () => {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.setHeader("Content-Type", "text/html");
    response.end(readFileSync(process.env.PAGE));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    const url = `http://127.0.0.1:${server.address().port}/`;
    const served = await open({ permissions: ["clipboard-read", "clipboard-write"] }, url);
    const requests = [];
    served.on("request", (request) => requests.push(request.url()));
    await drop(stockTable({ keys: FRUIT }), served);
    await served.click("#copy");
    await served.waitForFunction(() => document.getElementById("copy").textContent === "Copied");
    assert.equal(await served.evaluate(() => navigator.clipboard.readText()), await shownHex(served));
    await served.waitForTimeout(300);
    assert.deepEqual(asked, ["/"]);
    assert.deepEqual(requests, []);
    const policy = await served.evaluate(() => document.querySelector("meta[http-equiv]").content);
    const hashes = "('sha256-[^']+' ?)+";
    assert.match(policy, new RegExp(`^default-src 'none'; style-src ${hashes}; script-src ${hashes}` +
      "'wasm-unsafe-eval'; img-src data:; base-uri 'none'; form-action 'none'$"));
    assert.equal(await served.evaluate(() => fetch("/probe").then(() => "sent", () => "refused")), "refused");
    assert.equal(await served.evaluate(() => new Promise((done) => {
      const image = new Image();
      image.onload = () => done("sent");
      image.onerror = () => done("refused");
      image.src = "/probe.png";
    })), "refused");
    assert.deepEqual(asked, ["/"]);
    assert.ok(said.length > 0 && said.every((text) => text.includes("Content Security Policy")), said.join("\n"));
    said = [];
  } finally {
    server.close();
  }
});

test("where it may not copy, it selects", async () => {
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.click("#copy");
  assert.equal(await page.textContent("#copy"), "Selected: press Ctrl+C");
  assert.equal(await page.evaluate(() => String(getSelection()).replaceAll(/\s/g, "")), await shownHex());
  await page.waitForFunction(() => document.getElementById("copy").textContent === "Copy hex");
});

test("a port that is taken is said to be", async () => {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    const { port } = server.address();
    const script = new URL("../../scripts/page.sh", import.meta.url).pathname;
    const { status, stdout, stderr } = spawnSync(script, ["--serve", String(port)], { encoding: "utf8", timeout: 120_000 });
    assert.equal(stderr, `Port ${port} cannot be served on: Address already in use. Another one: --serve PORT.\n`);
    assert.ok(!stdout.includes("http://"), stdout);
    assert.equal(status, 1);
  } finally {
    server.close();
  }
});

const USERS = Array.from({ length: 3000 }, (_, i) => `user:${String(i * 2).padStart(6, "0")}`);

for (const compression of [null, "snappy"]) {
  test(`a file of stock LevelDB is dropped on it (${compression ?? "not compressed"})`, async () => {
    const note = await drop(stockTable({ keys: USERS, values: [1, 4, 40], compression }));
    assert.match(note, /with 3,000 keys\. Its filters are LevelDB's own/);
    const filters = await page.evaluate(() => filePart.table.filters.map(({ bytes }, number) =>
      bytes.length < 2 ? null : [hexOf(bytes), filePart.table.keysOf(number).map((key) => hexOf(key))]).filter(Boolean));
    assert.deepEqual(filters.flatMap(([, keys]) => keys), USERS.map(hex));
    const made = oracle({ ask: "filters", filters: filters.map(([, keys]) => [10, keys]) });
    assert.deepEqual(filters.map(([bytes]) => bytes), made);
    const rates = oracle({ ask: "rates", filters: made });
    const sum = (of) => made.reduce((total, filter, i) => total + of(filter.length, i), 0);
    const rate = sum((length, i) => rates[i] * length) / sum((length) => length);
    assert.equal(await page.textContent("#file-rate"), await page.evaluate((rate) => percent(rate), rate));
    assert.equal(await page.textContent("#file-filters"), filters.length.toLocaleString("en"));

    const find = async (key) => {
      await page.fill("#file-key", key);
      await page.press("#file-key", "Enter");
      return settled(page, "#file-verdict");
    };
    for (const key of [USERS[0], USERS[1234], USERS.at(-1)]) assert.match(await find(key), /Maybe there, and it is.*finds it/);
    assert.match(await find("zebra"), /No block for it/);
    // Between stored keys, all 2,999 of them: the answers are those of the filters.
    const absent = USERS.slice(0, -1).map((_, i) => `user:${String(i * 2 + 1).padStart(6, "0")}`);
    const answers = await page.evaluate((keys) => keys.map((key) => {
      const { number, may, there } = filePart.table.find(keyBytes(key));
      return { number, may, there };
    }), absent);
    assert.ok(answers.every(({ there }) => there === "no"));
    const wrong = answers.findIndex(({ may }) => may);
    const right = answers.findIndex(({ may }) => !may);
    assert.match(await find(absent[right]), /Certainly absent/);
    assert.match(await find(absent[wrong]), /False positive/);
    const bytes = await page.evaluate((number) => hexOf(filePart.table.filters[number].bytes), answers[wrong].number);
    assert.deepEqual(oracle({ ask: "match", filter: bytes, keys: [hex(absent[wrong])] }), [1]);

    await page.focus("#map");
    await page.keyboard.press("End");
    assert.match(await page.getAttribute("#map", "aria-valuetext"), /^Filter \d+: \d+ % of \d+ bits set by \d+ keys? of \d data blocks?;/);
    await page.focus("#file-array");
    const owned = await page.evaluate(() => [...filePart.owners.keys()][0]);
    for (let bit = 0; bit < owned; bit++) await page.keyboard.press("ArrowRight");
    assert.match(await page.textContent("#file-detail"), /set by user:/);
  });
}

test("the map shows which filter is how full", async () => {
  // Blocks of many keys and of one, so that some slots have no filter, and filters are of several sizes.
  await drop(stockTable({ keys: USERS.slice(0, 600), values: [...Array(40).fill(1), 5000, 5000, 5000], bitsPerKey: 8 }));
  const { filters, filterBytes } = await page.evaluate(() => ({
    filters: filePart.table.filters.map(({ bytes }) => hexOf(bytes)),
    filterBytes: filePart.table.filterBytes,
  }));
  const arrays = filters.map((filter) => Buffer.from(filter, "hex").subarray(0, -1));
  const bitsSet = (array) => array.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  const fills = arrays.map((array) => (array.length ? bitsSet(array) / array.length / 8 : 0));
  const made = arrays.filter(({ length }) => length > 0);
  assert.ok(made.length > 20 && made.length < arrays.length);
  const all = Buffer.concat(made);
  assert.equal(await page.textContent("#file-filters"), made.length.toLocaleString("en"));
  assert.equal(await page.textContent("#file-empty"), (arrays.length - made.length).toLocaleString("en"));
  assert.equal(await page.textContent("#file-fill"), `${((100 * bitsSet(all)) / all.length / 8).toFixed(0)} %`);
  assert.equal(await page.textContent("#file-spent"), ((8 * (filterBytes + 5)) / 600).toFixed(1));

  await page.evaluate(() => filePart.map.select(0));
  const { cell, columns, shares } = await page.evaluate(() => {
    const { canvas, cell, columns, filters } = filePart.map;
    const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const scale = devicePixelRatio;
    // Down the middle of a gauge, from its clear top to its set foot.
    const shares = filters.map((_, i) => {
      const x = Math.floor(((i % columns) + 0.5) * cell * scale);
      const top = Math.floor(i / columns) * cell * scale;
      const column = pen.getImageData(x, top, 1, cell * scale).data;
      const colors = Array.from({ length: column.length / 4 }, (_, y) => column.slice(4 * y, 4 * y + 4).join());
      const set = getComputedStyle(filePart.map.host).getPropertyValue("--set").match(/\d+/g).slice(0, 3).join();
      const drawn = colors.filter((color) => !color.endsWith(",0"));
      return drawn.filter((color) => color === `${set},255`).length / (cell - 3) / scale;
    });
    return { cell, columns, shares };
  });
  assert.ok(cell >= 12, `gauges of ${cell} pixels`);
  fills.forEach((fill, i) => {
    if (i > 0) assert.ok(Math.abs(shares[i] - fill) < 1.6 / (cell - 3), `filter ${i}: ${shares[i]} for ${fill}`);
  });
  assert.ok(new Set(fills.map((fill) => Math.round(fill * 10))).size > 2, "gauges of several heights");
  for (const number of [1, columns - 1, columns, filters.length - 1]) {
    const position = { x: ((number % columns) + 0.5) * cell, y: (Math.floor(number / columns) + 0.5) * cell };
    await page.locator("#map canvas").click({ position });
    assert.equal(await page.getAttribute("#map", "aria-valuenow"), String(number));
    const said = arrays[number].length ? `${Math.round(fills[number] * 100)} % of ${8 * arrays[number].length} bits set by ` : "empty, ";
    assert.ok((await page.textContent("#file-chosen")).startsWith(`Filter ${number}: ${said}`), said);
  }
  // Right of the last column there is none.
  await page.evaluate(() => {
    const { canvas, cell, columns, host } = filePart.map;
    filePart.map.select(1);
    const { left, top } = canvas.getBoundingClientRect();
    host.dispatchEvent(new MouseEvent("click", { clientX: left + (columns + 0.5) * cell, clientY: top + cell / 2 }));
  });
  assert.equal(await page.getAttribute("#map", "aria-valuenow"), "1");
  // A fill whose share of percent is below a half and one that is above.
  const parts = fills.map((fill) => (fill * 100) % 1);
  for (const number of [parts.findIndex((part) => part > 0.01 && part < 0.49), parts.findIndex((part) => part > 0.51)]) {
    await page.evaluate((number) => filePart.map.select(number), number);
    assert.ok((await page.textContent("#file-chosen")).startsWith(`Filter ${number}: ${Math.round(fills[number] * 100)} % of `));
  }
});

test("the map is seen in any colors, and takes new ones", async () => {
  await drop(stockTable({ keys: USERS.slice(0, 600), values: [1, 3000, 700, 20] }));
  await page.evaluate(() => filePart.map.select(filePart.map.filters.findLastIndex(({ bits }) => bits > 0)));
  const look = () => page.evaluate(() => {
    const { canvas, cell, columns, filters, chosen, host } = filePart.map;
    const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    const color = (fill) => {
      pen.fillStyle = fill;
      pen.fillRect(0, 0, 1, 1);
      return pen.getImageData(0, 0, 1, 1).data.slice(0, 3).join();
    };
    const style = getComputedStyle(host);
    const wanted = ["set", "clear", "ink"].map((name) => color(style.getPropertyValue(`--${name}`)));
    const behind = color(getComputedStyle(document.querySelector(".card")).backgroundColor);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(canvas, 0, 0);
    const at = (i, y) => {
      const x = ((i % columns) + 0.5) * cell * devicePixelRatio;
      return pen.getImageData(x, (Math.floor(i / columns) * cell + y) * devicePixelRatio, 1, 1).data.slice(0, 3).join();
    };
    const made = filters.findIndex(({ fill }) => fill > 0.25 && fill < 0.7);
    const none = filters.findIndex(({ bits }) => bits === 0);
    return { drawn: [at(made, cell - 3), at(made, 3), at(chosen, 1)], empty: at(none, cell / 2), wanted, behind };
  });
  const seen = new Set();
  for (const media of [{ colorScheme: "light" }, { colorScheme: "dark" }, { forcedColors: "active" }, { colorScheme: "light" }, { forcedColors: "none" }]) {
    await page.emulateMedia(media);
    // The page is told a moment later.
    let looked = await look();
    for (let i = 0; i < 40 && String(looked.drawn) !== String(looked.wanted); i++) {
      await page.waitForTimeout(50);
      looked = await look();
    }
    const { drawn, empty, wanted, behind } = looked;
    assert.deepEqual(drawn, wanted, JSON.stringify(media));
    const [set, clear] = drawn;
    assert.equal(new Set([set, clear, behind]).size, 3, `a gauge is seen: ${JSON.stringify(media)}`);
    assert.notEqual(empty, behind, `the place of one that is not there, too: ${JSON.stringify(media)}`);
    seen.add([set, clear].join());
  }
  assert.ok(seen.size >= 3, "each has colors of its own");
});

test("a file with deletions, one without filters, and files that are none", async () => {
  await drop(stockTable({ keys: FRUIT, deleted: ["fig"] }));
  await page.fill("#file-key", "fig");
  await page.press("#file-key", "Enter");
  assert.match(await settled(page, "#file-verdict"), /was deleted/);

  const whole = readFileSync(stockTable({ keys: USERS, values: [40] }));
  const path = join(folder, "other");
  const dropped = (bytes) => {
    writeFileSync(path, bytes);
    return drop(path);
  };
  assert.match(await drop(stockTable({ keys: FRUIT, bitsPerKey: 0 })), /It has no filters/);
  assert.ok(await page.isHidden("#file-part"));
  assert.match(await dropped(Buffer.alloc(0)), /cannot be read: /);
  assert.match(await dropped(Buffer.from("hello, world".repeat(100))), /cannot be read: .*magic number/);
  assert.match(await dropped(whole.subarray(0, whole.length - 1)), /cannot be read: /);
  const damaged = Buffer.from(whole);
  damaged[100] ^= 1;
  assert.match(await dropped(damaged), /, 1 of which cannot be read, the others with .*checksum/);
  // Of what cannot be read nothing is worked out, and nothing is left out in silence.
  assert.equal(await page.textContent("#file-spent"), "–");
  assert.match(await page.textContent("#file-keys"), /^\d+(–\d+)?$/);
  assert.match(await page.evaluate(() => filePart.describe(0)), /set by keys that are not all known of/);
  assert.ok(await page.isVisible("#file-part"));
  const absent = await page.evaluate((keys) => keys.find((key) => !filePart.table.find(keyBytes(key)).may), USERS.slice(0, 9).map((key) => `${key}x`));
  for (const [key, title] of [[USERS[3], "Maybe there."], [absent, "Absent, says the filter."]]) {
    await page.fill("#file-key", key);
    await page.press("#file-key", "Enter");
    assert.equal(await settled(page, "#file-verdict"), `!${title} Whether it is so is not known: the data block at byte 0 cannot be read.`);
  }
  damaged[damaged.length >> 1] ^= 1;
  assert.match(await dropped(damaged), /, 2 of which cannot be read.*: data block at byte 0: checksum/);
  // Where it is not known which filters there are, none are made up.
  const name = whole.indexOf("filter.leveldb.BuiltinBloomFilter2");
  for (const [at, what] of [[name, "metaindex block"], [name - 100, "filter block"]]) {
    const changed = Buffer.from(whole);
    changed[at] ^= 1;
    assert.match(await dropped(changed), new RegExp(`cannot be read: ${what} at byte \\d+: checksum`));
    assert.ok(await page.isHidden("#file-part"));
  }
  assert.match(await dropped(whole), /with 3,000 keys/);
});

test("a table without sequence numbers is called that, and its keys are found", async () => {
  const entries = Array.from({ length: 50 }, (_, i) => [0, Buffer.from(`word${100 + i}`), Buffer.from("v")]);
  const keys = entries.map(([, key]) => key.toString());
  const filter = Buffer.from(cFilter(10, keys), "hex");
  const path = join(folder, "plain");
  writeFileSync(path, craft(entries, Buffer.concat([filter, words([0, filter.length]), Buffer.from([11])])));
  assert.match(await drop(path), /1 data block with 50 keys\. It is a table without sequence numbers \(plain keys\).*Its filters are LevelDB's own/);
  for (const [key, said] of [["word107", /Maybe there, and it is/], ["word1070", /Certainly absent|False positive/]]) {
    await page.fill("#file-key", key);
    await page.press("#file-key", "Enter");
    assert.match(await settled(page, "#file-verdict"), said);
  }
});

test("keys in another order than that of their bytes are found", async () => {
  // Of one block, the index has one key.
  for (const keys of [USERS, FRUIT]) {
    await drop(stockTable({ keys, values: [40], reversed: true }));
    const answers = await page.evaluate((keys) => keys.map((key) => {
      const { may, there } = filePart.table.find(keyBytes(key));
      return may && there;
    }), keys);
    assert.deepEqual(new Set(answers), new Set(["stored"]));
    const find = async (key) => {
      await page.fill("#file-key", key);
      await page.press("#file-key", "Enter");
      return settled(page, "#file-verdict");
    };
    assert.match(await find(keys[7]), /Maybe there, and it is.*finds it/);
    for (const absent of ["aaa", `${keys[7]}x`, "zebra"]) assert.match(await find(absent), /Not in this file.*not in the order of their bytes/);
  }
});

test("of two files the last is shown, however long the first takes, or neither", async () => {
  const [slow, quick] = [USERS, FRUIT].map((keys) => readFileSync(stockTable({ keys })).toString("base64"));
  const open = (files) => page.evaluate(async (files) => {
    await Promise.all(files.map(([name, content, wait]) => {
      const file = new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], name);
      const read = file.arrayBuffer.bind(file);
      file.arrayBuffer = () => pause(wait).then(read);
      return filePart.open(file);
    }));
    const { textContent, className } = document.getElementById("file-note");
    return [textContent.split(/[ ,]/)[0], className, filePart.table?.keys, document.getElementById("file-part").hidden];
  }, files);
  const first = ["first", slow, 300];
  assert.deepEqual(await open([first, ["last", quick, 0]]), ["last", "note", 20, false]);
  assert.deepEqual(await open([first, ["bad", "", 0]]), ["bad", "note trouble", undefined, true]);
  assert.deepEqual(await open([["bad", "", 300], first]), ["first", "note", 3000, false]);
  assert.deepEqual(await open([["bad", "", 0]]), ["bad", "note trouble", undefined, true]);
  // Nor is it shown below what is said of something else that came in between.
  const refused = await page.evaluate(async (content) => {
    const opening = filePart.open(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], "first"));
    filePart.refuse("That is none.");
    await opening;
    return [document.getElementById("file-note").textContent, document.getElementById("file-part").hidden];
  }, slow);
  assert.deepEqual(refused, ["That is none.", true]);
});

test("a file's memory is its own, and as large as WebAssembly's gets", async () => {
  const bytes = readFileSync(stockTable({ keys: USERS })).toString("base64");
  const [before, after, large, small] = await page.evaluate(async (bytes) => {
    const table = Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0));
    const hole = new Uint8Array(32 << 20);
    const size = ({ wasm }) => wasm.memory.buffer.byteLength;
    const before = size(bloom);
    await filePart.open(new File([table.subarray(0, -48), hole, table.subarray(-48)], "large"));
    const large = size(filePart.table);
    await filePart.open(new File([table], "small"));
    return [before, size(bloom), large, size(filePart.table)];
  }, bytes);
  assert.equal(after, before);
  assert.ok(large > 32 << 20, `${large} bytes`);
  assert.ok(small < 4 << 20, `${small} bytes`);

  // Above 2 GiB, where addresses are negative to JavaScript.
  const answers = await page.evaluate(async (bytes) => {
    const another = await bloom.another();
    another.wasm.memory.grow(0x8000);
    const table = new TableFile(another, Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)));
    const key = new Uint8Array(1 << 20);
    const filter = bloom.empty(1, 10, 6);
    another.insert(key, filter);
    return [table.keys, table.filters[0].fill, table.keysOf(0).length, another.mayMatch(key, filter), bloom.mayMatch(key, filter)];
  }, bytes);
  assert.equal(answers[0], 3000);
  assert.ok(answers[1] > 0.3 && answers[2] > 10, String(answers));
  assert.deepEqual(answers.slice(3), [true, true]);
  // Beyond what there is.
  const refused = await page.evaluate(() => {
    const huge = { length: 2 ** 32 - 2 ** 20 };
    try {
      return String(bloom.take(huge));
    } catch ({ message }) {
      return message;
    }
  });
  assert.equal(refused, "there is no memory for it in this tab");
});

test("a bit is said to be what it is, whoever's key set it", async () => {
  // Of a filter's several blocks, one cannot be read.
  const damaged = readFileSync(stockTable({ keys: USERS, values: [1], compression: "snappy" }));
  damaged[100] ^= 1;
  const path = join(folder, "damaged");
  writeFileSync(path, damaged);
  assert.match(await drop(path), /1 of which cannot be read/);
  const sentences = await page.evaluate(() => {
    const { bits } = filePart;
    bits.draw = () => {};
    const sentences = [new Set(), new Set()];
    for (let bit = 0; bit < bits.count; bit++) {
      bits.select(bit);
      for (const text of [document.getElementById("file-detail").textContent, bits.host.getAttribute("aria-valuetext")]) {
        sentences[Number(isSet(bits.filter, bit))].add(text.replace(/^.*?: /, "").replace(/user:.*/, "user"));
      }
    }
    return sentences.map((set) => [...set].sort());
  });
  const unknown = "set, by none of the keys that were read";
  assert.deepEqual(sentences, [
    ["clear, no key has it", "clear, no key has it."],
    ["set by user", unknown, `${unknown}.`],
  ]);
});

// CRC-32C with LevelDB's mask, of a block's contents and the byte for its compression, written anew.
function seal(file, start, length) {
  let crc = 0xffffffff;
  for (const byte of file.subarray(start, start + length + 1)) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  crc = ~crc >>> 0;
  file.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0, start + length + 1);
}

test("a key that a file has often is one key", async () => {
  const table = stockTable({ keys: ["", ...Array(1000).fill("counter"), "other"], deleted: ["gone"] });
  assert.match(await drop(table), /data blocks with 4 keys in 1,003 entries\. Its/);
  const filters = await page.evaluate(() => filePart.table.filters.map(({ keys, entries, blocks }, number) =>
    ({ keys, entries, blocks, own: filePart.table.keysOf(number).map(keyText) })).filter(({ blocks }) => blocks > 0));
  assert.ok(filters.length > 2);
  assert.equal(filters.reduce((sum, { entries }) => sum + entries, 0), 1003);
  assert.deepEqual(filters.map(({ keys }) => keys), filters.map(({ own }) => own.length));
  assert.deepEqual(filters.at(0).own, ["", "counter"]);
  for (const { own } of filters.slice(1, -1)) assert.deepEqual(own, ["counter"]);
  assert.deepEqual(filters.at(-1).own, ["counter", "gone", "other"]);
  assert.equal(await page.textContent("#file-keys"), "1–3");
  const spent = await page.evaluate(() => (8 * (filePart.table.filterBytes + 5)) / 1003);
  assert.equal(await page.textContent("#file-spent"), spent.toFixed(1));
  assert.match(await page.textContent("#file-chosen"), /set by 2 keys in \d+ entries of \d+ data blocks/);
  const bit = await page.evaluate(() => [...filePart.owners].find(([, keys]) => keys.includes(1))[0]);
  await page.evaluate((bit) => filePart.bits.select(bit), bit);
  assert.match(await page.textContent("#file-detail"), /: set by (\(empty\) )?counter ?$/);
  await page.fill("#file-key", "gone");
  await page.press("#file-key", "Enter");
  assert.match(await settled(page, "#file-verdict"), /was deleted/);
});

test("of several filter blocks LevelDB's own is shown, and the others are named", async () => {
  const own = "leveldb.BuiltinBloomFilter2";
  const said = "as well, which are not looked at: LevelDB asks those that have its policy's name.";
  for (const [policy, other, wanted] of [[own, "a.Policy", /LevelDB's own/], [own, "z.Policy", /LevelDB's own/],
    ["a.Policy", "b.Policy", /those of another policy, a\.Policy/],
    ["leveldb.BuiltinBloomFilter", "z.Policy", /named leveldb\.BuiltinBloomFilter, as goleveldb .* LevelDB in C\+\+ ignores them/]]) {
    const filter = cFilter(10, FRUIT);
    const file = oracle({ ask: "several", keys: FRUIT.map(hex), filter, policies: [policy, other] });
    const path = join(folder, "several");
    writeFileSync(path, Buffer.from(file));
    const note = await drop(path);
    assert.match(note, wanted);
    assert.ok(note.includes(`It has filters of ${other} ${said}`), note);
    assert.equal(await page.evaluate(() => hexOf(filePart.table.filters[0].bytes)), filter);
  }
  assert.doesNotMatch(await drop(stockTable({ keys: FRUIT })), /as well/);
  // As where the filter block ends too early.
  await page.evaluate(async () => {
    await filePart.find("fig");
    filePart.table.filters.length = 0;
    await filePart.find("fig");
  });
  assert.match(await settled(page, "#file-verdict"), /^!No filter\. The block at byte 0 has none, and LevelDB reads it\.$/);
  assert.equal(await page.textContent("#file-sum"), "");
});

test("a lost key and another policy's filters are called that", async () => {
  const file = readFileSync(stockTable({ keys: FRUIT }));
  const filter = Buffer.from(cFilter(10, FRUIT), "hex");
  const path = join(folder, "changed");

  const lost = Buffer.from(file);
  const start = lost.indexOf(filter);
  // The filter, its offset, the offset of the offsets, and base_lg.
  const length = filter.length + 4 + 4 + 1;
  lost.fill(0, start, start + filter.length - 1);
  seal(lost, start, length);
  writeFileSync(path, lost);
  // All of them: not LevelDB's doing.
  assert.match(await drop(path), /20 keys\. Its keys do not match its filters: these are of another format/);
  assert.equal(await page.textContent("#file-rate"), "–");
  await page.fill("#file-key", "fig");
  await page.press("#file-key", "Enter");
  assert.match(await settled(page, "#file-verdict"), /^!Filter 0 says no\. “fig” is in .* another format, or was made wrongly/);
  filter.copy(lost, start);
  // The first bit of fig's is cleared, and those that share it are lost with it.
  const [position] = await page.evaluate(() => filePart.bloom.probes(keyBytes("fig"), filePart.bits.filter).positions);
  lost[start + (position >> 3)] &= ~(1 << (position & 7));
  seal(lost, start, length);
  writeFileSync(path, lost);
  assert.match(await drop(path), /20 keys\. Its filters are LevelDB's own/);
  await page.fill("#file-key", "fig");
  await page.press("#file-key", "Enter");
  assert.match(await settled(page, "#file-verdict"), /A lost key/);
  const [bit] = await page.evaluate(() => filePart.bloom.probes(keyBytes("fig"), filePart.bits.filter).positions);
  await page.evaluate((bit) => filePart.bits.select(bit), bit);
  assert.match(await page.textContent("#file-detail"), /: clear, though LevelDB sets it for .*fig/);

  const other = Buffer.from(file);
  const name = other.indexOf("filter.leveldb.BuiltinBloomFilter2");
  other[name + 33] = "3".charCodeAt(0);
  // Three lengths, the name, the handle, and one restart point.
  seal(other, name - 3, 3 + 34 + other[name - 1] + 8);
  writeFileSync(path, other);
  assert.match(await drop(path), /those of another policy, leveldb\.BuiltinBloomFilter3/);
  const find = async (key) => {
    await page.fill("#file-key", key);
    await page.press("#file-key", "Enter");
    return settled(page, "#file-verdict");
  };
  // What LevelDB would do is not said, as nobody knows it.
  assert.equal(await find("fig"), "✓Filter 0 says yes. “fig” gets that answer if the filter is read as LevelDB's.");
  assert.equal(await find("nut"), "✕Filter 0 says no. “nut” gets that answer if the filter is read as LevelDB's.");
});

const varint = (number) => {
  const bytes = [];
  for (; number > 127; number >>>= 7) bytes.push((number & 127) | 128);
  return Buffer.from([...bytes, number]);
};
const words = (numbers) => Buffer.from(Uint32Array.from(numbers).buffer);

// A table with one data block, of entries that are given as shared length, key and value.
function craft(entries, filters, policy = "leveldb.BuiltinBloomFilter2") {
  const parts = [];
  let at = 0;
  const write = (contents) => {
    const sealed = Buffer.concat([contents, Buffer.alloc(5)]);
    seal(sealed, 0, contents.length);
    parts.push(sealed);
    const handle = Buffer.concat([varint(at), varint(contents.length)]);
    at += sealed.length;
    return handle;
  };
  const block = (entries) => write(Buffer.concat([
    ...entries.flatMap(([shared, key, value]) => [varint(shared), varint(key.length), varint(value.length), key, value]),
    words([0, 1]),
  ]));
  const data = block(entries);
  const index = [[0, Buffer.from("z\x01\0\0\0\0\0\0\0"), data]];
  const metaindex = block([[0, Buffer.from(`filter.${policy}`), write(filters)]]);
  const footer = Buffer.alloc(48);
  Buffer.concat([metaindex, block(index)]).copy(footer);
  footer.writeBigUInt64LE(0xdb4775248b80fb57n, 40);
  return Buffer.concat([...parts, footer]);
}

// One filter, and so many slots that are empty.
const oneFilter = (slots = 0) =>
  Buffer.concat([Buffer.alloc(8, 0xff), Buffer.from([6]), words([0, ...Array(slots + 1).fill(9), 9]), Buffer.from([11])]);
const version = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);

test("a file cannot take what the page does not have", async () => {
  const path = join(folder, "crafted");
  const dropped = (bytes) => {
    writeFileSync(path, bytes);
    return drop(path);
  };
  // Keys that share all but the end with the one before, so that they take 280 times the file.
  const stem = Buffer.alloc(1 << 16, "k");
  const entries = Array.from({ length: 301 }, (_, i) => {
    const end = Buffer.concat([Buffer.from(String(i).padStart(3, "0")), version]);
    return i === 0 ? [0, Buffer.concat([stem, end]), Buffer.alloc(0)] : [stem.length, end, Buffer.alloc(0)];
  });
  const keys = craft(entries, oneFilter());
  assert.match(await dropped(keys), /1 data block with 301 keys/);
  assert.match(await page.textContent("#file-chosen"), /set by 301 keys .* The first 15 of them are shown here\.$/);

  const one = [[0, Buffer.concat([Buffer.from("a"), version]), Buffer.alloc(0)]];
  assert.match(await dropped(craft(one, oneFilter(300_000))), /1 data block with 1 key\./);
  assert.equal(await page.evaluate(() => filePart.table.filters.length), 512 * 512);

  // With less and less memory it says that, and the page goes on.
  const notes = await page.evaluate(async (bytes) => {
    const file = new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], "keys");
    const another = filePart.bloom.another.bind(filePart.bloom);
    const notes = [];
    for (let left = 160; left >= 0; left -= 4) {
      filePart.bloom.another = async () => {
        const made = await another();
        made.wasm.memory.grow(65536 - made.wasm.memory.buffer.byteLength / 65536 - left);
        return made;
      };
      await filePart.open(file);
      notes.push(document.getElementById("file-note").textContent.replace(/^.*? (?=\d+ keys|cannot)|\. .*/g, ""));
    }
    return [...new Set(notes)];
  }, keys.toString("base64"));
  const refused = "cannot be read: it takes more memory than there is in this tab";
  assert.equal(notes[0], "301 keys");
  assert.ok(notes.includes(refused), String(notes));
  assert.equal(notes.at(-1), "cannot be read: there is no memory for it in this tab");
  assert.match(await check("plum"), /Maybe there, and it is/);
});

test("a name in a file turns no line, nor fills the page", async () => {
  const path = join(folder, "named");
  const one = [[0, Buffer.concat([Buffer.from("a"), version]), Buffer.alloc(0)]];
  const said = async (policy) => {
    writeFileSync(path, craft(one, oneFilter(), policy));
    return drop(path);
  };
  assert.match(await said("a\u202e\n\u2028<b>é"), /another policy, a\\u\{202e\}\\u\{a\}\\u\{2028\}<b>é: what is/);
  assert.match(await said("n".repeat(1_000_000)), /another policy, n{100}… \(1,000,000 characters\): what is/);
  const note = await page.evaluate(async () => {
    await filePart.open(new File(["no table"], "b\u202e.ldb"));
    return document.getElementById("file-note").textContent;
  });
  assert.match(note, /^b\\u\{202e\}\.ldb cannot be read: /);
});

test("a file that was made to take time does not hold the page", async () => {
  const path = join(folder, "slow");
  const opened = async (bytes) => {
    writeFileSync(path, bytes);
    const note = await drop(path);
    // What is done for the last key as well, and what is drawn in the end.
    await page.evaluate(async () => {
      if (filePart.keys.length) await filePart.find(keyText(filePart.keys.at(-1)));
      await pause(50);
    });
    return note;
  };
  const none = Buffer.alloc(0);
  const end = (i) => Buffer.concat([Buffer.from(String(i).padStart(6, "0")), version]);

  // Keys that take fifty thousand times their block: 50 GB, if each is looked at as a whole.
  const long = Buffer.alloc(1 << 20, "k");
  const sharing = [[0, Buffer.concat([long, end(0)]), none]];
  for (let i = 1; i < 50_000; i++) sharing.push([long.length, end(i), none]);
  assert.match(await opened(craft(sharing, oneFilter())), /1 data block with 50,000 keys\. Its filters are LevelDB's own bloom filters\.$/);

  // A hundred thousand keys of as many bits as there are.
  const short = Array.from({ length: 100_000 }, (_, i) => [0, end(i), none]);
  const wide = Buffer.concat([Buffer.alloc(400_000, 0xff), Buffer.from([30]), words([0, 400_001, 400_001]), Buffer.from([11])]);
  await opened(craft(short, wide));
  assert.match(await page.textContent("#file-chosen"), /set by 100,000 keys .* The first 5,000 of them are shown here\./);
  assert.match(await page.textContent("#file-verdict"), /Maybe there, and it is/);

  // As many filters as the page takes.
  const filters = 1 << 18;
  const small = Buffer.concat([Buffer.from(Array.from({ length: 2 * filters }, (_, i) => [0xff, 6, 0x0f, 6][i % 4])), words(Array.from({ length: filters + 2 }, (_, i) => 2 * Math.min(i, filters))), Buffer.from([11])]);
  await page.evaluate(() => {
    const { beginPath } = CanvasRenderingContext2D.prototype;
    globalThis.shapes = 0;
    CanvasRenderingContext2D.prototype.beginPath = function () {
      globalThis.shapes++;
      beginPath.call(this);
    };
  });
  await opened(craft([[0, end(0), none]], small));
  assert.equal(await page.evaluate(() => filePart.map.filters.length), filters);
  const [drawn, wanted] = await page.evaluate(() => {
    const { canvas, cell, columns, host } = filePart.map;
    const pen = new OffscreenCanvas(columns * cell, 2 * cell).getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const at = (i, y) => [...pen.getImageData(((i % columns) + 0.5) * cell, Math.floor(i / columns) * cell + y, 1, 1).data.slice(0, 3)].join();
    const style = getComputedStyle(host);
    const [set, clear] = ["set", "clear"].map((name) => style.getPropertyValue(`--${name}`).match(/\d+/g).slice(0, 3).join());
    const some = [1, 2, columns - 2, columns + 1, columns + 2];
    return [some.map((i) => [at(i, 1), at(i, 4)]), some.map((i) => [i % 2 ? clear : set, set])];
  });
  assert.deepEqual(drawn, wanted, "every other filter is full, and the rest half full, from the foot");
  // What takes longest where there is nothing to see.
  const shapes = await page.evaluate(() => globalThis.shapes);
  assert.ok(shapes < 1000, `${shapes} shapes`);
});

test("a filter of any size is drawn as far as a canvas goes, and at once", async () => {
  const path = join(folder, "large");
  const one = [[0, Buffer.concat([Buffer.from("a"), version]), Buffer.alloc(0)]];
  const size = 400_000;
  writeFileSync(path, craft(one, Buffer.concat([Buffer.alloc(size, 0xff), Buffer.from([6]), words([0, size + 1, size + 1]), Buffer.from([11])])));
  for (const width of [1280, 320]) {
    const sized = await open({ viewport: { width, height: 900 } });
    await drop(path, sized);
    assert.match(await sized.textContent("#file-chosen"), /The first 131,072 of its bits are drawn\.$/);
    const height = await sized.evaluate(() => filePart.bits.canvas.height);
    assert.ok(height > 1000 && height <= 16384, `${height} pixels`);
    // Also what is not drawn can be chosen and asked.
    await sized.focus("#file-array");
    await sized.keyboard.press("End");
    assert.match(await sized.textContent("#file-detail"), /^Bit 3,199,999 is bit 7 of byte 399,999: set/);
    // A probe costs no drawing of its own where nobody sees it.
    const draws = await sized.evaluate(async () => {
      const draw = filePart.bits.draw.bind(filePart.bits);
      let draws = 0;
      filePart.bits.draw = () => (draws++, draw());
      await filePart.find("b");
      return draws;
    });
    assert.match(await settled(sized, "#file-verdict"), /False positive/);
    assert.ok(draws < 8, `${draws} times`);
  }
});

test("missing keys between keys in order pass LevelDB's filters, and ribbon filters seldom", async () => {
  const number = (i) => Buffer.from([0, 0, 0, 0, ...Buffer.from(i.toString(16).padStart(8, "0"), "hex")]);
  const kinds = {
    numbers: number,
    padded: (i) => Buffer.from(`user${String(i).padStart(12, "0")}`),
    hex: (i) => Buffer.from(i.toString(16).padStart(16, "0")),
  };
  for (const [kind, each, bits] of [["numbers", 60, 10], ["padded", 34, 10], ["hex", 1000, 7], ["numbers", 1, 50]]) {
    await page.selectOption("#order-kind", kind);
    await page.fill("#order-each", String(each));
    await page.fill("#bits", String(bits));
    const starts = Array.from({ length: Math.ceil(10_000 / each) }, (_, i) => i * each);
    const keysFrom = (start, odd) => Array.from({ length: Math.min(each, 10_000 - start) },
      (_, i) => kinds[kind](1_000_000 + odd + 2 * (start + i)).toString("hex"));
    for (const encoding of ["bloom", "ribbon"]) {
      const filters = oracle({ ask: "filters", filters: starts.map((start) =>
        [bits, keysFrom(start, 0), ...(encoding === "ribbon" ? [1] : [])]) });
      const ask = (absent) => oracle({ ask: "all", asked: filters.map((filter, i) => [filter, absent(starts[i])]) }).flat();
      const answers = ask((start) => keysFrom(start, 1));
      const count = (answers) => answers.filter((answer) => answer).length;
      const passed = count(answers);
      const shown = await page.$$eval(`#order-${encoding} rect`, (cells) => cells.map((cell) => Number(cell.classList.contains("passes"))));
      assert.deepEqual(shown, answers.slice(0, 400), `${kind} ${encoding}`);
      const size = kind === "numbers" ? 16 : 32;
      const random = (await page.evaluate(() => hexOf(strangers))).match(new RegExp(`.{${size}}`, "g"));
      const far = count(ask((start) => random.slice(start, Math.min(start + each, 10_000))));
      for (const [which, passed_] of [["near", passed], ["far", far]]) {
        const told = await page.textContent(`#order-${encoding}-${which}`);
        assert.ok(Math.abs(parseFloat(told) - passed_ / 100) < 0.051, `${kind} ${encoding} ${which}: ${told}, ${passed_}`);
      }
      const bytes = filters[0].length / 2;
      assert.equal(await page.textContent(`#order-${encoding}-bytes`), `${bytes.toLocaleString("en")} bytes`);
      if (encoding === "ribbon") assert.ok(passed < 1.5 * (10_000 / 2 ** Math.min(bits, 13)) + 10, `${kind}: ${passed}`);
      else if (each === 60) assert.ok(passed > 1000, `${passed}`);
    }
    assert.equal(await page.textContent("#order-note"), bits > 13 ? "A ribbon filter has at most 13 bits per key." : "");
  }
  await page.fill("#order-each", "34");
  await page.waitForURL(/each=34/);
  const again = await open({}, page.url());
  assert.equal(await again.textContent("#order-each-out"), "34");
  await page.selectOption("#order-kind", "hex");
  await page.waitForURL(/order=hex/);
  assert.equal(await (await open({}, page.url())).inputValue("#order-kind"), "hex");
  const odd = await open({}, `${address}#order=toString&each=9999`);
  assert.deepEqual([await odd.inputValue("#order-kind"), await odd.textContent("#order-each-out")], ["numbers", "1000"]);
});

test("a file with ribbon filters is dropped on it", async () => {
  const [filter] = oracle({ ask: "filters", filters: [[10, FRUIT.map(hex), 1]] });
  const path = join(folder, "ribbon");
  const file = Buffer.from(oracle({ ask: "several", keys: FRUIT.map(hex), filter, policies: ["leveldb.BuiltinBloomFilter2", null] }));
  writeFileSync(path, file);
  assert.match(await drop(path), /Its filters are ribbon filters of leveldb-bloom, which LevelDB by itself takes for a match for every key\.$/);
  assert.match(await page.textContent("#file-chosen"), /^Filter 0: a ribbon filter of 20 keys of 1 data block; 26 bytes, in slots of 10 bits\.$/);
  assert.equal(await page.textContent("#file-fill"), "–");
  assert.equal(await page.textContent("#file-rate"), "0.0977 %");
  await page.focus("#file-array");
  assert.match(await page.textContent("#file-detail"), /^Bit 0 is bit 0 of byte 0: (set|clear), by all keys whose rows have its slot\.$/);
  for (const [key, verdict] of [["fig", /Maybe there, and it is/], ["figs", /Certainly absent/]]) {
    await page.fill("#file-key", key);
    await page.press("#file-key", "Enter");
    assert.match(await settled(page, "#file-verdict"), verdict);
    assert.equal(await page.textContent("#file-sum"), "");
  }
  // One that passes by chance.
  const guesses = Array.from({ length: 5000 }, (_, i) => `fig${i}`);
  const found = oracle({ ask: "match", filter, keys: guesses.map(hex) });
  await page.fill("#file-key", guesses[found.indexOf(1)]);
  await page.press("#file-key", "Enter");
  assert.match(await settled(page, "#file-verdict"), /False positive.*the sum of its slots is what the key's hash wants, by chance/);
});

test("a filter that lets every key through is said to", async () => {
  const path = join(folder, "every");
  const one = [[0, Buffer.concat([Buffer.from("a"), version]), Buffer.alloc(0)]];
  for (const k of [0, 31]) {
    writeFileSync(path, craft(one, Buffer.concat([Buffer.alloc(8), Buffer.from([k]), words([0, 9, 9]), Buffer.from([11])])));
    await drop(path);
    await page.fill("#file-key", "b");
    await page.press("#file-key", "Enter");
    assert.match(await settled(page, "#file-verdict"), new RegExp(`False positive.*with k = ${k} the filter lets every key through`));
  }
});

test("on paper the bits are drawn as on light", async () => {
  const drawn = () => page.evaluate(() => [bits, filePart.bits, filePart.map].map(({ canvas }) => canvas.toDataURL()));
  await drop(stockTable({ keys: FRUIT }));
  await page.evaluate(() => probes.clear());
  const light = await drawn();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction((light) => [bits, filePart.bits, filePart.map].every(({ canvas }, i) => canvas.toDataURL() !== light[i]), light);
  for (const chosen of [false, true]) {
    if (chosen) {
      await page.emulateMedia({ colorScheme: "light" });
      await page.click("#theme");
    }
    const dark = await drawn();
    assert.notDeepEqual(dark, light);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.deepEqual(await drawn(), light);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.deepEqual(await drawn(), dark);
    assert.equal(await page.getAttribute("html", "data-theme"), chosen ? "dark" : null);
  }
});

test("a folder, no file, and several files are dropped on it", async () => {
  const table = readFileSync(stockTable({ keys: FRUIT })).toString("base64");
  const notes = await page.evaluate(async (table) => {
    const note = document.getElementById("file-note");
    const file = (name, content) => new File([content], name);
    const bytes = Uint8Array.from(atob(table), (c) => c.charCodeAt(0));
    const dropped = async (items, files) => {
      const event = new Event("drop", { bubbles: true, cancelable: true });
      event.dataTransfer = { types: ["Files"], items, files };
      document.getElementById("zone").dispatchEvent(event);
      await pause(20);
      while (/^Reading/.test(note.textContent)) await pause(20);
      return [note.textContent, document.getElementById("file-part").hidden];
    };
    const files = [file("000004.log", "log"), file("000005.ldb", bytes), file("LOCK", "")];
    return [
      await dropped([], files),
      await dropped([{ webkitGetAsEntry: () => ({ isDirectory: true }) }], [file("folder", "")]),
      await dropped([], files.slice(1, 2)),
      await dropped([], []),
    ];
  }, table);
  assert.match(notes[0][0], /^000005\.ldb, .* 20 keys.* shown alone: 2 files more came with it\.$/);
  assert.match(notes[1][0], /^That is a folder: /);
  assert.match(notes[2][0], /^000005\.ldb, .*own bloom filters\.$/);
  assert.equal(notes[3][0], "What was dropped is no file.");
  assert.deepEqual(notes.map(([, hidden]) => hidden), [false, true, false, true]);
});

test("a file that is too large is not read", async () => {
  const note = await page.evaluate(async () => {
    const arrayBuffer = () => { throw new Error("it is read"); };
    await filePart.open({ name: "large", size: 512 * 1024 * 1024 + 1, arrayBuffer });
    return document.getElementById("file-note").textContent;
  });
  assert.equal(note, "large cannot be read: this page reads files of up to 512 MB; the command-line inspector reads any");
});

test("a file is chosen, and may be chosen again", async () => {
  await page.setInputFiles("#file", stockTable({ keys: FRUIT }));
  await page.waitForFunction(() => document.getElementById("file-note").textContent.includes("20 keys"));
  assert.ok(await page.isVisible("#file-part"));
  // Where it still had a name there, a browser would not tell of the same one.
  assert.equal(await page.inputValue("#file"), "");
});

test("a file that is dragged is awaited, and a text is left alone", async () => {
  const drag = (type, what = "file") => page.evaluate(([type, what]) => {
    const dataTransfer = new DataTransfer();
    if (what === "file") dataTransfer.items.add(new File([""], "000005.ldb"));
    else dataTransfer.setData("text", "apple");
    const event = new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true });
    document.querySelector("h1").dispatchEvent(event);
    return [event.defaultPrevented, document.getElementById("zone").classList.contains("over")];
  }, [type, what]);
  // Unless it is prevented, the browser leaves the page for the file.
  for (const [type, answer] of [["dragenter", [false, true]], ["dragover", [true, true]], ["dragenter", [false, true]],
    ["dragleave", [false, true]], ["dragleave", [false, false]], ["dragenter", [false, true]], ["drop", [true, false]]]) {
    assert.deepEqual(await drag(type), answer, type);
  }
  for (const type of ["dragenter", "dragover", "drop"]) assert.deepEqual(await drag(type, "text"), [false, false], type);
});

test("the numbers in its sentences are those of the filter", async () => {
  const bitsSet = (filter) => filter.subarray(0, -1).reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  const before = Buffer.from(await shownHex(), "hex");
  assert.equal(await page.textContent("#array-note"), `200 bits in 25 bytes, ${bitsSet(before)} of them set, and one byte for k`);
  const { positions } = positionsOf(Buffer.from("quince"), 6, 200);
  const own = [...new Set(positions)];
  const old = own.filter((bit) => before[bit >> 3] & (1 << (bit & 7))).length;
  assert.ok(old > 0 && old !== own.length - old, `${old} of ${own.length}`);
  assert.equal(await add("quince"), `+Added. “quince” has ${own.length} bits; ${old} of them set before.`);
  assert.deepEqual(await page.locator("#sum tbody td:last-child").allTextContents(),
    positions.map((bit) => (before[bit >> 3] & (1 << (bit & 7)) ? "• was set" : "+ set now")));
  assert.match(await page.textContent("#hex-note"), /it would size this one for the 21 that are in it\.$/);
  await page.click("#clear");
  assert.equal(await add("quince"), `+Added. “quince” has ${own.length} bits; none was set before.`);
  for (const [bits, room, note] of [[9, 7, "At least 64 bits in any filter"], [8, 8, "64 bits, in whole bytes"]]) {
    await page.fill("#bits", String(bits));
    await page.fill("#room", String(room));
    assert.equal(await page.textContent("#room-note"), note);
  }
  page = await open({}, `${address}#bits=1&k=30&room=1&many=130`);
  assert.match(await page.textContent("#keys"), /key-0100and 30 more$/);
  const keys = Array.from({ length: 130 }, (_, i) => Buffer.from(`key-${String(i + 1).padStart(4, "0")}`));
  const owners = keys.filter((key) => positionsOf(key, 30, 64).positions.includes(5)).length;
  await page.evaluate(() => bits.select(5));
  assert.ok((await page.textContent("#detail")).endsWith(` and ${owners - 12} more`));
  assert.ok((await page.getAttribute("#array", "aria-valuetext")).endsWith(` and ${owners - 8} more`));
  const path = stockTable({ keys: FRUIT });
  const size = readFileSync(path).length;
  assert.ok((await drop(path)).startsWith(`000005.ldb, ${size.toLocaleString("en")} bytes: 1 data block with 20 keys.`));
  assert.match(await page.textContent("#file-chosen"), / of 200 bits set by 20 keys of 1 data block; 26 bytes, k = 6\.$/);
});

test("where it cannot run, it says so", async () => {
  const context = await browser.newContext();
  const bare = await context.newPage();
  await bare.addInitScript(() => delete globalThis.WebAssembly);
  await bare.goto(address);
  await bare.waitForSelector("#trouble:not([hidden])");
  assert.equal(await bare.textContent("#trouble"), "This page cannot run here: WebAssembly is not defined.");
  const without = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await without.goto(address);
  assert.ok(await without.isVisible("noscript p"));
});

test("a link holds all of it, or it is said that it does not", async () => {
  await page.evaluate(() => add(Array.from({ length: 1500 }, (_, i) => `${i}`.padStart(1000, "k"))));
  await page.waitForFunction(() => document.getElementById("address-note").textContent.includes("too long"));
  assert.equal(new URL(page.url()).hash, "");
  await page.click("#clear");
  await page.waitForFunction(() => document.getElementById("address-note").textContent === "");
  assert.match(page.url(), /#bits=10&room=20$/);
});

test("keys that are blank are seen, and numbers that are taken are passed over", async () => {
  await page.click("#clear");
  for (const key of ["", "  ", "key-0001"]) await add(key);
  assert.deepEqual(await page.locator("#keys button").allTextContents(), ["(empty)", "“  ”", "key-0001"]);
  await page.fill("#many-count", "2");
  await page.click("#many button");
  assert.match(await page.textContent("#keys-note"), /^5 keys/);
  assert.match(await page.textContent("#keys"), /key-0002key-0003$/);
  // The link has them all.
  await page.click("#clear");
  await add("key-0001");
  await page.evaluate(() => change({ many: MOST_KEYS }));
  await page.waitForURL(/many=5000/);
  const again = await open({}, page.url());
  assert.match(await again.textContent("#keys-note"), /^5,000 keys/);
});

test("a key of many characters is named by the first of them", async () => {
  const long = "k".repeat(2000);
  const name = `${"k".repeat(100)}… (2,000 characters)`;
  await page.click("#clear");
  await add("a");
  assert.ok((await add(long)).includes(`Added. “${name}” has `));
  assert.deepEqual(await page.locator("#keys button").allTextContents(), ["a", name]);
  // It is asked for as a whole.
  await page.click("#keys li:last-child button");
  assert.ok((await settled()).includes(`“${name}”: all of its bits are set`));
  assert.equal(await page.inputValue("#check-key"), long);
  const [bit] = positionsOf(Buffer.from(long), 6, 8 * ((await shownHex()).length / 2 - 1)).positions;
  await page.evaluate((bit) => bits.select(bit), bit);
  assert.ok((await page.textContent("#detail")).includes(name));
  assert.ok((await page.getAttribute("#array", "aria-valuetext")).includes(name));
  assert.ok((await page.textContent("#detail")).length < 300);
  assert.ok((await page.getAttribute("#array", "aria-valuetext")).length < 300);
});

test("a key's bytes are shown as one would type them", async () => {
  // Not UTF-8, what is not seen, and text that would be taken for hex.
  const keys = { 20: " ", d0ba: "к", ff00: "0xff00", "0a61": "0x0a61", efbbbf61: "0xefbbbf61", e280ae61: "0xe280ae61",
    30783631: "0x30783631", 30583631: "0x30583631", 307836: "0x6", 3078: "0x", 30786731: "0xg1" };
  const shown = await page.evaluate((keys) => keys.map((key) => {
    const text = keyText(keyBytes(`0x${key}`));
    return [key, text, hexOf(keyBytes(text))];
  }), Object.keys(keys));
  assert.deepEqual(shown, Object.entries(keys).map(([key, text]) => [key, text, key]));
  assert.equal(await page.evaluate(() => hexOf(keyBytes("0X6A6b"))), "6a6b");
});

test("no byte of a file can stop it", async () => {
  const whole = readFileSync(stockTable({ keys: FRUIT }));
  const { failed, opened, refused } = await page.evaluate((bytes) => {
    const whole = Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0));
    const failed = [];
    let [opened, refused] = [0, 0];
    for (let at = 0; at < whole.length; at++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const damaged = whole.slice();
        damaged[at] ^= flip;
        try {
          const table = new TableFile(bloom, damaged);
          table.find(keyBytes("fig"));
          table.keysOf(0);
          opened++;
        } catch (error) {
          // A message is an answer; a trap of the wasm is none, nor a name that is not there.
          if (/RuntimeError|TypeError|ReferenceError/.test(error.name)) failed.push([at, flip, error.message]);
          refused++;
        }
      }
    }
    return { failed, opened, refused };
  }, whole.toString("base64"));
  assert.deepEqual(failed, []);
  assert.ok(opened > 0 && refused > 0, `${opened} opened, ${refused} refused`);
});

test("it can be used from the keyboard alone", async () => {
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.className || document.activeElement.localName);
  const tabTo = async (id) => {
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press("Tab");
      if ((await focused()) === id) {
        const outlined = await page.evaluate(() => {
          const { activeElement } = document;
          const shown = activeElement.id === "file" ? activeElement.nextElementSibling : activeElement;
          return getComputedStyle(shown).outlineStyle !== "none";
        });
        assert.ok(outlined, `${id} shows that it has the focus`);
        return;
      }
    }
    assert.fail(`Tab does not reach ${id}`);
  };
  await tabTo("skip");
  await tabTo("theme");
  await page.keyboard.press("Enter");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  await tabTo("bits");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.textContent("#bits-out"), "11");
  await page.keyboard.press("ArrowLeft");
  await tabTo("array");
  await page.keyboard.press("End");
  assert.equal(await page.getAttribute("#array", "aria-valuenow"), "199");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.getAttribute("#array", "aria-valuenow"), "1");
  // From byte to byte, as far as there is one.
  for (const [key, bit] of [["PageDown", "9"], ["PageDown", "17"], ["PageUp", "9"], ["PageUp", "1"], ["PageUp", "1"], ["End", "199"], ["PageDown", "199"]]) {
    await page.keyboard.press(key);
    assert.equal(await page.getAttribute("#array", "aria-valuenow"), bit, key);
  }
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  const said = await page.getAttribute("#array", "aria-valuetext");
  assert.match(said, /^Bit 2, in byte 0: set by /);
  // These are the browser's, to go back, say.
  for (const key of ["Alt+ArrowRight", "Control+End", "Meta+ArrowDown"]) {
    await page.keyboard.press(key);
    assert.equal(await page.getAttribute("#array", "aria-valuenow"), "2", key);
  }
  await tabTo("copy");
  await tabTo("summary");
  await page.keyboard.press("Enter");
  await tabTo("text");
  await tabTo("add-key");
  await page.keyboard.type("quince");
  await page.keyboard.press("Enter");
  assert.match(await settled(), /Added/);
  await tabTo("check-key");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("quince");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("verdict").textContent.includes("and it is"));
  await tabTo("find");
  await tabTo("many-count");
  await tabTo("fit");
  await page.keyboard.press("Enter");
  assert.equal(await page.textContent("#room-out"), "21");
  await tabTo("clear");
  await tabTo("file");
  await drop(stockTable({ keys: USERS, values: [100] }));
  const { columns, filters } = await page.evaluate(() => ({ columns: filePart.map.columns, filters: filePart.map.filters.length }));
  assert.ok(filters > columns + 1, "more than a row");
  await tabTo("map");
  for (const [key, filter] of [["Home", "0"], ["ArrowRight", "1"], ["Alt+ArrowRight", "1"], ["Control+End", "1"], ["ArrowDown", `${columns + 1}`],
    ["ArrowUp", "1"], ["ArrowUp", "1"], ["End", `${filters - 1}`], ["ArrowDown", `${filters - 1}`], ["Home", "0"], ["ArrowLeft", "0"]]) {
    await page.keyboard.press(key);
    assert.equal(await page.getAttribute("#map", "aria-valuenow"), filter, key);
  }
  // A key that is asked for from a bit leaves both where they are.
  await tabTo("file-array");
  await page.keyboard.press("End");
  while (!(await page.locator("#file-detail button").count())) await page.keyboard.press("ArrowLeft");
  const detail = await page.textContent("#file-detail");
  await tabTo("key");
  const key = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Enter");
  assert.match(await settled(page, "#file-verdict"), /Maybe there, and it is/);
  assert.equal(await page.inputValue("#file-key"), key);
  assert.equal(await page.textContent("#file-detail"), detail);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), key);
});

test("it fits from 320 pixels on, in light and dark, without a violation that axe knows", async () => {
  const path = stockTable({ keys: USERS, values: [1, 4, 40] });
  for (const colorScheme of ["light", "dark"]) {
    for (const width of colorScheme === "light" ? [320, 768, 1440, 2560] : [320, 1440]) {
      const sized = await open({ colorScheme, viewport: { width, height: 900 } });
      await drop(path, sized);
      await sized.fill("#file-key", USERS[7]);
      await sized.press("#file-key", "Enter");
      await settled(sized, "#file-verdict");
      await sized.click("text=200 keys");
      await settled(sized);
      await sized.click("#find");
      await sized.waitForFunction(() => document.getElementById("verdict").textContent.startsWith("!"));
      await sized.click("summary");
      const over = await sized.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${width} pixels, ${over} too wide`);
      if (width === 320 || width === 1440) {
        await sized.evaluate(axe);
        const { violations, passes } = await sized.evaluate(() => axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), [], `${colorScheme}, ${width}`);
        assert.ok(passes.some(({ id }) => id === "color-contrast"));
      }
      await sized.context().close();
    }
  }
});

test("light and dark follow the system, until one chooses", async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  const light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await background();
  assert.notEqual(light, dark);
  await page.click("#theme");
  assert.equal(await background(), light);
  await page.reload();
  assert.equal(await background(), light);
});
