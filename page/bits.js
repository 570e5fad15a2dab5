"use strict";
// The bit array, drawn on a canvas: large cells while they fit, small ones for large filters.
//
// To a screen reader it is a slider over the positions, whose value text says what lies there.

// Room for what is drawn around a cell at the edge.
const EDGE = 3;

// What is drawn of a filter, in bytes: a canvas has a largest size, each cell takes its time, and nobody
// looks at more. A filter of LevelDB's is larger only where its blocks are.
const MOST_DRAWN = 1 << 14;

// Alt and an arrow go back, say.
const isOfBrowser = ({ altKey, ctrlKey, metaKey }) => altKey || ctrlKey || metaKey;

// What is drawn does not take new colors by itself.
const onNewColors = (draw) => {
  for (const colors of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
    matchMedia(colors).addEventListener("change", draw);
  }
};

class Bits {
  // `describe(bit)` gives the sentence for a bit; `selected(bit)` is called when one is chosen.
  constructor(host, name, describe, selected) {
    Object.assign(this, { host, describe, selected, filter: new Uint8Array(9), bit: null });
    this.marks = [];
    this.glow = new Set();
    this.canvas = document.createElement("canvas");
    host.append(this.canvas);
    for (const [attribute, value] of Object.entries({
      role: "slider",
      tabindex: "0",
      "aria-label": name,
      "aria-valuemin": "0",
    })) {
      host.setAttribute(attribute, value);
    }
    host.addEventListener("keydown", (event) => this.key(event));
    host.addEventListener("focus", () => this.bit === null && this.select(0));
    host.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const bit = this.at(event.clientX - box.left - EDGE, event.clientY - box.top - EDGE);
      if (bit !== null) this.select(bit);
    });
    new ResizeObserver(() => this.draw()).observe(host);
    onNewColors(() => this.draw());
  }

  get count() {
    return Math.max(0, this.filter.length - 1) * 8;
  }

  // How many bytes are drawn, with the one that holds k.
  get drawn() {
    return Math.min(this.filter.length, MOST_DRAWN);
  }

  show(filter) {
    this.filter = filter;
    if (this.bit !== null && this.bit >= this.count) this.bit = null;
    this.host.setAttribute("aria-valuemax", String(Math.max(0, this.count - 1)));
    this.tell();
    this.draw();
  }

  tell() {
    this.host.setAttribute("aria-valuenow", String(this.bit ?? 0));
    const text = this.bit === null ? "No bit chosen" : this.describe(this.bit);
    this.host.setAttribute("aria-valuetext", text);
  }

  select(bit) {
    this.bit = bit;
    this.tell();
    this.draw();
    this.selected(bit);
  }

  key(event) {
    if (isOfBrowser(event)) return;
    const row = this.layout.columns * 8;
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row, PageDown: 8, PageUp: -8 };
    const from = this.bit ?? 0;
    let to = null;
    if (event.key in steps) to = from + steps[event.key];
    if (event.key === "Home") to = 0;
    if (event.key === "End") to = this.count - 1;
    if (to === null) return;
    event.preventDefault();
    if (to >= 0 && to < this.count) this.select(to);
  }

  // The largest cells whose array fills the width and is no taller than one likes to look at.
  arrange(width) {
    const bytes = this.drawn;
    for (let cell = 26; cell >= 3; cell--) {
      const labels = cell >= 14;
      const gap = labels ? Math.round(cell * 0.7) : cell >= 6 ? 4 : 2;
      const height = cell + (labels ? 24 : cell >= 6 ? 4 : 1);
      const most = Math.floor((width + gap) / (8 * cell + gap));
      const columns = Math.max(1, labels && most >= 4 ? most - (most % 4) : most - (most % 2));
      const rows = Math.ceil(bytes / columns);
      const used = Math.min(columns, bytes) * (8 * cell + gap) - gap;
      const fills = used > width * 0.86 || columns >= bytes;
      if ((fills && used <= width && rows * height <= (labels ? 520 : 640)) || cell === 3) {
        return { cell, gap, labels, columns, rows, height, width: used };
      }
    }
    throw new Error("unreachable: the smallest cells are always taken");
  }

  // The upper left corner of a bit's cell; byte `filter.length - 1` is the one that holds k.
  place(bit) {
    const { cell, gap, columns, height } = this.layout;
    const byte = bit >> 3;
    return [
      (byte % columns) * (8 * cell + gap) + (bit & 7) * cell,
      Math.floor(byte / columns) * height,
    ];
  }

  at(x, y) {
    const { cell, gap, columns, height } = this.layout;
    const column = Math.floor(x / (8 * cell + gap));
    const inByte = Math.floor((x - column * (8 * cell + gap)) / cell);
    const bit = (Math.floor(y / height) * columns + column) * 8 + inByte;
    const within = Math.min(this.count, 8 * this.drawn);
    return column >= 0 && column < columns && inByte < 8 && bit >= 0 && bit < within ? bit : null;
  }

  draw() {
    const { canvas, host, filter } = this;
    const layout = (this.layout = this.arrange(host.clientWidth));
    const { cell, labels, rows, height } = layout;
    const scale = devicePixelRatio || 1;
    canvas.width = (layout.width + 2 * EDGE) * scale;
    canvas.height = (rows * height + 2 * EDGE) * scale;
    canvas.style.width = `${layout.width + 2 * EDGE}px`;
    canvas.style.height = `${rows * height + 2 * EDGE}px`;
    canvas.style.margin = `-${EDGE}px`;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.translate(EDGE, EDGE);
    const style = getComputedStyle(host);
    const color = (name) => style.getPropertyValue(`--${name}`);
    const ink = { set: color("set"), clear: color("clear"), k: color("k-byte"), soft: color("soft") };
    const space = cell >= 11 ? 2 : cell >= 6 ? 1 : 0.5;
    const side = cell - space;
    const radius = cell >= 11 ? side / 4.5 : cell >= 6 ? 1 : 0;
    const within = 8 * this.drawn;
    const box = (x, y, by = 0) => {
      pen.beginPath();
      pen.roundRect(x - by, y - by, side + 2 * by, side + 2 * by, radius && radius + by);
    };
    const last = filter.length - 1;
    const dim = this.glow.size > 0;
    for (let bit = 0; bit < within; bit++) {
      const [x, y] = this.place(bit);
      const set = isSet(filter, bit);
      pen.globalAlpha = dim && set && bit >> 3 !== last && !this.glow.has(bit) ? 0.6 : 1;
      pen.fillStyle = set ? (bit >> 3 === last ? ink.k : ink.set) : ink.clear;
      if (radius === 0) {
        pen.fillRect(x, y, side, side);
      } else {
        box(x, y);
        pen.fill();
      }
    }
    pen.globalAlpha = 1;
    if (labels) {
      pen.font = `11px ${color("mono")}`;
      pen.textBaseline = "top";
      filter.forEach((byte, i) => {
        const [x, y] = this.place(i * 8);
        const width = 8 * cell - space;
        pen.textAlign = "left";
        pen.fillStyle = ink.soft;
        pen.fillText(i < last ? String(i) : ribbonBits(filter) ? `r = ${ribbonBits(filter)}` : `k = ${byte}`, x + 1, y + cell + 2);
        pen.textAlign = "right";
        pen.fillText(byte.toString(16).padStart(2, "0"), x + width - 1, y + cell + 2);
      });
    }
    for (const { bit, kind, label } of this.marks) {
      if (bit >= within) continue;
      const [x, y] = this.place(bit);
      pen.strokeStyle = pen.fillStyle = color(kind);
      pen.lineWidth = cell >= 11 ? 2 : 1.5;
      box(x, y);
      if (kind === "miss") {
        // A cross on an empty cell; the cell's own color stays visible around it.
        pen.fillStyle = color("card");
        pen.fill();
        pen.beginPath();
        const inset = side * 0.3;
        pen.moveTo(x + inset, y + inset);
        pen.lineTo(x + side - inset, y + side - inset);
        pen.moveTo(x + side - inset, y + inset);
        pen.lineTo(x + inset, y + side - inset);
        pen.stroke();
      } else {
        pen.fill();
        if (cell >= 14) {
          pen.fillStyle = color("card");
          const size = label.length > 1 ? 0.72 / Math.sqrt(label.length) : 0.55;
          pen.font = `600 ${Math.round(cell * size)}px ${color("sans")}`;
          pen.textAlign = "center";
          pen.textBaseline = "middle";
          pen.fillText(label, x + side / 2, y + side / 2 + 0.5);
        }
      }
      pen.strokeStyle = color(kind);
      box(x, y, 1);
      pen.stroke();
    }
    if (this.bit !== null && this.bit < within) {
      const [x, y] = this.place(this.bit);
      pen.strokeStyle = color("ink");
      pen.lineWidth = 1.5;
      box(x, y, 2);
      pen.stroke();
    }
  }
}
