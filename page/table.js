"use strict";
// A table file in the memory of a wasm of its own, read by the same code as the command-line inspector.

const NONE = 0xffffffff;
const FOUND = ["no", "stored", "deleted", "unreadable", "nowhere"];

class TableFile {
  constructor(bloom, bytes) {
    this.wasm = bloom.wasm;
    this.bloom = bloom;
    this.at = this.wasm.table_open(bloom.take(bytes), bytes.length);
    if (!this.wasm.table_is_open(this.at)) throw new Error(this.text());
    const numbers = this.numbers();
    [this.blocks, this.unreadable, this.keys, this.entries, this.plain, this.otherFormat] = numbers;
    this.ask("policy");
    this.policy = this.text();
    this.ask("others");
    this.others = this.text();
    this.ask("maker");
    this.maker = this.text();
    this.ask("trouble");
    this.trouble = this.text();
    this.ask("filters");
    const block = this.answer();
    this.filterBytes = block.length;
    this.filters = [];
    for (let i = 6; i < numbers.length; i += 7) {
      const [from, length, set, blocks, unreadable, keys, entries] = numbers.slice(i, i + 7);
      const bytes = block.subarray(from, from + length);
      const bits = Math.max(0, length - 1) * 8;
      this.filters.push({ bytes, blocks, unreadable, keys, entries, bits, k: length ? bytes[length - 1] : 0, ribbon: ribbonBits(bytes), fill: bits ? set / bits : 0 });
    }
  }

  ask(name) {
    this.wasm[`table_${name}`](this.at);
  }

  // A copy of the last answer.
  answer() {
    const start = this.wasm.table_answer(this.at) >>> 0;
    return new Uint8Array(this.wasm.memory.buffer, start, this.wasm.table_answer_len(this.at)).slice();
  }

  text() {
    return new TextDecoder().decode(this.answer());
  }

  numbers() {
    return Array.from(new Uint32Array(this.answer().buffer));
  }

  find(key) {
    const fine = this.bloom.with([key], (wasm, ...args) => wasm.table_find(this.at, ...args));
    if (!fine) return null;
    const [number, may, there, offset] = this.numbers();
    return { number, may: may !== 0, there: FOUND[there], offset };
  }

  // The keys that a filter was made for, as far as its blocks can be read and memory allows.
  keysOf(number) {
    if (!this.wasm.table_keys_of(this.at, number)) return [];
    const answer = this.answer();
    const view = new DataView(answer.buffer);
    const keys = [];
    for (let at = 0; at < answer.length; ) {
      const length = view.getUint32(at, true);
      keys.push(answer.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    return keys;
  }
}

// The bits of a slot of a ribbon filter; 0 for any other.
const ribbonBits = (bytes) => {
  const last = bytes[bytes.length - 1];
  return bytes.length > 8 && last >= 32 && last < 240 ? (last >> 4) - 1 : 0;
};

// Bytes as one would type them: text where they are text, "0x" and hex digits otherwise.
function keyText(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!/\p{C}/u.test(text) && !/^0x([0-9a-f]{2})+$/i.test(text)) return text;
  } catch {
    // Not UTF-8.
  }
  return `0x${hexOf(bytes)}`;
}
