"use strict";
// The part of the page for a table file that somebody drops on it.

const LARGEST_FILE = 512 * 1024 * 1024;
const POLICY = "leveldb.BuiltinBloomFilter2";

// The bytes behind a block in the file.
const TRAILER = 5;

// A table holds versions of a key until a compaction drops all but the newest; filters count each.
const keysOf = ({ keys, entries }) => `${plural(keys, "key")}${entries > keys ? ` in ${grouped(entries)} entries` : ""}`;

// A name out of a file, or of one, may hold anything: what would end or turn a line is escaped.
const nameOf = (name) => shortened(name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`));

class FilePart {
  constructor(bloom) {
    this.bloom = bloom;
    this.table = null;
    this.turn = 0;
    this.keys = [];
    this.owners = new Map();
    this.map = new FillMap($("map"), "Filters of the file: arrow keys choose one", (i) => this.describe(i), (i) => this.choose(i));
    this.bits = new Bits($("file-array"), "Bits of the chosen filter: arrow keys choose one",
      (bit) => describeBit(this.bits.filter, bit, this.ownersOf(bit)), (bit) => this.showBit(bit));
    this.probes = new Probes(bloom, this.bits, $("file-verdict"), $("file-sum"));
    this.wire();
  }

  wire() {
    const zone = $("zone");
    $("file").addEventListener("change", () => {
      const [file] = $("file").files;
      if (file) this.open(file);
      // So that the same file can be chosen again.
      $("file").value = "";
    });
    // A file may land anywhere on the page; a browser would leave the page for it otherwise.
    let inside = 0;
    const hasFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    const light = () => zone.classList.toggle("over", inside > 0);
    addEventListener("dragenter", (event) => hasFile(event) && (inside++, light()));
    addEventListener("dragleave", (event) => hasFile(event) && (inside--, light()));
    addEventListener("dragover", (event) => hasFile(event) && event.preventDefault());
    addEventListener("drop", (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      inside = 0;
      light();
      this.drop(event.dataTransfer);
    });
    $("find-in-file").addEventListener("submit", (event) => {
      event.preventDefault();
      this.find($("file-key").value);
    });
  }

  drop({ items, files }) {
    if ([...(items ?? [])].some((item) => item.webkitGetAsEntry?.()?.isDirectory)) {
      return this.refuse("That is a folder: drop one of the table files in it, an .ldb or .sst.");
    }
    // Of a database's files some are tables.
    const all = [...files];
    const file = all.find(({ name }) => /\.(ldb|sst)$/i.test(name)) ?? all[0];
    return file ? this.open(file, all.length - 1) : this.refuse("What was dropped is no file.");
  }

  refuse(why) {
    this.turn++;
    this.close();
    this.note(why, "note trouble");
  }

  async open(file, others = 0) {
    const turn = ++this.turn;
    // The file before goes first: its memory with it, and nothing stands below another one's name.
    this.close();
    this.note(`Reading ${nameOf(file.name)} …`);
    // A moment to show that.
    await pause(30);
    try {
      if (file.size > LARGEST_FILE) throw new Error("this page reads files of up to 512 MB; the command-line inspector reads any");
      const bytes = new Uint8Array(await file.arrayBuffer());
      const bloom = await this.bloom.another();
      if (turn !== this.turn) return;
      this.table = new TableFile(bloom, bytes);
      this.show(file, others);
    } catch (error) {
      if (turn !== this.turn) return;
      this.close();
      // The wasm ends at once where it finds no memory.
      const why = error instanceof WebAssembly.RuntimeError ? "it takes more memory than there is in this tab" : error.message;
      this.note(`${nameOf(file.name)} cannot be read: ${why}`, "note trouble");
      return;
    }
    $("zone").scrollIntoView({ behavior: still.matches ? "auto" : "smooth", block: "start" });
  }

  close() {
    this.probes.clear();
    this.table = null;
    $("file-part").hidden = true;
  }

  note(textContent, className = "note") {
    Object.assign($("file-note"), { textContent, className });
  }

  show(file, others) {
    const { table } = this;
    const made = table.filters.filter(({ bits }) => bits > 0);
    const read = table.unreadable > 0 ? `, ${grouped(table.unreadable)} of which cannot be read, the others` : "";
    const note = [`${nameOf(file.name)}, ${plural(file.size, "byte")}: ${plural(table.blocks, "data block")}${read} with ${keysOf(table)}.`];
    if (table.plain) note.push("It is a table without sequence numbers (plain keys), as a TableBuilder by itself writes it, and no database.");
    if (table.maker !== "") note.push(`It is a table of ${table.maker}, whose filters may be of a format of its own under LevelDB's name.`);
    if (table.policy === "") note.push("It has no filters: it was written without a filter policy.");
    else if (table.otherFormat && table.policy === POLICY) note.push("Its keys do not match its filters: these are of another format under LevelDB's name, or were made wrongly.");
    else if (table.policy === POLICY) {
      const ribbons = made.filter(({ ribbon }) => ribbon > 0).length;
      const all = ribbons === made.length ? "Its filters are" : `${grouped(ribbons)} of its ${plural(made.length, "filter")} are`;
      note.push(ribbons === 0 ? "Its filters are LevelDB's own bloom filters." : `${all} ribbon filters of leveldb-bloom, which LevelDB by itself takes for a match for every key.`);
    }
    else if (table.policy === "leveldb.BuiltinBloomFilter") {
      note.push("Its filters are named leveldb.BuiltinBloomFilter, as goleveldb and the Java port name them: the same bits, but LevelDB in C++ ignores them.");
    } else note.push(`Its filters are those of another policy, ${nameOf(table.policy)}: what is drawn here is their bytes, read as LevelDB's.`);
    if (table.others !== "") note.push(`It has filters of ${nameOf(table.others)} as well, which are not looked at: LevelDB asks those that have its policy's name.`);
    if (table.unreadable > 0) note.push(`Keys are missing here, because of this: ${table.trouble}.`);
    if (others > 0) note.push(`It is shown alone: ${plural(others, "file")} more came with it.`);
    this.note(note.join(" "));
    $("file-part").hidden = made.length === 0;
    if (made.length === 0) return;

    const sum = (of) => made.reduce((total, filter) => total + of(filter), 0);
    // Of a filter whose keys cannot all be read, their number is not known.
    const keys = made.filter(({ unreadable }) => unreadable === 0).map((filter) => filter.keys).sort((a, b) => a - b);
    const set = (id, text) => ($(id).textContent = text);
    set("file-filters", grouped(made.length));
    set("file-empty", grouped(table.filters.length - made.length));
    set("file-keys", keys.length === 0 ? "–" : keys[0] === keys.at(-1) ? grouped(keys[0]) : `${grouped(keys[0])}–${grouped(keys.at(-1))}`);
    // As the command-line inspector has it: LevelDB makes room for each entry.
    set("file-spent", table.entries && table.unreadable === 0 ? (((table.filterBytes + TRAILER) * 8) / table.entries).toFixed(1) : "–");
    // The bits of a ribbon filter are no key's.
    set("file-fill", made.some(({ ribbon }) => ribbon > 0) ? "–" : `${((100 * sum(({ fill, bits }) => fill * bits)) / sum(({ bits }) => bits)).toFixed(0)} %`);
    // By their lengths, as the command-line inspector has it: who has more keys is asked more.
    const known = !(table.policy === POLICY && table.otherFormat);
    const rate = sum(({ bytes }) => this.bloom.falsePositiveRate(bytes) * bytes.length) / sum(({ bytes }) => bytes.length);
    set("file-rate", known ? percent(rate) : "–");
    this.map.show(table.filters, table.filters.findIndex(({ bits }) => bits > 0));
  }

  describe(number) {
    const { bits, bytes, k, ribbon, fill, blocks, unreadable, ...counts } = this.table.filters[number];
    if (bits === 0) return `Filter ${number}: empty, no data block begins in this 2 KiB`;
    if (ribbon > 0) return `Filter ${number}: a ribbon filter of ${unreadable > 0 ? "keys that are not all known" : keysOf(counts)} of ${plural(blocks, "data block")}; ${plural(bytes.length, "byte")}, in slots of ${plural(ribbon, "bit")}`;
    return `Filter ${number}: ${Math.round(fill * 100)} % of ${plural(bits, "bit")} set by ${unreadable > 0 ? "keys that are not all known" : keysOf(counts)} of ${plural(blocks, "data block")}; ${plural(bytes.length, "byte")}, k = ${k}`;
  }

  choose(number) {
    const { bytes, keys } = this.table.filters[number];
    this.probes.clear();
    this.keys = this.table.keysOf(number);
    this.owners = ownersOfBits(this.bloom, this.keys, bytes);
    const some = this.keys.length < keys ? ` The first ${grouped(this.keys.length)} of them are shown here.` : "";
    const drawn = bytes.length > MOST_DRAWN ? ` The first ${grouped(8 * MOST_DRAWN)} of its bits are drawn.` : "";
    $("file-chosen").textContent = `${this.describe(number)}.${some}${drawn}`;
    this.bits.bit = null;
    $("file-detail").textContent = bytes.length < 2 || ribbonBits(bytes) > 0 ? "" : "Choose a bit to see the keys that set it.";
    $("file-array").hidden = bytes.length < 2;
    this.bits.show(bytes);
  }

  ownersOf(bit) {
    return (this.owners.get(bit) ?? []).map((index) => keyText(this.keys[index]));
  }

  showBit(bit) {
    const buttons = this.ownersOf(bit).map((text) => {
      const button = element("button", { type: "button", className: "key", textContent: labelOf(text) });
      button.addEventListener("click", () => this.find(text));
      return button;
    });
    showBit($("file-detail"), this.bits.filter, bit, buttons);
  }

  async find(text) {
    const { table, probes } = this;
    $("file-key").value = text;
    const key = keyBytes(text);
    const answer = table.find(key);
    if (!answer) return probes.say("wrong", "The index is damaged.", "LevelDB would not get this far.");
    const { number, may, there, offset } = answer;
    if (there === "nowhere") {
      probes.clear();
      return probes.say("miss", "Not in this file.", `The keys are not in the order of their bytes, so that the filter that LevelDB asks for ${quoted(text)} is not known; no block that can be read has it.`);
    }
    if (offset === NONE) {
      probes.clear();
      return probes.say("miss", "No block for it.", `${quoted(text)} comes after the last key of this file: LevelDB queries no filter.`);
    }
    const filter = table.filters[number];
    if (!filter) {
      probes.clear();
      return probes.say("wrong", "No filter.", `The block at byte ${grouped(offset)} has none, and LevelDB reads it.`);
    }
    // What was chosen in it stays, and the focus with it.
    if (number !== this.map.chosen) this.map.select(number);
    if (!(await probes.run(key, filter.bytes, false))) return undefined;
    const where = `the data block at byte ${grouped(offset)}`;
    const name = quoted(text);
    if (table.policy !== POLICY) {
      return probes.say(may ? "hit" : "miss", `Filter ${number} says ${may ? "yes" : "no"}.`, `${name} gets that answer if the filter is read as LevelDB's.`);
    }
    if (there === "unreadable") return probes.say("wrong", may ? "Maybe there." : "Absent, says the filter.", `Whether it is so is not known: ${where} cannot be read.`);
    if (!may && there !== "no" && (table.otherFormat || table.maker !== "")) {
      return probes.say("wrong", `Filter ${number} says no.`, `${name} is in ${where}. Read as LevelDB's, the filter does not have it, as it has hardly any key: it is of another format, or was made wrongly.`);
    }
    if (!may && there !== "no") return probes.say("wrong", "A lost key.", `${name} is in ${where}, but filter ${number} says no. LevelDB does not find it.`);
    if (!may) return probes.say("miss", "Certainly absent.", `Filter ${number} says no to ${name}: LevelDB does not read ${where}.`);
    if (there === "no") {
      probes.wrong();
      // As is written where there was no memory for a filter.
      const why = filter.ribbon > 0 ? "the sum of its slots is what the key's hash wants, by chance" : filter.k === 0 || filter.k > 30 ? `with k = ${filter.k} the filter lets every key through` : "other keys set all of its bits";
      return probes.say("wrong", "False positive.", `${name} is not in ${where}, but ${why}: LevelDB reads the block in vain.`);
    }
    const mark = there === "deleted" ? "what it finds is that the key was deleted" : "finds it";
    return probes.say("hit", "Maybe there, and it is.", `Filter ${number} lets ${name} through: LevelDB reads ${where}, and ${mark}.`);
  }
}
