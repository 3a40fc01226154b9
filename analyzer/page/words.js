// Texts of numbers, times and names for people.

const SCALES = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

export function duration(ns) {
  if (ns === null || ns === undefined) return "–";
  if (ns === 0) return "0";
  const [size, unit] = SCALES.find(([least]) => ns >= least) ?? SCALES.at(-1);
  const value = ns / size;
  // The number of digits depends on the rounded value: 9.96 becomes 10.0, as 10.2 does, not 10.
  const text = value >= 99.95 ? value.toFixed(0) : value.toPrecision(value >= 9.95 ? 3 : 2);
  return `${text}\u00a0${unit}`;
}

// parts: a fraction, 0.0213 is 2.13 %. A loss above zero is never shown as 0 %.
export function percent(parts) {
  if (parts === null || parts === undefined || Number.isNaN(parts)) return "–";
  const value = parts * 100;
  if (value === 0) return "0 %";
  if (value < 0.01) return "< 0.01 %";
  if (value < 1) return `${value.toFixed(2)} %`;
  return `${value < 10 ? value.toFixed(1) : Math.floor(value)} %`;
}

export const ppm = (loss) => percent(loss === null || loss === undefined ? null : loss / 1e6);

export const count = (number) => (number ?? 0).toLocaleString("en-GB").replaceAll(",", "\u202f");

export const several = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export function age(ms) {
  if (ms === null || ms === undefined) return "–";
  const s = ms / 1000;
  if (s < 89.5) return `${s < 9.95 ? s.toFixed(1) : s.toFixed(0)} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
}

const two = (number) => String(number).padStart(2, "0");

// Times are UTC, as in logs and alerts.
export function clock(time, whole = false) {
  if (!time) return "–";
  const at = new Date(time);
  const day = `${at.getUTCFullYear()}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
  const hour = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
  const today = new Date().toISOString().startsWith(day);
  return whole || !today ? `${day} ${hour}` : hour;
}

// Whether the part has this name, or one of its ends has: "spine1--tor2", "tor1->tor2", "h1/r0 or
// h2/r0". Names of switches may contain "--", so the name of a link is not split there.
export const holds = (part, name) =>
  (part ?? "").split(" or ").some((each) => each === name || ["--", "->"].some((joint) => each.startsWith(name + joint) || each.endsWith(joint + name)));

// The part of an incident, and the links that its evidence lists.
export const partsOf = (incident) => [incident.part, ...(incident.evidence?.links ?? [])];

// The marks differ in shape, for people who cannot distinguish red from green.
export const MARKS = { ok: "✓", bad: "✕", blind: "◌", paused: "‖", slowed: "▾", unknown: "?" };
