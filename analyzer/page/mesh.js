// The mesh of a rack as a grid: from each RNIC (row) to each RNIC (column).

import { element, setText, table } from "./element.js";
import { age, clock, count, duration, percent, several } from "./words.js";

const MAX_LABEL_PX = 140;
const LABEL_GAP_PX = 5;
const MIN_CELL_PX = 4;
const MAX_CELL_PX = 30;
const LABELLED_PX = 9; // rows of smaller cells are labelled by host, not by RNIC
const WORST = 8;

const LOSS = [
  ["nothing lost", (loss) => loss === 0],
  ["below 0.1 %", (loss) => loss < 0.001],
  ["below 1 %", (loss) => loss < 0.01],
  ["below 10 %", (loss) => loss < 0.1],
  ["10 % and more", (loss) => loss < 1],
  ["all lost", () => true],
];
const RATIO = [
  ["up to 1.5 times the median", (ratio) => ratio <= 1.5],
  ["up to 2 times", (ratio) => ratio <= 2],
  ["up to 4 times", (ratio) => ratio <= 4],
  ["up to 10 times", (ratio) => ratio <= 10],
  ["more than 10 times", (ratio) => ratio > 10],
  ["no round trip", () => true],
];

const MEASURES = {
  loss: { name: "loss", value: lossOf, buckets: LOSS, words: percent },
  rtt_p50_ns: { name: "RTT, median", value: (pair) => pair.rtt_p50_ns, buckets: RATIO, words: duration },
  rtt_p99_ns: { name: "RTT, 99th percentile", value: (pair) => pair.rtt_p99_ns, buckets: RATIO, words: duration },
};

// The share of the sent probes that was lost; null: no probe left the host, so nothing is known of the
// network. A probe that was answered after the time-out is late, not lost.
function lossOf(pair) {
  return pair.sent > 0 ? pair.no_reply / pair.sent : null;
}

const BY_NAME = new Intl.Collator("en", { numeric: true }); // h2 before h10
const nameOf = (rnic) => `${rnic.host}/${rnic.device}`;

function median(values) {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[Math.floor(sorted.length / 2)];
}

// place: index of an RNIC in the answer -> index in the grid.
function pairOf(row, columns, place) {
  const pair = {};
  for (let i = 0; i < columns.length; i++) pair[columns[i]] = row[i];
  pair.from = place.get(pair.from);
  pair.to = place.get(pair.to);
  return pair;
}

function sentence(pair, from, to) {
  const name = `${nameOf(from)} → ${nameOf(to)}`;
  if (pair === undefined) return `${name}: not probed in this time`;
  const directions =
    pair.lost_forward === null && pair.lost_reverse === null
      ? null
      : `lost on the way out ${pair.lost_forward ?? "?"}, on the way back ${pair.lost_reverse ?? "?"}`;
  return [
    `${name}: ${several(pair.sent, "probe")}, ${count(pair.no_reply)} lost (${percent(lossOf(pair))})`,
    pair.late_reply > 0 ? `${count(pair.late_reply)} answered too late` : null,
    pair.not_sent > 0 ? `${count(pair.not_sent)} not sent in time` : null,
    pair.no_reply > 0 ? directions : null,
    pair.rtt_p50_ns === null
      ? "no round trip"
      : `RTT p50 ${duration(pair.rtt_p50_ns)}, p95 ${duration(pair.rtt_p95_ns)}, p99 ${duration(pair.rtt_p99_ns)}`,
    `last ${age(pair.last_seen_ms)} ago`,
  ]
    .filter(Boolean)
    .join("; ");
}

// The colours come from the style sheet: the grid is drawn again when the system turns dark or light.
let drawn = null;
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn?.draw());

class Grid {
  constructor() {
    this.canvas = element("canvas", {
      tabindex: "0",
      role: "img",
      onmousemove: (event) => this.point(event),
      onmouseleave: () => this.look(null),
      onkeydown: (event) => this.walk(event),
      onblur: () => this.look(null),
    });
    this.detail = element("p", { class: "detail", role: "status" });
    this.drawing = element("canvas");
    this.at = null;
    drawn = this;
  }

  update(mesh, measure) {
    const order = mesh.rnics.map((rnic, i) => i).sort((a, b) => BY_NAME.compare(nameOf(mesh.rnics[a]), nameOf(mesh.rnics[b])));
    const place = new Map(order.map((index, i) => [index, i]));
    this.rnics = order.map((i) => mesh.rnics[i]);
    this.measure = measure;
    // For a rack of 256 RNICs, these are 65,280 pairs every 2 s.
    this.pairs = mesh.pairs.map((row) => pairOf(row, mesh.columns, place));
    this.places = new Map(this.pairs.map((pair) => [pair.from * order.length + pair.to, pair]));
    if (this.at !== null && Math.max(this.at.row, this.at.column) >= order.length) this.at = null;
    this.usual = measure.buckets === RATIO ? median(this.pairs.map(measure.value)) : null;
    this.buckets = measure.buckets.map(() => []);
    for (const pair of this.pairs) this.buckets[this.bucket(pair)].push(pair);
    this.canvas.setAttribute(
      "aria-label",
      `${measure.name} between ${several(this.rnics.length, "RNIC")}; arrow keys move between the pairs`,
    );
    this.draw();
    this.look(this.at);
  }

  pair(row, column) {
    return this.places.get(row * this.rnics.length + column);
  }

  bucket(pair) {
    let value = this.measure.value(pair);
    if (value === null) return this.measure.buckets.length - 1;
    if (this.usual !== null) value /= this.usual;
    return this.measure.buckets.findIndex(([, holds]) => holds(value));
  }

  // The number of pairs of each bucket, then the number of pairs without data.
  counts() {
    return [...this.buckets.map((pairs) => pairs.length), this.rnics.length * (this.rnics.length - 1) - this.pairs.length];
  }

  // Draws everything but the frame around the chosen cell, which moves more often than the rest
  // changes: see mark().
  draw() {
    if (!this.rnics) return;
    const pen = this.drawing.getContext("2d");
    const style = getComputedStyle(this.canvas);
    const wide = document.getElementById("view").clientWidth - MAX_LABEL_PX;
    const cell = Math.max(MIN_CELL_PX, Math.min(MAX_CELL_PX, Math.floor(wide / Math.max(1, this.rnics.length))));
    this.cell = cell;
    this.font = `${Math.min(11, Math.max(9, cell - 1))}px ${style.fontFamily}`;
    pen.font = this.font;
    const longest = Math.max(0, ...this.rnics.map((rnic, i) => pen.measureText(this.label(i)).width));
    this.edge = Math.ceil(Math.min(MAX_LABEL_PX, longest + 2 * LABEL_GAP_PX));
    this.size = this.edge + cell * this.rnics.length + 1;
    this.sharp = window.devicePixelRatio || 1;
    for (const canvas of [this.drawing, this.canvas]) canvas.width = canvas.height = this.size * this.sharp;
    this.canvas.style.width = this.canvas.style.height = `${this.size}px`;
    const colour = (name) => style.getPropertyValue(name).trim();
    pen.scale(this.sharp, this.sharp);
    this.drawLabels(pen, colour);
    this.drawCells(pen, colour);
    this.mark();
  }

  mark() {
    if (!this.rnics) return;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.drawing, 0, 0);
    if (this.at === null) return;
    pen.scale(this.sharp, this.sharp);
    pen.strokeStyle = getComputedStyle(this.canvas).getPropertyValue("--text").trim();
    pen.lineWidth = 2;
    pen.strokeRect(this.edge + this.at.column * this.cell, this.edge + this.at.row * this.cell, this.cell, this.cell);
  }

  // Draws an image with one pixel per pair and enlarges it: drawing 65,280 cells one by one is slow.
  drawCells(pen, colour) {
    const { cell, edge } = this;
    const many = this.rnics.length;
    const gap = cell >= 8 ? 1 : 0;
    if (this.pairs.length < many * (many - 1)) this.drawHatched(pen, colour, cell - gap);
    const points = element("canvas", { width: many, height: many });
    const small = points.getContext("2d");
    const image = small.createImageData(many, many);
    const words = new Uint32Array(image.data.buffer);
    this.buckets.forEach((pairs, bucket) => {
      small.fillStyle = colour(`--heat-${bucket}`); // read back as #rrggbb
      const [red, green, blue] = small.fillStyle.match(/\w\w/g).map((each) => parseInt(each, 16));
      const word = new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0];
      for (const { from, to } of pairs) words[from * many + to] = word;
    });
    small.putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(points, edge, edge, many * cell, many * cell);
    for (let i = 0; i < many; i++) {
      pen.clearRect(edge + i * cell, edge + i * cell, cell, cell);
      if (gap === 0) continue;
      pen.clearRect(edge + (i + 1) * cell - gap, edge, gap, many * cell);
      pen.clearRect(edge, edge + (i + 1) * cell - gap, many * cell, gap);
    }
    if (cell - gap >= 7) this.drawCrosses(pen, colour("--page"), cell - gap);
  }

  // Hatches the pairs that were not probed, of which nothing is known. One row is drawn, and copied to
  // all rows; drawCells() then paints over the probed pairs.
  drawHatched(pen, colour, size) {
    const wide = this.cell * this.rnics.length;
    const row = element("canvas", { width: Math.ceil(wide * this.sharp), height: Math.ceil(this.cell * this.sharp) });
    const line = row.getContext("2d");
    line.scale(row.width / wide, row.height / this.cell);
    line.strokeStyle = colour("--hatch");
    line.beginPath();
    for (let x = 0; x < wide; x += this.cell) {
      line.moveTo(x, size);
      line.lineTo(x + size, 0);
    }
    line.stroke();
    for (let i = 0; i < this.rnics.length; i++) pen.drawImage(row, this.edge, this.edge + i * this.cell, wide, this.cell);
  }

  drawCrosses(pen, colour, size) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (const { from, to } of this.buckets.at(-1)) {
      const x = this.edge + to * this.cell;
      const y = this.edge + from * this.cell;
      pen.moveTo(x + 2, y + 2);
      pen.lineTo(x + size - 2, y + size - 2);
      pen.moveTo(x + size - 2, y + 2);
      pen.lineTo(x + 2, y + size - 2);
    }
    pen.stroke();
  }

  // The RNIC's name, or the host's if cells are too small for a label each.
  label(i) {
    return this.cell >= LABELLED_PX ? nameOf(this.rnics[i]) : this.rnics[i].host;
  }

  drawLabels(pen, colour) {
    const height = parseInt(this.font);
    pen.fillStyle = colour("--quiet");
    pen.font = this.font;
    pen.textBaseline = "middle";
    let free = 0; // pixels; the next label must not begin before
    for (let i = 0; i < this.rnics.length; i++) {
      const middle = this.edge + i * this.cell + this.cell / 2;
      const isNew = i === 0 || this.label(i) !== this.label(i - 1);
      if (!isNew || middle < free) continue;
      free = middle + height;
      pen.textAlign = "right";
      pen.fillText(this.label(i), this.edge - LABEL_GAP_PX, middle, this.edge - LABEL_GAP_PX);
      pen.save();
      pen.translate(middle, this.edge - LABEL_GAP_PX);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "left";
      pen.fillText(this.label(i), 0, 0, this.edge - LABEL_GAP_PX);
      pen.restore();
    }
  }

  point(event) {
    const place = (offset) => Math.floor((offset - this.edge) / this.cell);
    const at = { row: place(event.offsetY), column: place(event.offsetX) };
    const inside = (i) => i >= 0 && i < this.rnics.length;
    this.look(inside(at.row) && inside(at.column) ? at : null);
  }

  walk(event) {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (!(event.key in steps) || !this.rnics?.length) return;
    event.preventDefault();
    const last = this.rnics.length - 1;
    const [down, right] = this.at === null ? [0, 0] : steps[event.key];
    const bound = (i) => Math.min(Math.max(i, 0), last);
    this.look({ row: bound((this.at?.row ?? 0) + down), column: bound((this.at?.column ?? 0) + right) });
  }

  look(at) {
    const moved = at?.row !== this.at?.row || at?.column !== this.at?.column;
    this.at = at;
    if (at === null) setText(this.detail, "Point at a pair, or move with the arrow keys.");
    else if (at.row === at.column) setText(this.detail, `${nameOf(this.rnics[at.row])} does not probe itself`);
    else setText(this.detail, sentence(this.pair(at.row, at.column), this.rnics[at.row], this.rnics[at.column]));
    if (moved) this.mark();
  }
}

function legend(grid) {
  const counts = grid.counts();
  const buckets = [...grid.measure.buckets.map(([name]) => name), "not probed"];
  const usual = grid.usual === null ? "" : `; the median is ${duration(grid.usual)}`;
  return element(
    "p",
    { class: "legend" },
    element("b", {}, `Pairs by ${grid.measure.name}${usual}`),
    buckets.map((name, i) =>
      element(
        "span",
        { class: counts[i] === 0 ? "none" : null },
        element("i", { class: i === buckets.length - 1 ? "hatched" : `heat-${i}` }),
        `${name} ${count(counts[i])}`,
      ),
    ),
  );
}

function worst(grid) {
  const { value, words, name } = grid.measure;
  const pairs = grid.pairs
    .filter((pair) => (grid.usual === null ? value(pair) > 0 : value(pair) !== null))
    .sort((a, b) => value(b) - value(a) || b.sent - a.sent)
    .slice(0, WORST);
  if (pairs.length === 0) return null;
  return table(
    "The worst pairs",
    [["From"], ["To"], [name[0].toUpperCase() + name.slice(1), "number"], ["Sent", "number"], ["Lost out", "number"], ["Lost back", "number"], ["RTT p50", "number"], ["p99", "number"], ["Last", "number"]],
    pairs.map((pair) => [
      nameOf(grid.rnics[pair.from]),
      nameOf(grid.rnics[pair.to]),
      words(value(pair)),
      count(pair.sent),
      pair.lost_forward === null ? "–" : count(pair.lost_forward),
      pair.lost_reverse === null ? "–" : count(pair.lost_reverse),
      duration(pair.rtt_p50_ns),
      duration(pair.rtt_p99_ns),
      `${age(pair.last_seen_ms)} ago`,
    ]),
  );
}

// onperiod("minute" or "hour") is called when the user chooses a period.
export function mesh(onperiod) {
  const grid = new Grid();
  const under = element("div", {});
  const about = element("p", { class: "quiet" });
  const measure = element(
    "select",
    { "aria-label": "What to show", onchange: () => render() },
    Object.entries(MEASURES).map(([key, { name }]) => element("option", { value: key }, name)),
  );
  const period = element(
    "select",
    { "aria-label": "Period", onchange: () => onperiod(period.value) },
    element("option", { value: "minute" }, "the last minute"),
    element("option", { value: "hour" }, "the last hour"),
  );
  const trouble = element("p", { class: "quiet" }, "Asking the rack’s aggregator…");
  const body = element("div", { class: "grid", hidden: true }, element("div", { class: "scroll" }, grid.canvas), element("div", { class: "beside" }, grid.detail, under));
  let last = null;
  let at = null; // time in ms of `last`

  function render() {
    if (last === null) return;
    grid.update(last, MEASURES[measure.value]);
    under.replaceChildren(legend(grid), worst(grid) ?? "");
    const refused = last.pairs_refused > 0 ? `; ${several(last.pairs_refused, "result")} left out: the table of pairs is full` : "";
    setText(about, `${several(last.rnics.length, "RNIC")}; rows send probes, columns answer; results of ${age(last.seconds * 1000)}${refused}.`);
  }

  // text: "": no sentence. visible: whether the grid is.
  function setState(text, isTrouble, visible) {
    setText(trouble, text);
    trouble.className = isTrouble ? "trouble" : "quiet";
    trouble.hidden = text === "";
    body.hidden = !visible;
  }

  return {
    root: element("section", { class: "mesh" }, element("h2", {}, "Mesh"), element("form", { class: "bar" }, measure, period, about), trouble, body),
    update(answer) {
      last = answer;
      at = Date.now();
      if (answer.rnics.length < 2) {
        setState(answer.rnics.length === 0 ? "No RNIC of the rack is known yet." : "The rack has only one RNIC, so there is no pair to probe.", false, false);
        return;
      }
      setState("", false, true);
      render();
    },
    // The last mesh stays visible, with its time, if it is of the chosen period.
    fail(reason) {
      const stays = last !== null && last.rnics.length > 1 && last.period === period.value;
      setState(
        stays
          ? `The mesh cannot be refreshed: ${reason}. It is as of ${clock(at)} UTC.`
          : `The mesh cannot be shown: ${reason}.`,
        true,
        stays,
      );
    },
  };
}
