// What unfolds is printed unfolded, and folded again afterwards. A formula or a table wider than the paper is made
// smaller there (book.css), for which its least width is told, in letters m.
const unfolded = [];
const WIDE = "mjx-container[display] > mjx-math, .text_html table";
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("to-print", "measured");
  for (const wide of document.querySelectorAll(WIDE)) {
    wide.style.removeProperty("--fit");
    const size = parseFloat(getComputedStyle(wide).fontSize);
    wide.style.setProperty("--size", `${size}px`);
    wide.style.setProperty("--ems", wide.getBoundingClientRect().width / size);
  }
  document.documentElement.classList.remove("measured");
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.open = true;
    unfolded.push(details);
  }
});
addEventListener("afterprint", () => {
  for (const details of unfolded.splice(0)) details.open = false;
  document.documentElement.classList.remove("to-print");
  fit();
});

// On a screen a formula, or the tables that a cell shows, are made smaller, too, if they then fit into the column with
// letters of three quarters of their size; else they are scrolled. (book.css) A row's short name stays in one line.
const LEAST = 0.75;
for (const name of document.querySelectorAll(".text_html th[scope=row]"))
  if (name.textContent.length <= 14) name.style.whiteSpace = "nowrap";
function fit() {
  const shown = [...document.querySelectorAll(WIDE)]
    .filter((wide) => wide.offsetParent && !wide.closest(".attention-explorer"));
  const groups = Map.groupBy(shown, (wide) => wide.closest(".text_html") ?? wide.parentElement);
  const sizes = new Map([...groups.keys()].map((place) => [place, 1]));
  const set = (tell) => sizes.forEach((size, place) => groups.get(place).forEach((wide) => tell(wide.style, size)));
  set((style) => style.removeProperty("--fit"));
  for (let round = 0; round < 3; round++) {                           // not all of a table shrinks with its letters
    const shares = [...groups].map(([place, members]) => [place, Math.min(...members.map((wide) =>
      place.clientWidth / wide.getBoundingClientRect().width))]);
    for (const [place, share] of shares) if (share < 1) sizes.set(place, 0.99 * sizes.get(place) * share);
    set((style, size) => size < 1 && style.setProperty("--fit", size));
  }
  set((style, size) => size < LEAST && style.removeProperty("--fit"));
  reachable();
}

// What is wider than its column is scrolled sideways, also by keyboard. (The theme sees to code and plain outputs.)
const boxes = [...document.querySelectorAll(".text_html, .text_html div, .math, .pst-scrollable-table-container")]
  .filter((box) => !box.hasAttribute("tabindex"));
function reachable() {
  for (const box of boxes) {
    const hidden = box.scrollWidth > box.clientWidth && ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    if (hidden) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
for (const event of ["load", "resize"]) addEventListener(event, fit);
addEventListener("load", () => window.MathJax?.startup?.promise.then(fit));
document.addEventListener("toggle", ({ target }) => target.className === "code" || fit(), true);

// In the list of pages, what a page's own pages unfold by has a name.
for (const summary of document.querySelectorAll(".bd-sidebar summary"))
  summary.setAttribute("aria-label", `Pages of ${summary.closest("li").querySelector("a").textContent.trim()}`);

// Code folds, cell by cell, or all at once by a button beneath the title; which it was, the browser keeps. A cell with the
// tag "folded" begins folded.
const inputs = [...document.querySelectorAll(".bd-article div.cell_input")];
const folds = inputs.map((input) => {
  const fold = document.createElement("details"), summary = document.createElement("summary");
  const lines = input.textContent.trim().split("\n").length;
  fold.className = "code";
  summary.textContent = `code, ${lines} ${lines === 1 ? "line" : "lines"}`;
  input.replaceWith(fold);
  fold.append(summary, input);
  return fold;
});
if (folds.length) {
  const button = document.createElement("button");
  const show = (open) => {
    for (const fold of folds) fold.open = open;
    button.textContent = open ? "Fold the code" : "Unfold the code";
    try { localStorage.code = open ? "" : "folded"; } catch { }          // kept nowhere, if the browser says so
  };
  button.className = "fold-code";
  button.addEventListener("click", () => show(!folds.some((fold) => fold.open)));
  document.querySelector(".bd-article h1").after(button);
  let kept = "";
  try { kept = localStorage.code; } catch { }
  show(kept !== "folded");
  for (const fold of folds) if (fold.closest(".tag_folded")) fold.open = false;
}

// A figure that is shown smaller than it is opens at its own size, by a click on it or by the button behind it.
const large = document.createElement("dialog");
large.className = "enlarged";
large.setAttribute("aria-label", "A figure at its own size");
large.addEventListener("click", () => large.close());
document.body.append(large);
for (const image of document.querySelectorAll(".bd-article img:not(.live-explorer img, a img)")) {
  const button = document.createElement("button"), copy = image.cloneNode();
  const open = () => {
    const close = document.createElement("button");
    close.textContent = "Close";
    copy.style.cssText = `width:max(100%, ${image.naturalWidth}px);max-width:none`;
    large.replaceChildren(close, copy);
    large.showModal();
  };
  const smaller = () => { button.hidden = image.naturalWidth < 1.15 * image.clientWidth || !image.clientWidth; };
  button.className = "enlarge";
  button.textContent = "Enlarge the figure";
  button.addEventListener("click", open);
  image.addEventListener("click", () => button.hidden || open());
  image.addEventListener("load", smaller);
  addEventListener("resize", smaller);
  image.after(button);
  smaller();
  image.closest("details.result")?.addEventListener("toggle", smaller);
}
