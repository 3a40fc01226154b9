// Lines over time, as SVG. What was not measured is a gap, never a zero.

import { element } from "./element.js";
import { clocks } from "./words.js";

const WIDE = 900;
const HIGH = 150;
const LEFT = 64;
const BOTTOM = 18;
const TOP = 8;
const TIMES = 5;

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// 0.0213 -> 0.025: 1, 2, 2.5 or 5 times a power of ten, and so are its half and quarter.
function above(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value);
}

// series: { name, points: [[time in ms, value or null], ...] }, in order of time. marks: times
// in ms. words(value): its text.
export function chart(title, { from, to, series, marks = [], words }) {
  const known = series.some(({ points }) => points.some(([, value]) => value !== null));
  const values = series.flatMap(({ points }) => points.map(([, value]) => value)).filter((value) => value > 0);
  const top = values.length === 0 ? 1 : above(Math.max(...values));
  const x = (time) => LEFT + ((WIDE - LEFT) * (time - from)) / (to - from);
  const y = (value) => TOP + (HIGH - TOP - BOTTOM) * (1 - value / top);
  const drawn = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "chart", role: "img", "aria-label": title });
  for (const part of [0, 0.5, 1]) {
    drawn.append(
      svg("line", { x1: LEFT, x2: WIDE, y1: y(top * part), y2: y(top * part), class: "grid-line" }),
      svg("text", { x: LEFT - 6, y: y(top * part) + 4, "text-anchor": "end" }, known ? words(top * part) : ""),
    );
  }
  if (!known) drawn.append(svg("text", { x: (LEFT + WIDE) / 2, y: y(top * 0.5) - 6, "text-anchor": "middle" }, "nothing measured"));
  const times = Array.from({ length: TIMES }, (_, i) => from + ((to - from) * i) / (TIMES - 1));
  const said = clocks(times);
  for (const [i, time] of times.entries()) {
    const anchor = i === 0 ? "start" : i === TIMES - 1 ? "end" : "middle";
    drawn.append(svg("text", { x: x(time), y: HIGH - 4, "text-anchor": anchor }, said[i]));
  }
  for (const time of marks) drawn.append(svg("line", { x1: x(time), x2: x(time), y1: TOP, y2: HIGH - BOTTOM, class: "event" }));
  series.forEach(({ points }, i) => {
    let line = "";
    let pen = "M";
    for (const [k, [time, value]] of points.entries()) {
      if (value !== null) line += `${pen}${x(time).toFixed(1)},${y(value).toFixed(1)}`;
      // Alone between gaps it is a short line: one of no length is not seen.
      if (value !== null && pen === "M" && (points[k + 1]?.[1] ?? null) === null) line += "m-2,0h4";
      pen = value === null ? "M" : "L";
    }
    drawn.append(svg("path", { d: line, class: `line line-${i}` }));
  });
  return element(
    "figure",
    {},
    element(
      "figcaption",
      {},
      element("b", {}, title),
      series.map(({ name }, i) => element("span", { class: `key key-${i}` }, name)),
      marks.length > 0 ? element("span", { class: "key key-event" }, "an incident opened") : null,
    ),
    drawn,
  );
}
