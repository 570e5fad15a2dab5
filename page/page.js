"use strict";
// What the page holds, what it shows of it, and what its controls do.

const MOST_KEYS = 5000;
// Of the address, in characters: browsers keep no more than one or two million, and drop a longer one
// without a word.
const LONGEST_ADDRESS = 1_000_000;

// The address bar's part of the state. `k` is null while it is LevelDB's own.
const state = { bits: 10, k: null, room: 20, keys: [], many: 0, ask: "", order: "numbers", each: 60 };

const FRUIT =
  "apple apricot banana blackberry blueberry cherry currant date elderberry fig " +
  "gooseberry grape kiwi lemon mango melon orange peach pear plum";
const PRESETS = {
  golden: { bits: 10, room: 2, keys: ["hello", "world"], many: 0, ask: "hello" },
  block: { bits: 10, room: 20, keys: FRUIT.split(" "), many: 0, ask: "quince" },
  full: { bits: 4, room: 20, keys: FRUIT.split(" "), many: 40, ask: "quince" },
  large: { bits: 10, room: 200, keys: [], many: 200, ask: "key-0042" },
};

let bloom;
let filter;
let bits;
let probes;
let filePart;
let orderPart;
let byKeys;
let byK;
// The keys in the filter, what tells them apart, and for each bit the indexes of those that set it.
let entries = [];
let held = new Set();
let owners = new Map();
let strangers;

const numbered = (number) => `key-${String(number).padStart(4, "0")}`;
const allKeys = () => [
  ...state.keys,
  ...Array.from({ length: state.many }, (_, i) => numbered(i + 1)),
];
const ownK = () => bloom.probesFor(state.bits);
const currentK = () => state.k ?? ownK();
const idOf = (text) => hexOf(keyBytes(text));
const holds = (text) => held.has(idOf(text));

// 10,000 keys that nobody adds by chance, the same ones every time.
function makeStrangers() {
  const words = new Uint32Array(10_000 * 4);
  let x = 0x2545f491;
  for (let i = 0; i < words.length; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    words[i] = x;
  }
  return new Uint8Array(words.buffer);
}

// --- The address bar ---

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  if ([...given.keys()].length === 0) return { ...PRESETS.block, k: null, order: "numbers", each: 60 };
  const number = (name, lowest, highest, otherwise) => {
    const value = parseInt(given.get(name) ?? "", 10);
    return Number.isNaN(value) ? otherwise : Math.min(highest, Math.max(lowest, value));
  };
  const keys = given.getAll("key").slice(0, MOST_KEYS);
  return {
    bits: number("bits", 1, 50, 10),
    k: number("k", 1, 30, null),
    room: number("room", 1, 500, 20),
    keys,
    many: number("many", 0, MOST_KEYS, 0),
    ask: given.get("ask") ?? "",
    order: Object.hasOwn(ORDERS, given.get("order")) ? given.get("order") : "numbers",
    each: number("each", 1, 1000, 60),
  };
}

let writing;

// A moment after the last change: browsers count how often a page writes there, and WebKit throws
// from the 101st time in ten seconds on.
function writeAddress() {
  clearTimeout(writing);
  writing = setTimeout(() => {
    const address = String(addressed());
    const fits = address.length <= LONGEST_ADDRESS;
    history.replaceState(null, "", fits ? `#${address}` : "#");
    $("address-note").textContent = fits ? "" : "These keys are too long for the link in the address bar: it holds none of this.";
  }, 250);
}

function addressed() {
  const params = new URLSearchParams({ bits: state.bits, room: state.room });
  if (state.k !== null) params.set("k", state.k);
  if (state.many > 0) params.set("many", state.many);
  if (state.order !== "numbers") params.set("order", state.order);
  if (state.each !== 60) params.set("each", state.each);
  for (const key of state.keys) params.append("key", key);
  if (state.ask !== "") params.set("ask", state.ask);
  return params;
}

// --- From the state to the screen ---

function rebuild() {
  filter = bloom.empty(state.room, state.bits, currentK());
  entries = [];
  held = new Set();
  for (const text of allKeys()) {
    const bytes = keyBytes(text);
    const id = hexOf(bytes);
    if (held.has(id) || entries.length === MOST_KEYS) continue;
    held.add(id);
    bloom.insert(bytes, filter);
    entries.push({ text, bytes });
  }
  owners = ownersOfBits(bloom, entries.map(({ bytes }) => bytes), filter);
}

function show() {
  rebuild();
  const m = (filter.length - 1) * 8;
  const k = currentK();
  const n = entries.length;
  const set = owners.size;

  $("bits").value = $("bits-out").value = state.bits;
  $("k").value = $("k-out").value = k;
  $("room").value = $("room-out").value = state.room;
  if (k === ownK()) {
    $("k-note").textContent = k === 30 ? "0.69 × bits per key, at most 30" : "LevelDB's: 0.69 × bits per key";
  } else {
    const textContent = `Back to LevelDB's ${ownK()}`;
    const back = element("button", { type: "button", className: "quiet", textContent });
    back.addEventListener("click", () => {
      change({ k: null });
      $("k").focus();
    });
    $("k-note").replaceChildren(back);
  }
  $("room-note").textContent =
    state.room * state.bits < 64 ? "At least 64 bits in any filter" : `${grouped(state.room * state.bits)} bits, in whole bytes`;
  for (const [id, text] of [
    ["bits", `${state.bits}`],
    ["k", k === ownK() ? `${k}, LevelDB's own` : `${k}`],
    ["room", plural(state.room, "key")],
  ]) {
    $(id).setAttribute("aria-valuetext", text);
  }

  $("array-note").textContent =
    `${grouped(m)} bits in ${grouped(filter.length - 1)} bytes, ${grouped(set)} of them set, and one byte for k`;
  probes.clear();
  bits.show(filter);
  showDetail();
  showHex(n);
  showText();
  showKeys(n);
  showRates(n, m, k, set);
  orderPart.show(state.order, state.each, state.bits);
}

function showHex(n) {
  $("hex").textContent = hexOf(filter, " ");
  // Where it scrolls, the keyboard must be able to.
  $("hex").tabIndex = $("hex").scrollHeight > $("hex").clientHeight ? 0 : -1;
  let note = `Byte for byte what LevelDB writes for ${n === 1 ? "this key" : `these ${grouped(n)} keys`}.`;
  if (currentK() !== ownK()) {
    note = `LevelDB never writes ${plural(state.k, "probe")} at ${plural(state.bits, "bit")} per key, but it reads such a filter.`;
  } else if (n === 0) note = "No key is in it yet.";
  else if (n !== state.room) {
    note = `LevelDB knows all keys when it makes a filter: it would size this one for the ${grouped(n)} that are in it.`;
  }
  $("hex-note").textContent = note;
  $("fit").disabled = n === state.room || n === 0 || n > 500;
}

function showText() {
  const lines = [];
  const last = filter.length - 1;
  for (let i = 0; i < last; i++) {
    const there = [];
    for (let bit = i * 8; bit < i * 8 + 8; bit++) if (isSet(filter, bit)) there.push(bit);
    const hex = filter[i].toString(16).padStart(2, "0");
    lines.push(`byte ${i}: ${hex}, ${there.length ? `bits ${there.join(", ")}` : "no bit set"}`);
  }
  lines.push(`byte ${last}: ${filter[last].toString(16).padStart(2, "0")}, the number of probes, k = ${filter[last]}`);
  $("text").textContent = lines.join("\n");
}

function ownersOf(bit) {
  return (owners.get(bit) ?? []).map((index) => entries[index]);
}

function describe(bit) {
  return describeBit(filter, bit, ownersOf(bit).map(({ text }) => text));
}

function showDetail() {
  if (bits.bit === null) $("detail").textContent = "Choose a bit to see the keys that set it.";
  else showBit($("detail"), filter, bits.bit, ownersOf(bits.bit).map(keyButton));
}

function keyButton(entry) {
  const button = element("button", {
    type: "button",
    className: "key",
    textContent: labelOf(entry.text),
    title: "Check this key",
  });
  button.addEventListener("click", () => ask(entry.text));
  button.addEventListener("pointerenter", () => glow(bloom.probes(entry.bytes, filter).positions));
  button.addEventListener("pointerleave", () => glow([]));
  return button;
}

function glow(positions) {
  if (probes.running || bits.marks.length > 0) return;
  bits.glow = new Set(positions);
  bits.draw();
}

function showKeys(n) {
  const shown = 100;
  const items = entries.slice(0, shown).map((entry) => element("li", {}, keyButton(entry)));
  if (n > shown) items.push(element("li", { textContent: `and ${grouped(n - shown)} more` }));
  $("keys").replaceChildren(...items);
  $("keys-note").textContent = n === 0 ? "No key yet." : `${plural(n, "key")}, in room for ${grouped(state.room)}.`;
}

function showRates(n, m, k, set) {
  const formula = rateOf(k, n, m);
  const wrong = bloom.countMatches(strangers, 16, filter);
  const measured = wrong / 10_000;
  $("formula").textContent = percent(formula);
  $("estimated").textContent = percent(bloom.falsePositiveRate(filter));
  $("measured").textContent = wrong === 0 ? "none of 10,000" : percent(measured);
  $("fill").textContent = `${((100 * set) / m).toFixed(0)} %`;
  $("spent").textContent = n === 0 ? "–" : ((filter.length * 8) / n).toFixed(1);
  const most = Math.max(state.room * 2, Math.ceil(n * 1.15), 10);
  const found = wrong === 0 ? undefined : measured;
  byKeys.show({
    from: 0,
    to: most,
    rate: (keys) => rateOf(k, keys, m),
    here: n,
    measured: found,
    guide: { at: state.room, word: `expected: ${grouped(state.room)}` },
    axis: "keys in the filter",
    label: `False-positive rate over the number of keys: ${percent(formula)} at ${plural(n, "key")}, ${percent(rateOf(k, state.room, m))} at the expected ${grouped(state.room)}, ${percent(rateOf(k, most, m))} at ${grouped(most)}.`,
  });
  const best = Math.min(30, Math.max(1, Math.round((Math.LN2 * m) / Math.max(n, 1))));
  byK.show({
    from: 1,
    to: 30,
    steps: true,
    ticks: [1, 5, 10, 15, 20, 25, 30],
    rate: (probes) => rateOf(probes, n, m),
    here: k,
    measured: found,
    axis: "probes, k",
    label: `False-positive rate over the number of probes: ${percent(formula)} at ${k}, lowest near ${best}.`,
  });
}

// --- A key and its probes ---

// How many bits a key has, and how many of them were clear: several probes may meet in one.
function bitsOf({ found, positions }) {
  return { all: new Set(positions).size, clear: new Set(positions.filter((_, j) => !found[j])).size };
}

async function ask(text) {
  $("check-key").value = text;
  state.ask = text;
  writeAddress();
  const key = keyBytes(text);
  const result = await probes.run(key, filter, false);
  if (!result) return;
  const name = quoted(text);
  if (!bloom.mayMatch(key, filter)) {
    const { all, clear } = bitsOf(result);
    const bits = `${clear} of its ${plural(all, "bit")} ${clear === 1 ? "is" : "are"} clear`;
    probes.say("miss", "Certainly absent.", `${name}: ${bits}, and one is enough. LevelDB skips the read.`);
  } else if (holds(text)) {
    probes.say("hit", "Maybe there, and it is.", `${name}: all of its bits are set. LevelDB reads the block and finds it.`);
  } else {
    probes.wrong();
    probes.say("wrong", "False positive.", `${name} was never added, but other keys set all of its bits. LevelDB reads the block in vain.`);
  }
}

async function add(texts) {
  const fresh = new Map();
  for (const text of texts) {
    const id = idOf(text);
    if (!held.has(id)) fresh.set(id, text);
  }
  const added = [...fresh.values()].slice(0, MOST_KEYS - entries.length);
  const left = fresh.size - added.length;
  if (left > 0 && added.length === 0) return sayFull(left);
  const before = filter;
  state.keys.push(...added);
  state.ask = "";
  writeAddress();
  show();
  const text = added.at(-1) ?? texts.at(-1);
  const result = await probes.run(keyBytes(text), before, true);
  if (!result) return undefined;
  const name = quoted(text);
  const { all, clear: now } = bitsOf(result);
  if (added.length === 0) return probes.say("added", "Already there.", `${name} sets no new bit.`);
  if (texts.length > 1) {
    const why = `The last was ${name}.${left > 0 ? ` ${full(left)}` : ""}`;
    return probes.say("added", `${plural(added.length, "key")} added.`, why);
  }
  return probes.say("added", "Added.", `${name} has ${plural(all, "bit")}; ${now === 0 ? "all were set before" : now === all ? "none was set before" : `${grouped(all - now)} of them set before`}.`);
}

const full = (left) => `The page holds ${grouped(MOST_KEYS)} keys: ${grouped(left)} ${left === 1 ? "is" : "are"} left out.`;

function sayFull(left) {
  probes.clear();
  probes.say("wrong", "No room.", full(left));
}

function change(what) {
  Object.assign(state, what);
  writeAddress();
  show();
}

function findFalsePositive() {
  for (let i = 1; i <= 100_000; i++) {
    const text = `guess-${i}`;
    if (bloom.mayMatch(keyBytes(text), filter) && !holds(text)) return ask(text);
  }
  probes.clear();
  return probes.say("miss", "None found.", "The filter turned down every one of 100,000 guesses.");
}

// --- Controls ---

function wire() {
  // The address is the filter's, so that the link may not write its own there.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    $("check-key").focus();
  });
  for (const name of ["bits", "room"]) {
    $(name).addEventListener("input", () => change({ [name]: Number($(name).value) }));
  }
  $("order-kind").addEventListener("input", () => change({ order: $("order-kind").value }));
  $("order-each").addEventListener("input", () => change({ each: Number($("order-each").value) }));
  $("k").addEventListener("input", () => {
    const k = Number($("k").value);
    change({ k: k === ownK() ? null : k });
  });
  for (const button of document.querySelectorAll("[data-preset]")) {
    button.addEventListener("click", () => {
      change({ k: null, ...structuredClone(PRESETS[button.dataset.preset]) });
      ask(state.ask);
    });
  }
  $("add").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = $("add-key").value;
    $("add-key").value = "";
    add([text]);
  });
  $("add-key").addEventListener("paste", (event) => {
    const lines = event.clipboardData.getData("text").split(/\r?\n/).filter((line) => line !== "");
    if (lines.length < 2) return;
    event.preventDefault();
    add(lines);
  });
  $("check").addEventListener("submit", (event) => {
    event.preventDefault();
    ask($("check-key").value);
  });
  $("find").addEventListener("click", findFalsePositive);
  $("many").addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = Number($("many-count").value);
    const count = Math.min(wanted, MOST_KEYS - entries.length);
    // Some may have been added by name.
    let many = state.many;
    for (let fresh = 0; fresh < count; ) if (!holds(numbered(++many))) fresh++;
    if (count > 0) change({ many });
    if (count < wanted) sayFull(wanted - count);
  });
  $("fit").addEventListener("click", () => change({ room: entries.length }));
  $("clear").addEventListener("click", () => {
    change({ keys: [], many: 0, ask: "" });
    $("check-key").value = "";
    $("add-key").focus();
  });
  $("copy").addEventListener("click", async () => {
    const text = hexOf(filter);
    try {
      await navigator.clipboard.writeText(text);
      $("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren($("hex"));
      $("copy").textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => ($("copy").textContent = "Copy hex"), 1600);
  });
  addEventListener("hashchange", () => start());
}

// Light or dark: the system's, until the button says otherwise.
function wireTheme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const storage = (work) => {
    try {
      return work(localStorage);
    } catch {
      return null;
    }
  };
  const now = () => root.dataset.theme ?? (dark.matches ? "dark" : "light");
  const label = () => ($("theme").textContent = now() === "dark" ? "Light mode" : "Dark mode");
  const stored = storage((store) => store.getItem("theme"));
  if (stored === "light" || stored === "dark") root.dataset.theme = stored;
  label();
  dark.addEventListener("change", label);
  const draw = () => {
    bits.draw();
    filePart.map.draw();
    filePart.bits.draw();
  };
  $("theme").addEventListener("click", () => {
    root.dataset.theme = now() === "dark" ? "light" : "dark";
    storage((store) => store.setItem("theme", root.dataset.theme));
    label();
    draw();
  });
  // Paper is light. Browsers know that of the page, but not of what was drawn on a canvas.
  let chosen;
  addEventListener("beforeprint", () => {
    chosen = root.dataset.theme;
    root.dataset.theme = "light";
    draw();
  });
  addEventListener("afterprint", () => {
    if (chosen === undefined) delete root.dataset.theme;
    else root.dataset.theme = chosen;
    draw();
  });
}

function start() {
  Object.assign(state, structuredClone(readAddress()));
  show();
  $("check-key").value = state.ask;
  if (state.ask !== "") ask(state.ask);
}

Bloom.load().then((loaded) => {
  bloom = loaded;
  strangers = makeStrangers();
  $("wasm-size").textContent = `${Math.round(bloom.size / 1024)} KB`;
  bits = new Bits($("array"), "Bit array: arrow keys choose a bit", describe, showDetail);
  probes = new Probes(bloom, bits, $("verdict"), $("sum"));
  byKeys = new Plot($("by-keys"));
  byK = new Plot($("by-k"));
  filePart = new FilePart(bloom);
  orderPart = new OrderPart(bloom, strangers);
  wireTheme();
  wire();
  start();
}).catch((error) => {
  // No WebAssembly, say, as in the lockdown mode of some browsers.
  $("trouble").hidden = false;
  $("trouble").textContent = `This page cannot run here: ${error.message}.`;
  throw error;
});
