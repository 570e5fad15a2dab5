"use strict";
// A key's probes, one after another: in the array, in a table with the arithmetic, then a verdict.

const $ = (id) => document.getElementById(id);
const grouped = (number) => number.toLocaleString("en");
const plural = (number, word) => `${grouped(number)} ${word}${number === 1 ? "" : "s"}`;
// A key may have megabytes, and nobody reads them.
const shortened = (text) => (text.length > 200 ? `${text.slice(0, 100)}… (${grouped(text.length)} characters)` : text);
// What stands on a key's button: blanks alone would not be seen.
const labelOf = (text) => (text === "" ? "(empty)" : text.trim() === "" ? quoted(text) : shortened(text));
const hex32 = (number) => `0x${number.toString(16).padStart(8, "0")}`;
const quoted = (text) => (text === "" ? "The empty key" : `“${shortened(text)}”`);
const still = matchMedia("(prefers-reduced-motion: reduce)");
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

class Probes {
  constructor(bloom, bits, verdict, sum) {
    Object.assign(this, { bloom, bits, verdict, sum, turn: 0, running: false });
  }

  // Ends what is running, and empties the panel.
  clear() {
    this.turn++;
    this.running = false;
    this.verdict.className = "verdict";
    this.verdict.replaceChildren();
    this.sum.replaceChildren();
    this.bits.marks = [];
    this.bits.glow = new Set();
    this.bits.draw();
  }

  // The probes of a key in `filter`. While it is being added, the bits it finds are old or new;
  // otherwise they are hits and misses. Gives undefined where something newer came between.
  async run(key, filter, adding) {
    this.clear();
    const { turn, bits } = this;
    this.running = true;
    const { hash, delta, positions } = this.bloom.probes(key, filter);
    const found = Array.from(positions, (bit) => isSet(filter, bit));
    bits.glow = new Set(positions);
    // A ribbon filter has no probes.
    const body = ribbonBits(filter) > 0 ? null : this.table(hash, delta, (filter.length - 1) * 8);
    const step = still.matches ? 0 : Math.min(240, 1800 / Math.max(1, positions.length));
    for (let j = 0; j < positions.length; j++) {
      if (step) await pause(step);
      if (turn !== this.turn) return undefined;
      const kind = adding ? (found[j] ? "old" : "new") : found[j] ? "hit" : "miss";
      const word = { hit: "✓ set", miss: "✕ clear", old: "• was set", new: "+ set now" }[kind];
      const sum = (hash + Math.imul(j, delta)) >>> 0;
      const row = body.insertRow();
      row.className = kind;
      for (const cell of [j, grouped(sum), grouped(positions[j]), word]) {
        row.insertCell().textContent = cell;
      }
      const twice = bits.marks.find(({ bit }) => bit === positions[j]);
      if (twice) twice.label += `,${j}`;
      else bits.marks.push({ bit: positions[j], kind: kind === "miss" ? "miss" : "hit", label: String(j) });
      if (step) bits.draw();
    }
    if (step) await pause(step);
    else bits.draw();
    if (turn !== this.turn) return undefined;
    this.running = false;
    return { found, positions };
  }

  table(hash, delta, m) {
    const it = (text) => element("i", { textContent: text });
    const head = (...children) => element("th", { scope: "col" }, ...children);
    const value = (name, number) =>
      element("span", {}, it(name), " = ", element("code", { textContent: hex32(number) }));
    const body = element("tbody");
    const caption = element("caption", {}, value("h", hash), " ", value("δ", delta));
    caption.title = "h is the key's hash, δ (delta) is h rotated right by 17, and sums wrap at 32 bits";
    const titles = element("tr", {}, head(it("j")), head(it("h"), " + ", it("j"), "·", it("δ")), head(`mod ${grouped(m)}`), head("bit"));
    this.sum.replaceChildren(element("table", {}, caption, element("thead", {}, titles), body));
    return body;
  }

  // The bits were hits, and the answer is wrong all the same.
  wrong() {
    for (const mark of this.bits.marks) mark.kind = "wrong";
    this.bits.draw();
  }

  say(kind, title, why) {
    const sign = { miss: "✕", hit: "✓", wrong: "!", added: "+" }[kind];
    this.verdict.className = `verdict ${kind}`;
    this.verdict.replaceChildren(
      element("span", { className: "sign", ariaHidden: "true", textContent: sign }),
      element("strong", { textContent: title }),
      ` ${why}`,
    );
  }
}

// What is said of a bit before the keys that are known to have it. In a file's filter it may be set
// without one, where a block could not be read, and clear in spite of one, where it is not LevelDB's.
function stateOf(filter, bit, keys) {
  const set = isSet(filter, bit);
  if (ribbonBits(filter) > 0) return `${set ? "set" : "clear"}, by all keys whose rows have its slot`;
  if (keys.length === 0) return set ? "set, by none of the keys that were read" : "clear, no key has it";
  return set ? "set by " : "clear, though LevelDB sets it for ";
}

// The sentence below an array: which bit it is, and `keys`, elements, that set it.
function showBit(host, filter, bit, keys) {
  host.replaceChildren(element("strong", { textContent: `Bit ${grouped(bit)}` }), ` is bit ${bit & 7} of byte ${grouped(bit >> 3)}: `);
  host.append(stateOf(filter, bit, keys), keys.length === 0 ? "." : "");
  for (const key of keys.slice(0, 12)) host.append(key, " ");
  if (keys.length > 12) host.append(`and ${grouped(keys.length - 12)} more`);
}

function describeBit(filter, bit, texts) {
  const some = texts.slice(0, 8).map((text) => shortened(text) || "the empty key").join(", ");
  const more = texts.length > 8 ? ` and ${grouped(texts.length - 8)} more` : "";
  return `Bit ${bit}, in byte ${bit >> 3}: ${stateOf(filter, bit, texts)}${some}${more}`;
}

// Which of the keys, given as bytes, have each bit of a filter: bit to indexes.
function ownersOfBits(bloom, keys, filter) {
  const owners = new Map();
  keys.forEach((key, index) => {
    for (const bit of new Set(bloom.probes(key, filter).positions)) {
      if (!owners.has(bit)) owners.set(bit, []);
      owners.get(bit).push(index);
    }
  });
  return owners;
}
