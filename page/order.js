"use strict";
// Keys in order, in LevelDB's filters and in ribbon filters: which of the missing keys between them pass.

const ORDERED = 10_000;
const ORDER_SHOWN = 400;
const ORDER_COLUMNS = 40;

// Keys of one length each.
const ORDERS = {
  numbers: { length: 8, bytes: (i) => [0, 0, 0, 0, i >>> 24, (i >>> 16) & 255, (i >>> 8) & 255, i & 255] },
  padded: { length: 16, bytes: (i) => keyBytes(`user${String(i).padStart(12, "0")}`) },
  hex: { length: 16, bytes: (i) => keyBytes(i.toString(16).padStart(16, "0")) },
};

class OrderPart {
  constructor(bloom, strangers) {
    Object.assign(this, { bloom, strangers, shown: "" });
  }

  // `each` keys in a filter. They are the even numbers, and the odd ones are missing.
  show(kind, each, bits) {
    $("order-each").value = $("order-each-out").value = each;
    $("order-each").setAttribute("aria-valuetext", plural(each, "key"));
    $("order-kind").value = kind;
    const shown = [kind, each, bits].join();
    if (shown === this.shown) return;
    this.shown = shown;
    const { length, bytes } = ORDERS[kind];
    const keys = (first) => {
      const all = new Uint8Array(ORDERED * length);
      for (let i = 0; i < ORDERED; i++) all.set(bytes(first + 2 * i), i * length);
      return all;
    };
    const [present, missing] = [keys(1_000_000), keys(1_000_001)];
    const random = this.strangers.subarray(0, ORDERED * length);
    for (const encoding of ["bloom", "ribbon"]) {
      const ask = (absent) => this.bloom.passes(present, absent, length, each, bits, encoding === "ribbon");
      const [near, far] = [ask(missing), ask(random)];
      const rate = ({ answers }) => percent(answers.reduce((sum, answer) => sum + answer, 0) / ORDERED);
      $(`order-${encoding}-bytes`).textContent = plural(near.length, "byte");
      $(`order-${encoding}-near`).textContent = rate(near);
      $(`order-${encoding}-far`).textContent = rate(far);
      this.draw($(`order-${encoding}`), near.answers.subarray(0, ORDER_SHOWN));
    }
    $("order-note").textContent = bits > 13 ? "A ribbon filter has at most 13 bits per key." : "";
  }

  draw(host, answers) {
    const passed = answers.reduce((sum, answer) => sum + answer, 0);
    const drawing = svg("svg", {
      viewBox: `0 0 ${10 * ORDER_COLUMNS} ${(10 * ORDER_SHOWN) / ORDER_COLUMNS}`,
      role: "img",
      "aria-label": `${passed} of ${ORDER_SHOWN} missing keys pass`,
    }, host);
    answers.forEach((answer, i) => {
      const [x, y] = [10 * (i % ORDER_COLUMNS) + 1, 10 * Math.floor(i / ORDER_COLUMNS) + 1];
      svg("rect", { x, y, width: 8, height: 8, rx: 2, class: answer ? "passes" : "stops" }, drawing);
    });
    host.replaceChildren(drawing);
  }
}
