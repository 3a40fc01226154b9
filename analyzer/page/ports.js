// Ports of a rack's switch, and of the ESXi hosts whose counters its aggregator reads: how much each
// counter grew between the last two readings, ports in trouble first. An ESXi host may be in another
// rack: nothing says in which one it is.

import { element, notReported, table } from "./element.js";
import { age, count, several } from "./words.js";

const SHOWN = 12;
// Counters that show trouble, the worst first.
const TROUBLES = [
  ["errors", "errors"],
  ["dropped", "discarded"],
  ["no_buffer", "no buffer"],
  ["global_pauses", "global pauses"],
  ["pfc_received", "PFC received"],
  ["pfc_sent", "PFC sent"],
];
const SCALES = [
  [1e9, "Gb/s"],
  [1e6, "Mb/s"],
  [1e3, "kb/s"],
];

function bits(each_s) {
  const [size, unit] = SCALES.find(([least]) => each_s >= least) ?? [1, "b/s"];
  const value = each_s / size;
  return `${value >= 100 ? value.toFixed(0) : Number(value.toPrecision(2))}\u00a0${unit}`;
}

function rate(bytes, interval_ms, speed_mbps) {
  if (bytes === null || interval_ms === 0) return null;
  const each_s = (bytes * 8000) / interval_ms;
  const pct = speed_mbps ? each_s / speed_mbps / 1e4 : 0;
  return pct > 0 ? `${bits(each_s)}, ${pct < 1 ? "< 1" : Math.round(pct)} %` : bits(each_s);
}

function linkOf({ up, speed_mbps }) {
  if (up === null) return null;
  if (!up) return element("span", { class: "bad" }, "✕ down");
  return `✓ up${speed_mbps ? `, ${bits(speed_mbps * 1e6)}` : ""}`;
}

const trouble = (port) =>
  TROUBLES.reduce((sum, [key], i) => sum + (port[key] > 0 ? 2 ** (TROUBLES.length - i) : 0), 0);
const busy = (port) => (port.rx_bytes ?? 0) + (port.tx_bytes ?? 0);

const counted = (value) =>
  value > 0 ? element("b", {}, count(value)) : value === 0 ? element("span", { class: "quiet" }, "0") : null;

// A counter that no port has gets no column; a sentence below the table names it.
function tableOf(caption, what, ports) {
  const order = [...ports].sort((a, b) => trouble(b.port) - trouble(a.port) || busy(b.port) - busy(a.port));
  const [present, missing] = [true, false].map((is) =>
    TROUBLES.filter(([key]) => ports.some(({ port }) => port[key] !== null) === is),
  );
  return [
    table(
      `${caption}${order.length > SHOWN ? `: ${SHOWN} of ${count(order.length)}, those with problems first` : ""}`,
      [[what], ["link"], ...["receives", "sends", ...present.map(([, head]) => head)].map((head) => [head, "number"])],
      order
        .slice(0, SHOWN)
        .map(({ port, interval_ms, name }) => [
          name,
          linkOf(port),
          rate(port.rx_bytes, interval_ms, port.speed_mbps),
          rate(port.tx_bytes, interval_ms, port.speed_mbps),
          ...present.map(([key]) => counted(port[key])),
        ]),
    ),
    missing.length === 0
      ? null
      : element("p", { class: "quiet" }, `Not counted here: ${missing.map(([, head]) => head).join(", ")}.`),
  ];
}

// A sentence about a device that cannot be read now, with the age of what is shown.
const unread = (what, { up, error, age_ms, ports }) =>
  up ? null : element("p", { class: "trouble" }, `${what} is not read${error ? `: ${error}` : " yet"}${age_ms === null ? "" : `; ${ports.length === 0 ? "its last reading is" : "the values are"} ${age(age_ms)} old`}.`);

const inTime = (interval_ms) => (interval_ms === 0 ? "read once" : `in ${age(interval_ms)}`);

function switchOf(read) {
  if (read === undefined) return [notReported("ports")];
  if (read === null) return [element("p", { class: "quiet" }, "The counters of the switch are not read.")];
  const ports = read.ports.map((port) => ({ port, interval_ms: read.interval_ms, name: port.name }));
  return [
    unread(`The switch at ${read.address}`, read),
    ...(ports.length === 0 ? [] : tableOf(`Ports of the switch at ${read.address}, ${inTime(read.interval_ms)}`, "port", ports)),
  ];
}

function otherOf(read) {
  const ports = read.ports.map((port) => ({ port, interval_ms: read.interval_ms, name: port.name }));
  const which = `${read.role === "spine" ? "spine" : "ToR"} ${read.name}`;
  const some = read.port_count > ports.length ? `: ${ports.length} of ${count(read.port_count)}, those with problems first` : "";
  return [
    unread(`The ${which}`, read),
    ...(ports.length === 0 ? [] : tableOf(`Ports of ${which}, ${inTime(read.interval_ms)}${some}`, "port", ports)),
  ];
}

// How bad a switch is, to sort by: its worst port, or that it cannot be read.
const worst = (read) => Math.max(read.up ? 0 : 1, ...read.ports.map(trouble));

function hypervisorsOf(hosts) {
  const nics = hosts.flatMap((host) =>
    host.ports.map((port) => ({ port, interval_ms: host.interval_ms, name: `${host.host}/${port.name}` })),
  );
  const findings = nics.flatMap(({ port, name }) => port.findings.map((each) => [name, each.finding, each.text]));
  return [
    ...hosts.map((host) => unread(`ESXi host ${host.host}`, host)),
    findings.length === 0 ? null : table(`${several(findings.length, "finding")} at ESXi hosts that this rack’s aggregator reads`, [["NIC"], ["finding"], ["evidence", "wide"]], findings),
    ...(nics.length === 0 ? [] : tableOf("NICs of ESXi hosts that this rack’s aggregator reads, of whichever rack, in the last interval of each", "NIC", nics)),
  ];
}

// The elements of the section "Ports"; without ESXi hosts, it has nothing about them. undefined: the
// aggregator's release does not report them.
export function portsOf([read, others, hosts]) {
  const order = [...(others ?? [])].sort((a, b) => worst(b) - worst(a));
  return [...switchOf(read), ...order.flatMap(otherOf), ...hypervisorsOf(hosts ?? [])];
}
