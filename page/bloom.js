"use strict";
// The library, compiled to WebAssembly: keys and filters are Uint8Arrays here.

class Bloom {
  constructor(exports) {
    this.wasm = exports;
  }

  static async load() {
    const text = document.getElementById("wasm").textContent;
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const { module, instance } = await WebAssembly.instantiate(bytes, {});
    return Object.assign(new Bloom(instance.exports), { module, size: bytes.length });
  }

  // Another with a memory of its own: WebAssembly's only grows, and goes when nobody has it any more.
  async another() {
    const { exports } = await WebAssembly.instantiate(this.module, {});
    return new Bloom(exports);
  }

  // Where a copy of the bytes lies. WebAssembly says addresses as signed numbers.
  take(bytes) {
    const start = this.wasm.take(bytes.length) >>> 0;
    if (start === 0) throw new Error("there is no memory for it in this tab");
    new Uint8Array(this.wasm.memory.buffer).set(bytes, start);
    return start;
  }

  // Copies the arrays into the wasm's memory for one call, and `changed`, one of them, back.
  with(arrays, call, changed) {
    const { wasm } = this;
    const raw = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const starts = arrays.map((array) => this.take(raw(array)));
    const result = call(wasm, ...arrays.flatMap((array, i) => [starts[i], array.byteLength]));
    if (changed) {
      const start = starts[arrays.indexOf(changed)];
      raw(changed).set(new Uint8Array(wasm.memory.buffer, start, changed.byteLength));
    }
    arrays.forEach((array, i) => wasm.give_back(starts[i], array.byteLength));
    return result;
  }

  probesFor(bitsPerKey) {
    return this.wasm.probes_for(bitsPerKey);
  }

  empty(numKeys, bitsPerKey, k) {
    const filter = new Uint8Array(this.wasm.filter_len(numKeys, bitsPerKey));
    filter[filter.length - 1] = k;
    return filter;
  }

  insert(key, filter) {
    this.with([key, filter], (wasm, ...args) => wasm.insert(...args), filter);
  }

  mayMatch(key, filter) {
    return this.with([key, filter], (wasm, ...args) => wasm.may_match(...args)) !== 0;
  }

  countMatches(keys, keyLength, filter) {
    return this.with([keys, filter], (wasm, keys, keysLength, filter, length) =>
      wasm.count_matches(keys, keysLength, keyLength, filter, length),
    );
  }

  // The length of a filter of `each` of the keys that are present, and for each absent key whether it
  // passes the filter of those around it.
  passes(present, absent, keyLength, each, bitsPerKey, ribbon) {
    const answers = new Uint8Array(absent.length / keyLength);
    const length = this.with([present, absent, answers], (wasm, ...args) =>
      wasm.passes(keyLength, each, bitsPerKey, ribbon, ...args), answers);
    return { length, answers };
  }

  falsePositiveRate(filter) {
    return this.with([filter], (wasm, ...args) => wasm.false_positive_rate(...args));
  }

  hash(key) {
    return this.with([key], (wasm, ...args) => wasm.hash(...args)) >>> 0;
  }

  // What a filter is asked for a key: the hash, and the position of each of its k probes.
  probes(key, filter) {
    const k = filter.length < 2 ? 0 : filter[filter.length - 1];
    const hash = this.hash(key);
    const positions = new Uint32Array(k > 30 ? 0 : k);
    this.with(
      [positions],
      (wasm, ...args) => wasm.positions(hash, (filter.length - 1) * 8, ...args),
      positions,
    );
    return { hash, delta: ((hash >>> 17) | (hash << 15)) >>> 0, positions };
  }
}

const isSet = (filter, bit) => (filter[bit >> 3] & (1 << (bit & 7))) !== 0;

// "0x" and pairs of hex digits are bytes; anything else is text.
function keyBytes(text) {
  if (/^0x([0-9a-f]{2})+$/i.test(text)) {
    return Uint8Array.from(text.slice(2).match(/../g), (pair) => parseInt(pair, 16));
  }
  return new TextEncoder().encode(text);
}

const hexOf = (bytes, separator = "") =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(separator);
