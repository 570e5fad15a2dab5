"use strict";
// The filters of a file, each a small gauge of how many of its bits are set. A slider, like the bits.

class FillMap {
  constructor(host, name, describe, selected) {
    Object.assign(this, { host, describe, selected, filters: [], chosen: 0 });
    this.canvas = document.createElement("canvas");
    host.append(this.canvas);
    host.setAttribute("role", "slider");
    host.setAttribute("tabindex", "0");
    host.setAttribute("aria-label", name);
    host.setAttribute("aria-valuemin", "0");
    host.addEventListener("keydown", (event) => {
      if (isOfBrowser(event)) return;
      const row = this.columns;
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row };
      const to =
        event.key === "Home" ? 0
        : event.key === "End" ? this.filters.length - 1
        : event.key in steps ? this.chosen + steps[event.key]
        : null;
      if (to === null) return;
      event.preventDefault();
      if (to >= 0 && to < this.filters.length) this.select(to);
    });
    host.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const column = Math.floor((event.clientX - box.left) / this.cell);
      const to = Math.floor((event.clientY - box.top) / this.cell) * this.columns + column;
      if (column < this.columns && to < this.filters.length) this.select(to);
    });
    new ResizeObserver(() => this.draw()).observe(host);
    onNewColors(() => this.draw());
  }

  show(filters, chosen) {
    this.filters = filters;
    this.host.setAttribute("aria-valuemax", String(Math.max(0, filters.length - 1)));
    this.select(chosen);
  }

  select(number) {
    this.chosen = number;
    this.host.setAttribute("aria-valuenow", String(number));
    this.host.setAttribute("aria-valuetext", this.describe(number));
    this.draw();
    this.selected(number);
  }

  draw() {
    const { canvas, host, filters } = this;
    const width = host.clientWidth;
    if (width === 0) return;
    this.cell = 6;
    for (const cell of [26, 20, 16, 12, 9]) {
      if (Math.ceil(filters.length / Math.floor(width / cell)) * cell <= 230) {
        this.cell = cell;
        break;
      }
    }
    const { cell } = this;
    this.columns = Math.max(1, Math.floor(width / cell));
    // A canvas has a largest size, and nobody looks at more.
    const shown = Math.min(filters.length, this.columns * 1000);
    const height = Math.ceil(shown / this.columns) * cell;
    const scale = devicePixelRatio || 1;
    canvas.width = this.columns * cell * scale;
    canvas.height = height * scale;
    canvas.style.width = `${this.columns * cell}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const style = getComputedStyle(host);
    const color = (name) => style.getPropertyValue(`--${name}`);
    const [set, clear, soft, ink] = ["set", "clear", "soft", "ink"].map(color);
    const space = cell >= 12 ? 3 : cell >= 9 ? 2 : 1;
    const side = cell - space;
    const radius = cell >= 12 ? 3 : 1;
    const place = (i) => [(i % this.columns) * cell + space / 2, Math.floor(i / this.columns) * cell + space / 2];
    const gauge = (i) => {
      const [x, y] = place(i);
      const { fill, bits } = filters[i];
      pen.beginPath();
      if (bits === 0) {
        pen.fillStyle = clear;
        pen.arc(x + side / 2, y + side / 2, Math.max(1, side / 8), 0, 7);
        pen.fill();
      } else {
        pen.save();
        pen.roundRect(x, y, side, side, radius);
        pen.clip();
        pen.fillStyle = clear;
        pen.fillRect(x, y, side, side);
        pen.fillStyle = set;
        pen.fillRect(x, y + side * (1 - fill), side, side * fill);
        pen.restore();
      }
    };
    // Of the smallest there may be a hundred thousand: a shape and two colors for each would take seconds.
    const small = (color, part) => {
      pen.fillStyle = color;
      for (let i = 0; i < shown; i++) {
        const [x, y] = place(i);
        const { fill, bits } = filters[i];
        part(x, y, fill, bits);
      }
    };
    if (cell > 6) {
      for (let i = 0; i < shown; i++) gauge(i);
    } else {
      small(clear, (x, y, _, bits) => (bits === 0 ? pen.fillRect(x + 1.5, y + 1.5, 2, 2) : pen.fillRect(x, y, side, side)));
      small(set, (x, y, fill, bits) => bits > 0 && pen.fillRect(x, y + side * (1 - fill), side, side * fill));
    }
    if (this.chosen < shown) {
      const [x, y] = place(this.chosen);
      pen.beginPath();
      pen.roundRect(x - 0.5, y - 0.5, side + 1, side + 1, radius);
      pen.strokeStyle = filters[this.chosen].bits === 0 ? soft : ink;
      pen.lineWidth = 2;
      pen.stroke();
    }
  }
}
