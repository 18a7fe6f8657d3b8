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
document.addEventListener("toggle", fit, true);
