// Line charts over time, as SVG. A time without a measurement is a gap in the line, never a zero.

import { element, setText } from "./element.js";
import { clock } from "./words.js";

const MOST_WIDE = 900;
const LEAST_WIDE = 320;
const HIGH = 150;
const LEFT = 64;
const BOTTOM = 18;
const TOP = 8;
const WIDE_OF_TICK = 95; // least distance of two ticks; all lengths are in pixels
const MINUTE_MS = 60000;
const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 20160, 40320, 80640, 161280].map((minutes) => minutes * MINUTE_MS);
const PADDING = 28; // of the view, left and right together
const LABEL_WIDE = 40; // half of a label

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// The end of the value axis: the least of 1, 2, 2.5 or 5 times a power of ten that is not below
// value, since the axis also labels half of it. 0.0213 -> 0.025.
function above(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value);
}

// At most `most` ticks of the time axis, as [time in ms, text], at full minutes, hours or days. The
// text has a date at the first tick of each day.
function ticks(from, to, most) {
  const step = TICKS.find((each) => (to - from) / each <= most) ?? TICKS.at(-1);
  const times = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) times.push(time);
  const day = (time) => clock(time, true).slice(0, 10);
  return times.map((time, i) => [time, i === 0 || day(time) !== day(times[i - 1]) ? clock(time, true).slice(0, 16) : clock(time, true).slice(11, 16)]);
}

// series: { name, points: [[time in ms, value or null], ...] }, in order of time. marks: times in ms
// that get a vertical line. words(value): the text of a value.
export function chart(title, { from, to, series, marks = [], words }) {
  // The viewBox is as wide as the chart on the screen: otherwise a small screen would scale its
  // texts down.
  const wide = Math.min(MOST_WIDE, Math.max(LEAST_WIDE, document.getElementById("view").clientWidth - PADDING));
  const known = series.some(({ points }) => points.some(([, value]) => value !== null));
  const values = series.flatMap(({ points }) => points.map(([, value]) => value)).filter((value) => value > 0);
  const top = values.length === 0 ? 1 : above(Math.max(...values));
  const x = (time) => LEFT + ((wide - LEFT) * (time - from)) / (to - from);
  const y = (value) => TOP + (HIGH - TOP - BOTTOM) * (1 - value / top);
  const drawn = svg("svg", { viewBox: `0 0 ${wide} ${HIGH}`, class: "chart", role: "img", "aria-label": title });
  for (const part of [0, 0.5, 1]) {
    drawn.append(
      svg("line", { x1: LEFT, x2: wide, y1: y(top * part), y2: y(top * part), class: "grid-line" }),
      svg("text", { x: LEFT - 6, y: y(top * part) + 4, "text-anchor": "end" }, known ? words(top * part) : ""),
    );
  }
  if (!known) drawn.append(svg("text", { x: (LEFT + wide) / 2, y: y(top * 0.5) - 6, "text-anchor": "middle" }, "nothing measured"));
  for (const [time, text] of ticks(from, to, (wide - LEFT) / WIDE_OF_TICK)) {
    const anchor = x(time) > wide - LABEL_WIDE ? "end" : x(time) < LEFT + LABEL_WIDE ? "start" : "middle";
    drawn.append(
      svg("line", { x1: x(time), x2: x(time), y1: HIGH - BOTTOM, y2: HIGH - BOTTOM + 4, class: "grid-line" }),
      svg("text", { x: x(time), y: HIGH - 4, "text-anchor": anchor }, text),
    );
  }
  for (const time of marks) drawn.append(svg("line", { x1: x(time), x2: x(time), y1: TOP, y2: HIGH - BOTTOM, class: "event" }));
  series.forEach(({ points }, i) => {
    let line = "";
    let pen = "M";
    for (const [k, [time, value]] of points.entries()) {
      if (value !== null) line += `${pen}${x(time).toFixed(1)},${y(value).toFixed(1)}`;
      // A single point between two gaps becomes a short line: a line of length 0 is not visible.
      if (value !== null && pen === "M" && (points[k + 1]?.[1] ?? null) === null) line += "m-2,0h4";
      pen = value === null ? "M" : "L";
    }
    drawn.append(svg("path", { d: line, class: `line line-${i}` }));
  });
  const cursor = svg("line", { y1: TOP, y2: HIGH - BOTTOM, class: "cursor", visibility: "hidden" });
  const readout = element("span", { class: "readout" });
  drawn.append(cursor);
  // Shows the values at the time under the pointer. All series have points at the same times.
  const pointAt = (event) => {
    const box = drawn.getBoundingClientRect();
    const at = from + ((to - from) * (((event.clientX - box.left) / box.width) * wide - LEFT)) / (wide - LEFT);
    const near = (points) => points.reduce((best, point) => (best === null || Math.abs(point[0] - at) < Math.abs(best[0] - at) ? point : best), null);
    const found = series.map(({ name, points }) => [name, near(points)]).filter(([, point]) => point !== null);
    if (found.length === 0) return;
    const time = found[0][1][0];
    cursor.setAttribute("x1", x(time));
    cursor.setAttribute("x2", x(time));
    cursor.setAttribute("visibility", "visible");
    setText(readout, `${clock(time)}: ${found.map(([name, [, value]]) => `${name} ${value === null ? "–" : words(value)}`).join(", ")}`);
  };
  drawn.addEventListener("pointermove", pointAt);
  drawn.addEventListener("pointerdown", pointAt);
  drawn.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    setText(readout, "");
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
      readout,
    ),
    drawn,
  );
}
