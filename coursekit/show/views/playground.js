// The playground as a page: what playground_exact.js computes of the text in its box, shown again at every keystroke.
// PLAYGROUND has the models and their vocabulary (playground.py), playground.html what is filled in here.
"use strict";
{
const place = document.querySelector(".playground"), find = (selector) => place.querySelector(selector);
const box = find("textarea"), slider = find("input[type=range]"), best = { score: -1 };
const models = Object.fromEntries(Object.entries(PLAYGROUND.models).map(([name, packed]) =>
  [name, unpacked(packed, PLAYGROUND.vocabulary.split("\n"))]));
const ROWS = {
  attention: (heads) => attention(heads),
  gradient: (heads) => gradientTimesInput(heads),
  average: (heads) => gradientMean(heads, model.turn, +slider.value),
  out: (heads) => leaveOneOut(heads),
  lime: (heads, games) => lime(games, heads[0].d),
  shapley: (heads, games) => shapley(games, heads[0].d),
};
const NAMES = Object.fromEntries([...place.querySelectorAll("article")].map((row) =>
  [row.dataset.row, row.querySelector("h3").textContent]));
const NOTHING = 1e-9;                                           // less than this is rounding
let model, name, shown = {}, removed = [], took = 0, waiting;

const element = (tag, attributes = {}, ...inside) => {
  const made = Object.assign(document.createElement(tag), attributes);
  made.append(...inside);
  return made;
};
const percent = (share) => {                                    // a model is never certain
  const rounded = (100 * share).toFixed(share > 0.9949 || share < 0.0095 ? 1 : 0);
  return `${rounded === "100.0" ? "over 99.9" : rounded} %`;
};
const signed = (number, digits) => (number < 0 ? "−" : "+") + Math.abs(number).toFixed(digits);
const levels = (scores) => {
  const largest = Math.max(...scores.map(Math.abs)) || 1;
  return scores.map((score) => Math.round(9 * score / largest) + 0);
};
const listed = (words) => [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(" and ");
const share = (heads, from, to) => sum(heads.map(({ alpha }) => sum(alpha.subarray(from, to)))) / heads.length;

// A row of words on the colours of their numbers, or on grey if these are sizes without a sign. In the first row they
// are buttons, one of which Tab reaches.
function words(row, scores, tag, sizes) {
  const { cuts, known } = shown;
  row.dir = "auto";
  row.replaceChildren(...levels(scores).map((level, i) => {
    const word = element(tag, { title: `${scores[i].toPrecision(3)}${known[i] ? "" : ", unknown to the model"}` },
      element("span", {}, cuts[i].word), element("small", {}, !level ? "" : sizes ? `${level}` : signed(level, 0)));
    word.style.setProperty("--strength", Math.abs(level) / 9);
    word.className = `${sizes ? "size" : level < 0 ? "against" : level > 0 ? "for" : ""} ${known[i] ? "" : "unknown"}`;
    word.dataset.i = i;
    if (tag === "button") Object.assign(word, { type: "button", tabIndex: i ? -1 : 0 });
    return word;
  }));
}

function rows(keys) {
  const { cuts, heads, games } = shown;
  for (const key of keys) {
    const row = find(`[data-row=${key}]`);
    const scores = shown.scores[key] = ROWS[key](heads, games).map((one) => (Math.abs(one) < NOTHING ? 0 : one));
    words(row.querySelector(".words"), scores, key === "attention" ? "button" : "span", key === "attention");
    const first = scores.reduce((top, score, i) => (Math.abs(score) > Math.abs(scores[top]) ? i : top), 0);
    const word = scores[first] ? cuts[first].word : "none";
    shown.firsts[key] = scores[first] ? [word] : [];
    shown.sides[key] = key === "attention" ? 0 : Math.sign(scores[first]);
    const sign = !scores[first] || key === "attention" ? "" : scores[first] < 0 ? " −" : " +";
    row.querySelector(".first").replaceChildren("first: ", element("b", {}, element("bdi", {}, word)), sign);
  }
  const firsts = [...new Set(Object.values(shown.firsts).flat())];
  find(".firsts").textContent = !shown.known.some(Boolean)
    ? "The model knows none of these words: to it this text is empty."
    : firsts.length === 1 ? `Here all six put the same word first: ${firsts[0]}. ` + (
      Object.values(shown.sides).includes(1) && Object.values(shown.sides).includes(-1)
        ? "But they do not agree whether it speaks for praise or for blame." : "They need not: try the other model.")
      : `Here they put ${firsts.length} different words first: ${listed(firsts)}.`;
  const empty = share(heads, cuts.length + 1);
  find(".share").textContent = empty < 0.005 ? ""
    : `${percent(share(heads, 1, cuts.length + 1))} of it is on these words, the rest on empty places around them: the `
      + `model always reads ${model.T - 1}.`;
  slider.nextSibling.textContent = `${slider.value}°`;
  game();
  if (find(".values").open) table();
}

function update() {
  const began = performance.now();
  clearTimeout(waiting);
  const all = cut(box.value), cuts = all.slice(0, model.T - 1), heads = headsOf(model, all.map(({ word }) => word));
  const score = scoreOf(heads), p = 1 / (1 + Math.exp(-score)), sure = Math.max(p, 1 - p), even = sure < 0.505;
  const said = !cuts.length ? "nothing typed yet" : even ? "undecided" : p > 0.5 ? "praise" : "blame";
  const known = cuts.map(({ word }) => model.ids.has(word)), unknown = known.filter((one) => !one).length;
  shown = { text: box.value, cuts, heads, known, scores: {}, firsts: {}, sides: {} };
  find(".big strong").textContent = cuts.length ? percent(sure) : "–";
  find(".big span").textContent = said;
  find(".scale i").style.left = `${100 * p}%`;
  const cutOff = all.length > cuts.length ? `, the first ${cuts.length} of ${all.length}` : "";
  find(".note").textContent = [...place.querySelectorAll("[data-note]")].find(
    ({ dataset }) => dataset.text === box.value)?.dataset.note
    ?? (2 * unknown > cuts.length ? "It knows fewer than half of these words: do not trust this." : "");
  find(".undo").textContent = `undo · now ${percent(sure)} ${said}`;
  find(".beside").textContent = `Score ${signed(score, 2)}, log-odds of praise: 0 is undecided, below it is blame. `
    + `${cuts.length} ${cuts.length === 1 ? "word or mark" : "words and marks"} read${cutOff}`
    + (unknown ? `; ${unknown} unknown to the model.` : ".");
  place.classList.toggle("empty", !cuts.length);
  place.classList.toggle("praise", p > 0.5);
  place.classList.toggle("even", even || !cuts.length);
  if (cuts.length) {
    shown.games = productGames(heads);
    rows(Object.keys(ROWS));
    if (find(".heads").open) oneByOne();
  }
  find(".address a").href = `#${new URLSearchParams({ t: box.value, m: name })}`;
  clearTimeout(update.later);
  update.later = setTimeout(() => {
    find(".heard").textContent = cuts.length ? `${percent(sure)} ${said}. ${find(".firsts").textContent}` : said;
  }, 900);
  took = performance.now() - began;
}

// A long text takes a while: it is answered when the keys rest.
function typed() {
  clearTimeout(waiting);
  if (took < 100) update();
  else waiting = setTimeout(update, 300);
}

// A word is taken out of the text with the blank in front of it; `undo` gives it back.
function remove(i) {
  if (box.value !== shown.text) update();
  const low = box.value.toLowerCase(), text = low.length === box.value.length ? box.value : low;
  const { start, end } = shown.cuts[i];
  removed.push(box.value);
  find(".undo").hidden = false;
  box.value = (text.slice(0, start).replace(/[ \t]$/, "") + text.slice(end)).trimStart();
  update();
}

function game() {
  const [one, other] = [...place.querySelectorAll(".game select")].map(({ value }) => value);
  const [a, b] = [one, other].map((key) => shown.scores[key]), enough = a.length > 5 && one !== other;
  const sizes = [one, other].includes("attention");
  const rho = spearman(...[a, b].map((row) => (sizes ? row.map(Math.abs) : row)));
  const score = enough && !Number.isNaN(rho) ? Math.round(50 * (1 - rho)) : null;
  const pair = [one, other, name].join();
  if (best.pair !== pair) Object.assign(best, { pair, score: -1 });
  if (score > best.score) Object.assign(best, { score, text: box.value, turned: slider.value });
  find(".score strong").textContent = score ?? "–";
  find(".score span").textContent = score === null ? "Six words at least, and two different rows."
    : `of 100; the best so far: ${best.score}.`;
  find(".score button").hidden = best.score < 0 || best.text === box.value && best.turned === slider.value;
}

function oneByOne() {
  const { heads, cuts } = shown, { K, T, places } = model;
  find(".heads > div").replaceChildren(...heads.map((head, k) => {
    const own = Float64Array.from({ length: T - 1 }, (_, t) => Math.exp(places[(t + 1) * 2 * K + k]));
    const largest = Math.max(...own), most = own.indexOf(largest), share = largest / sum(own);
    const line = own.reduce((path, one, t) => `${path} L${t + 1} ${30 - 28 * one / largest}`, "M1 30");
    const onWords = sum(head.alpha.subarray(1, head.d + 1)), onEmpty = sum(head.alpha.subarray(head.d + 1));
    const row = element("div", { className: "words" }), curve = element("div", { className: "curve" });
    words(row, [...head.alpha.subarray(1, head.d + 1)], "span", true);
    curve.innerHTML = `<svg viewBox="0 0 ${T} 32" preserveAspectRatio="none" aria-hidden="true">`
      + `<rect width="${cuts.length + 1}" height="32"/><path d="${line} L${T - 1} 30Z"/></svg>`;
    return element("section", {}, element("h4", {}, `Head ${k + 1}`), element("p", {}, `${percent(onWords)} of its `
      + `attention is on these words, ${percent(onEmpty)} on empty places. By place alone it would read place `
      + `${most + 1} most, with ${percent(share)}.`), curve, row);
  }));
}

function table() {
  const keys = Object.keys(ROWS), head = ["word", ...keys.map((key) => NAMES[key])];
  const shows = (key, score) => (key === "attention" ? score.toFixed(5) : signed(score, 5));
  find(".values > div").replaceChildren(element("table", {}, element("thead", {}, element("tr", {},
    ...head.map((text) => element("th", { scope: "col" }, text)))),
  element("tbody", {}, ...shown.cuts.map(({ word }, i) => element("tr", {}, element("th", { scope: "row" }, word),
    ...keys.map((key) => element("td", {}, shows(key, shown.scores[key][i]))))))));
}

function choose(wanted) {
  name = wanted in models ? wanted : Object.keys(models)[0];
  model = models[name];
  for (const radio of place.querySelectorAll(".models input")) radio.checked = radio.value === name;
  find(".right").hidden = !model.right;
  find(".right b").textContent = `${Math.round(model.right)} %`;
  find(".by-hand").hidden = !PLAYGROUND.byHand;                  // which the book has counted
  find(".by-hand b").textContent = PLAYGROUND.byHand?.[name];
}

function fromLink() {
  const asked = new URLSearchParams(location.hash.slice(1));
  choose(asked.get("m") ?? name);
  box.value = asked.get("t") ?? (box.value || find("[data-text]").dataset.text);
  update();
}

for (const key of Object.keys(models))
  find(".models").append(element("label", {}, element("input", { type: "radio", name: "pg-model", value: key }),
    key.replace("imdb-", "")));
for (const [i, select] of place.querySelectorAll(".game select").entries())
  select.append(...Object.entries(NAMES).map(([value, text]) =>
    element("option", { value, selected: value === ["attention", "shapley"][i] }, text)));
box.addEventListener("input", typed);
place.addEventListener("change", ({ target }) => {
  if (target.name === "pg-model") { choose(target.value); update(); }
  if (target.tagName === "SELECT" && shown.cuts.length) game();
});
slider.addEventListener("input", () => shown.cuts.length && rows(["average"]));
place.addEventListener("click", ({ target }) => {
  const word = target.closest("[data-i]"), example = target.closest("[data-text]");
  if (word) {
    remove(+word.dataset.i);
    const next = Math.min(word.dataset.i, shown.cuts.length - 1);
    if (word.tagName === "BUTTON") (place.querySelectorAll("[data-row=attention] button")[next] ?? box).focus();
  } else if (example) {
    box.value = example.dataset.text;
    choose(example.dataset.model ?? name);
    update();
  }
});
find(".undo").addEventListener("click", ({ currentTarget }) => {
  box.value = removed.pop();
  currentTarget.hidden = !removed.length;
  if (currentTarget.hidden) box.focus();
  update();
});
find(".score button").addEventListener("click", () => {
  [box.value, slider.value] = [best.text, best.turned];
  box.focus();
  update();
});
find("[data-row=attention] .words").addEventListener("keydown", (event) => {
  const to = { ArrowRight: "nextSibling", ArrowLeft: "previousSibling" }[event.key], word = event.target;
  if (to && word[to]) { word.tabIndex = -1; word[to].tabIndex = 0; word[to].focus(); event.preventDefault(); }
  if (["Delete", "Backspace"].includes(event.key)) { word.click(); event.preventDefault(); }
});
for (const [selector, show] of [[".heads", oneByOne], [".values", table]])
  find(selector).addEventListener("toggle", ({ target }) => target.open && shown.cuts.length && show());
addEventListener("hashchange", fromLink);
addEventListener("pageshow", () => {                            // who comes back finds what was typed
  if (box.value !== shown.text || name !== find(".models :checked").value) {
    choose(find(".models :checked").value);
    update();
  }
});
find(".address").hidden = self !== top;                         // a frame has none
fromLink();
}
