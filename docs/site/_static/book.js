// What unfolds is printed unfolded, and folded again afterwards. A formula or a table wider than the paper is made
// smaller there (book.css), for which its least width is told, in letters m.
const unfolded = [];
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("to-print", "measured");
  for (const wide of document.querySelectorAll("mjx-container[display] > mjx-math, .text_html table")) {
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
});

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
for (const event of ["load", "resize"]) addEventListener(event, reachable);
