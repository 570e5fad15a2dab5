"use strict";
// The false-positive rate as a curve, on a logarithmic scale that both plots share.

const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

const rateOf = (k, n, m) => (n === 0 ? 0 : (1 - Math.exp((-k * n) / m)) ** k);

function percent(rate) {
  if (rate === 0) return "0 %";
  if (rate < 0.000001) return "below 0.0001 %";
  const digits = rate >= 0.1 ? 1 : rate >= 0.01 ? 2 : rate >= 0.001 ? 3 : 4;
  return `${(rate * 100).toFixed(digits)} %`;
}

const LOWEST = 1e-5;

// About five round numbers from 0 to `to`.
function roundTicks(to) {
  const rough = to / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].find((factor) => factor * power >= rough) * power);
  return Array.from({ length: Math.floor(to / step) + 1 }, (_, i) => i * step);
}

// A curve that is drawn anew when its place changes its width.
class Plot {
  constructor(host) {
    this.host = host;
    new ResizeObserver(() => this.draw()).observe(host);
  }

  // `rate(x)` is the curve over `from`..`to`, in steps of 1 if `steps`; `here` the point on it,
  // `measured` another height there; `guide` a vertical line with a word at it.
  show(what) {
    this.what = what;
    this.draw();
  }

  draw() {
    const width = this.host.clientWidth;
    if (!this.what || width === 0) return;
    const { from, to, rate, here, measured, guide, axis, label, steps, ticks } = this.what;
    const height = Math.max(190, Math.min(240, width * 0.5));
    const [left, right, top, bottom] = [62, 12, 10, 42];
    const x = (value) => left + ((value - from) / (to - from)) * (width - left - right);
    const y = (value) =>
      top + (Math.log10(Math.max(value, LOWEST)) / Math.log10(LOWEST)) * (height - top - bottom);
    const drawing = document.createElementNS(SVG, "svg");
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label })) {
      drawing.setAttribute(name, value);
    }
    for (let power = 0; power >= -5; power--) {
      const at = y(10 ** power);
      svg("line", { x1: left, x2: width - right, y1: at, y2: at, class: "grid" }, drawing);
      const text = `${(10 ** (power + 2)).toFixed(Math.max(0, -power - 2))} %`;
      svg("text", { x: left - 8, y: at + 4, class: "tick end" }, drawing, text);
    }
    for (const value of ticks ?? roundTicks(to)) {
      svg("text", { x: x(value), y: height - bottom + 18, class: "tick middle" }, drawing, value.toLocaleString("en"));
    }
    svg("text", { x: (left + width - right) / 2, y: height - 4, class: "tick middle" }, drawing, axis);
    if (guide) {
      const at = x(guide.at);
      const leftward = at > width * 0.6;
      svg("line", { x1: at, x2: at, y1: top, y2: height - bottom, class: "guide" }, drawing);
      svg("text", { x: at + (leftward ? -7 : 7), y: height - bottom - 9, class: leftward ? "tick end" : "tick" }, drawing, guide.word);
    }
    const count = steps ? to - from : 200;
    const values = Array.from({ length: count + 1 }, (_, i) => from + ((to - from) * i) / count);
    const seen = values.filter((value) => rate(value) >= LOWEST);
    const points = seen.map((value) => `${x(value).toFixed(1)},${y(rate(value)).toFixed(1)}`);
    svg("polyline", { points: points.join(" "), class: "curve" }, drawing);
    if (steps) {
      for (const value of seen) svg("circle", { cx: x(value), cy: y(rate(value)), r: 2, class: "dot" }, drawing);
    }
    if (measured !== undefined) {
      svg("path", { d: `M${x(here)} ${y(measured) - 7} l7 7 -7 7 -7 -7z`, class: "measured" }, drawing);
    }
    svg("circle", { cx: x(here), cy: y(rate(here)), r: 5.5, class: "here" }, drawing);
    this.host.replaceChildren(drawing);
  }
}
