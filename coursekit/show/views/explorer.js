// The live side of attention_explorer (explorer.py). The model holds tokens and columns, strings of queries and keys;
// shown, {layer, L, K, largest, weights}: the weights of one of L layers, (K heads, queries, keys) whole numbers of 16
// bits for 0 … largest; and what is set here too: layer, heads (those switched on), token (a query, or null for all).

const ROW = 24, HEAD = 44, GAP = 190;               // pixels: a token, the headings above, the lines between
const FAINT = 0.03, MOST_LINES = 600;               // fainter lines, and lines beyond that many, are not drawn
const HELP = "Hover over a query, or click to keep it (by keyboard: arrow keys, Escape).";

function make(parent, tag, attributes = {}, text = "") {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;                          // never HTML: a token may hold anything
  parent.append(node);
  return node;
}

function render({ model, el }) {
  const tokens = model.get("tokens"), keys = model.get("columns"), { L, K, largest } = model.get("shown");
  const name = "explorer-" + Math.random().toString(36).slice(2);
  let pinned = model.get("token"), mine = pinned;   // the query that was clicked; the one that this view has set
  let weights;                                      // weights(head, query, key), of the layer in shown

  function set(trait, value) {
    model.set(trait, value);
    model.save_changes();
  }

  function look(i) {                                // hovering
    if (i === model.get("token")) return;
    mine = i;
    set("token", i);
  }

  function keep(i) {                                // clicking, and the keyboard
    pinned = i;
    look(i);
    if (i !== null) options[i].scrollIntoView({ block: "nearest" });
  }

  const root = make(el, "div", { class: "attention-explorer" });
  const bar = make(root, "div", { class: "layers", role: "group", "aria-label": "layer" });
  make(bar, "span", {}, "Layer");
  const layers = [...Array(L).keys()].map((l) => {
    const button = make(bar, "button", { "aria-label": `layer ${l}` }, l);
    button.onclick = () => set("layer", l);
    return button;
  });

  const box = make(root, "div", { class: "columns" });
  const left = make(box, "div", { class: "queries" });
  make(left, "div", { class: "heading" }, "queries (from)");
  const list = make(left, "div", { role: "listbox", tabindex: 0, "aria-label": "queries" });
  list.dataset.lmSuppressShortcuts = true;          // JupyterLab leaves the arrow keys to this list
  const options = tokens.map((token, i) => {
    const option = make(list, "div", { role: "option", id: `${name}-${i}`, title: token }, token || " ");
    option.onpointerenter = () => look(i);
    option.onclick = () => keep(pinned === i ? null : i);
    return option;
  });
  list.onpointerleave = () => look(pinned);
  list.onkeydown = (event) => {
    const at = pinned ?? -1, last = tokens.length - 1, down = Math.min(at + 1, last), up = Math.max(at - 1, 0);
    const to = { ArrowDown: down, ArrowUp: up, Home: 0, End: last, Escape: null }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    keep(to);
  };

  const height = HEAD + ROW * Math.max(tokens.length, keys.length);
  box.insertAdjacentHTML("beforeend", `<svg width="${GAP}" height="${height}" aria-hidden="true"></svg>`);
  const svg = box.lastElementChild;

  const table = make(box, "table"), top = make(make(table, "thead"), "tr");
  make(top, "th", { scope: "col" }, "keys (to)");
  let caption;
  const heads = [...Array(K).keys()].map((k) => {
    const cell = make(top, "th", { scope: "col" });
    caption ??= make(cell, "span");
    const button = make(cell, "button", { "aria-label": `head ${k}`, title: "double click: this alone, or all" }, k);
    button.onclick = () => {
      const on = model.get("heads"), next = on.includes(k) ? on.filter((h) => h !== k) : [...on, k];
      if (next.length) set("heads", next.sort((a, b) => a - b));
    };
    button.ondblclick = () => set("heads", String(model.get("heads")) === String(k) ? [...Array(K).keys()] : [k]);
    return button;
  });
  const rows = make(table, "tbody");
  const lines = keys.map((key) => {
    const row = make(rows, "tr");
    return { word: make(row, "th", { scope: "row", title: key }, key || " "), cells: heads.map(() => make(row, "td")) };
  });
  const said = make(root, "p", { "aria-live": "polite" });

  function unpack() {
    const view = model.get("shown").weights;
    weights = (k, i, j) => largest / 65535 * view.getUint16(2 * ((k * tokens.length + i) * keys.length + j), true);
  }

  function draw() {
    const { layer } = model.get("shown"), on = model.get("heads"), token = model.get("token");
    const queries = token === null ? [...tokens.keys()] : [token];
    const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

    layers.forEach((button, l) => button.setAttribute("aria-pressed", l === layer));
    heads.forEach((button, k) => button.setAttribute("aria-pressed", on.includes(k)));
    options.forEach((option, i) => option.setAttribute("aria-selected", i === token));
    list.setAttribute("aria-activedescendant", token === null ? "" : `${name}-${token}`);

    const pairs = queries.flatMap((i) => [...keys.keys()].map((j) => [i, j, mean(on.map((k) => weights(k, i, j)))]));
    const toKey = keys.map((_, j) => mean(queries.map((_, q) => pairs[q * keys.length + j][2])));
    const byHead = lines.map(({ cells }, j) => cells.map((_, k) => mean(queries.map((i) => weights(k, i, j)))));
    const heavy = pairs.sort((a, b) => b[2] - a[2]).slice(0, MOST_LINES), most = heavy[0][2] || 1;
    const deepest = Math.max(...byHead.map((row) => Math.max(...row))) || 1, strongest = Math.max(...toKey) || 1;
    const y = (i) => HEAD + ROW * (i + 0.5), digits = most >= 0.1 ? 2 : 3;

    svg.innerHTML = heavy.filter((pair) => pair[2] >= FAINT * most).reverse().map(([i, j, w]) =>
      `<path d="M0 ${y(i)}C${GAP / 2} ${y(i)} ${GAP / 2} ${y(j)} ${GAP} ${y(j)}" `
      + `stroke-width="${(0.5 + 3 * w / most).toFixed(1)}" opacity="${(0.1 + 0.9 * w / most).toFixed(2)}"/>`).join("");
    lines.forEach(({ word, cells }, j) => {
      word.style.setProperty("--strength", token === null ? 0 : toKey[j] / strongest);
      cells.forEach((cell, k) => {
        cell.style.setProperty("--strength", byHead[j][k] / deepest);
        cell.className = on.includes(k) ? "" : "off";
        cell.title = `head ${k}: ${byHead[j][k].toFixed(3)}`;
      });
    });

    caption.textContent = `heads (strongest ${deepest.toFixed(deepest >= 0.1 ? 2 : 3)})`;
    const many = on.length === K ? "mean of all heads" : `mean of heads ${on.join(", ")}`;
    const which = on.length === 1 ? `head ${on[0]}` : many;
    const best = [...keys.keys()].sort((a, b) => toKey[b] - toKey[a]).slice(0, 5);
    const words = best.map((j) => `${keys[j]} ${toKey[j].toFixed(digits)}`).join(" · ");
    said.textContent = token === null ? `${HELP} Lines: ${which}. Columns: each head, mean over queries.`
      : `${tokens[token]} → ${words} (${which})`;
  }

  const changes = {
    "change:shown": () => { unpack(); draw(); },
    "change:heads": draw,
    "change:token": () => { if (model.get("token") !== mine) pinned = mine = model.get("token"); draw(); },
  };
  for (const [event, react] of Object.entries(changes)) model.on(event, react);
  unpack();
  draw();
  return () => { for (const [event, react] of Object.entries(changes)) model.off(event, react); };
}

export default { render };
