// What a kind of verdict means and what to do about it, from docs/verdicts.md, which the analyzer
// serves as a file. A section is shown beside its incidents, and alone as #/kind/rnic-down.

import { NoAnswer, askText } from "./ask.js";
import { element, setText } from "./element.js";

let sections = null; // by kind; null: the file is not loaded yet

// Markdown of one paragraph -> texts and elements. Only `code` and **bold** are marked up. Only the
// text of a link is kept, because the analyzer does not have the file that the link leads to.
function words(text) {
  const pieces = text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").split(/(`[^`]+`|\*\*[^*]+\*\*)/);
  return pieces.filter(Boolean).map((piece) => {
    if (piece.startsWith("`")) return element("code", {}, piece.slice(1, -1));
    return piece.startsWith("**") ? element("b", {}, piece.slice(2, -2)) : piece;
  });
}

// In characters: a longer explanation of a kind is cut after a sentence, to SHORT if possible.
const LONG = 400;
const SHORT = 250;

// [the first sentences, the rest]
function cut(text) {
  const ends = [...text.matchAll(/[.] (?=[A-Z"])/g)].map((end) => end.index + 1);
  const at = ends.filter((end) => end <= SHORT).at(-1) ?? ends[0] ?? text.length;
  return [text.slice(0, at), text.slice(at).trim()];
}

// The paragraphs of a section: what the kind means, what to look at, what to do. folded: only the
// first sentences of a long explanation are shown; the rest is in a closed <details> at the end.
function paragraphs(section, folded) {
  const blocks = section.split(/\n\n|\n(?=\*\*)/).map((block) => block.replaceAll("\n", " ").trim()).filter(Boolean);
  if (blocks.length === 0) return [];
  const [first, rest] = folded && blocks[0].length > LONG ? cut(blocks[0]) : [blocks[0], ""];
  return [
    ...[first, ...blocks.slice(1)].map((block) => element("p", {}, words(block))),
    ...(rest === "" ? [] : [element("details", {}, element("summary", {}, "How it is found"), element("p", {}, words(rest)))]),
  ];
}

async function sectionOf(kind) {
  if (sections === null) {
    const text = await askText("/verdicts.md");
    sections = new Map(text.split(/^## /m).slice(1).map((each) => [each.slice(0, each.indexOf("\n")), each.slice(each.indexOf("\n"))]));
  }
  return sections.get(kind);
}

// Returns the element at once, hidden; it is filled and shown when the file has been loaded.
export function advice(kind, head = "h2") {
  const body = element("div", {});
  const root = element("section", { class: "advice", hidden: true }, element(head, {}, `What ${kind} means, and what to do`), body);
  async function fill() {
    try {
      const section = await sectionOf(kind);
      body.replaceChildren(...(section === undefined ? [element("p", { class: "quiet" }, "There is no kind of verdict with this name.")] : paragraphs(section, head !== "h1")));
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      body.replaceChildren(element("p", { class: "quiet" }, `The explanation cannot be loaded: ${error.message}.`));
    }
    root.hidden = false;
  }
  fill();
  return root;
}

export function open([kind]) {
  const head = element("p", { class: "quiet" });
  return {
    title: kind ?? "Kinds",
    root: element("article", { class: "one" }, element("p", { class: "path" }, element("a", { href: "#/incidents" }, "Incidents"), " / kind"), advice(kind ?? "", "h1"), head),
    update(known) {
      const open = [...known.incidents.values()].filter((each) => each.kind === kind && each.state === "open");
      setText(head, open.length === 0 ? "No incident of this kind is open." : `Open now: ${open.map((each) => each.part).join(", ")}.`);
    },
  };
}
