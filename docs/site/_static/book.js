// What unfolds is printed unfolded, and folded again afterwards.
const unfolded = [];
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.open = true;
    unfolded.push(details);
  }
});
addEventListener("afterprint", () => {
  for (const details of unfolded.splice(0)) details.open = false;
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
