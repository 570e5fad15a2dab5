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

// `from`..`to` on the x axis, `rate(x)` the curve; `here` the point, `measured` its other height,
// `guide` a vertical line with a word at it.
function plot(host, { from, to, rate, here, measured, guide, axis, label, step }) {
  const width = 460;
  const height = 230;
  const [left, right, top, bottom] = [52, 14, 12, 40];
  const x = (value) => left + ((value - from) / (to - from || 1)) * (width - left - right);
  const y = (value) =>
    top + (Math.log10(Math.max(value, LOWEST)) / Math.log10(LOWEST)) * (height - top - bottom);
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", label);
  for (let power = 0; power >= -5; power--) {
    const at = y(10 ** power);
    svg("line", { x1: left, x2: width - right, y1: at, y2: at, class: "grid" }, drawing);
    const text = power >= -2 ? `${10 ** (power + 2)} %` : `${(10 ** (power + 2)).toFixed(-power - 2)} %`;
    svg("text", { x: left - 8, y: at + 4, class: "tick end" }, drawing, text);
  }
  const ticks = 5;
  const seen = new Set();
  for (let i = 0; i <= ticks; i++) {
    const value = Math.round(from + ((to - from) * i) / ticks);
    if (seen.has(value)) continue;
    seen.add(value);
    svg("text", { x: x(value), y: height - bottom + 18, class: "tick middle" }, drawing, value.toLocaleString("en"));
  }
  svg("text", { x: (left + width - right) / 2, y: height - 5, class: "tick middle" }, drawing, axis);
  if (guide) {
    svg("line", { x1: x(guide.at), x2: x(guide.at), y1: top, y2: height - bottom, class: "guide" }, drawing);
    const leftward = x(guide.at) > width * 0.6;
    svg("text", { x: x(guide.at) + (leftward ? -6 : 6), y: height - bottom - 8, class: leftward ? "tick end" : "tick" }, drawing, guide.word);
  }
  const points = [];
  const steps = step ? (to - from) / step : 160;
  for (let i = 0; i <= steps; i++) {
    const value = from + ((to - from) * i) / steps;
    points.push(`${x(value).toFixed(1)},${y(rate(value)).toFixed(1)}`);
  }
  svg("polyline", { points: points.join(" "), class: "curve" }, drawing);
  if (step) {
    for (let value = from; value <= to; value += step) {
      svg("circle", { cx: x(value), cy: y(rate(value)), r: 2, class: "dot" }, drawing);
    }
  }
  const [px, py] = [x(here), y(rate(here))];
  if (measured !== undefined) {
    const my = y(measured);
    svg("path", { d: `M${px} ${my - 7} l7 7 -7 7 -7 -7z`, class: "measured" }, drawing);
  }
  svg("circle", { cx: px, cy: py, r: 5.5, class: "estimated" }, drawing);
  host.replaceChildren(drawing);
}
