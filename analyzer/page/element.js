// Makes elements. Texts from the API may contain anything: they become text nodes and attributes,
// never markup.

// element("a", { href: "#/", class: "quiet" }, "text", otherElement, null)
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// Sets a text. An equal text is not set again, so that a user's selection stays.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// A sentence in the place of a part that is missing in the answer of a rack's aggregator, whose
// release may be older than this page.
export const notReported = (part = "this") => element("p", { class: "quiet" }, `The rack’s aggregator is of an older release, which does not report ${part}.`);

export function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

// A list of names and values, which are texts or elements. Pairs whose value is null or "" are left
// out.
export function facts(pairs) {
  return element(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );
}

// columns: [head, class], the class may be missing; rows: lists of texts or elements, null: "–".
export function table(caption, columns, rows) {
  const cell = (tag, i, content) => element(tag, { class: columns[i][1] ?? null }, content ?? "–");
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, columns.map(([head], i) => cell("th", i, head)))),
      element(
        "tbody",
        {},
        rows.map((row) => element("tr", {}, row.map((content, i) => cell("td", i, content)))),
      ),
    ),
  );
}

// Lets the arrow keys move the focus between the links of a list that is shown as a grid; Home and
// End move it to the first and the last link.
export function walkable(list) {
  list.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const links = [...list.querySelectorAll("a")].filter((link) => link.offsetParent !== null);
    const at = links.indexOf(document.activeElement);
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const wide = Math.max(1, links.findIndex((link) => link.offsetTop > links[0].offsetTop));
    let next = null;
    if (event.key in steps) next = at + steps[event.key][0] + wide * steps[event.key][1];
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = links.length - 1;
    if (next === null) return;
    event.preventDefault();
    links[Math.min(Math.max(next, 0), links.length - 1)].focus();
  });
  return list;
}
