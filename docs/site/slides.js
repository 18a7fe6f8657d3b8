// What a deck does in the browser; `tools/slides.py` inlines it behind reveal.js.

// A displayed formula is made smaller where it is wider than its place. Returns the smallest letters of any, in px.
function narrow(page) {
  let smallest = 999;
  for (const formula of page.querySelectorAll("mjx-container[display]")) {
    formula.style.fontSize = "";
    const room = formula.clientWidth, wide = formula.firstElementChild.getBoundingClientRect().width;
    if (wide > room) formula.style.fontSize = `${97 * room / wide}%`;                         // ex is rounded
    smallest = Math.min(smallest, parseFloat(getComputedStyle(formula).fontSize));
  }
  return smallest;
}

// Words without a figure are made larger, up to 44 px (32 beside code), while they leave a sixth of the page free.
function grow(page) {
  const both = page.querySelector(".both"), words = both && both.querySelector(".words:only-child");
  const [least, most] = page.querySelector(".code:not(.behind)") ? [28, 32] : [32, 44];
  for (let size = most; words && size >= least; size -= 2) {
    words.style.fontSize = `${size}px`;
    const formula = narrow(page);
    if (size === least || words.offsetHeight < .83 * both.clientHeight && words.scrollWidth <= words.clientWidth
        && formula >= .9 * size) break;
  }
}

// The heads of a table break into lines where that makes the whole table larger. room(): how large it can be.
function heads(inner, room) {
  const all = [...inner.querySelectorAll("thead th")];
  const set = width => {
    inner.style.setProperty("--head", `${width}em`);
    for (const head of all) head.style.minWidth = "";
    for (const head of all)                                               // a long word makes its column wider
      if (head.scrollWidth > head.clientWidth) head.style.minWidth = `${head.scrollWidth - 9}px`;
  };
  let best = 8.5, largest = 0;
  for (const width of all.length ? [8.5, 6.5, 5] : []) {
    set(width);
    if (room() > 1.1 * largest) [best, largest] = [width, room()];
  }
  set(best);
}

// What a cell shows is made as large as its place allows, and stands beside the text where it is larger there.
function fit(page) {
  const both = page.querySelector(".both"), output = page.querySelector(".output");
  narrow(page);
  if (!output) return grow(page);
  const inner = output.querySelector(".fit"), words = both.querySelector(".words");
  const room = () => Math.min(output.clientWidth / inner.offsetWidth, output.clientHeight / inner.offsetHeight, 2.2);
  heads(inner, room);
  const below = room();
  if (words) {
    both.classList.add("beside");
    heads(inner, room);
    const small = narrow(page) < 24, full = words.offsetHeight > both.clientHeight || words.scrollWidth > words.clientWidth;
    if (small || full || room() < 1.1 * below) both.classList.remove("beside");
    narrow(page);
    heads(inner, room);
  }
  const scale = Math.max(room(), .2);
  inner.style.transform = `scale(${scale})`;
  inner.style.left = `${(output.clientWidth - scale * inner.offsetWidth) / 2}px`;
  output.dataset.scale = scale;
}

// The speaker's window (key S): what to say, the answer, what comes next, the clock and the minute at which one should
// be. It needs no server: the deck writes into it.
let speaker = null;
const began = Date.now();

function tell() {
  if (!speaker || speaker.closed) return;
  const slide = Reveal.getCurrentSlide(), all = Reveal.getSlides(), i = all.indexOf(slide), next = all[i + 1];
  const heading = s => s ? s.querySelector("h1, h2").innerHTML : "the end";
  const hidden = slide.querySelectorAll(".fragment:not(.visible)").length;
  const put = (id, html) => { speaker.document.getElementById(id).innerHTML = html; };
  const minutes = slides => slides.reduce((sum, s) => sum + (s.dataset.minutes | 0), 0);
  const free = s => "optional" in s.dataset, right = slide.querySelector(".right b"), answer = slide.querySelector(".answer");
  put("here", `${i + 1} / ${all.length} · ${heading(slide)}`);
  put("notes", slide.querySelector(".notes").innerHTML);
  put("answer", (right ? `<p><b>${right.innerHTML}</b> is right.</p>` : "") + (answer ? answer.innerHTML : ""));
  put("next", hidden ? "the answer, on this slide" : heading(next));
  put("due", `Due at its beginning: minute ${minutes(all.slice(0, i).filter(s => !free(s)))}`);
  put("skip", all.slice(i).filter(free).map(s => `${heading(s)} (${s.dataset.minutes})`).join(" · ") || "none");
  const view = speaker.document.getElementById("picture").shadowRoot.querySelector("main");
  view.replaceChildren(...next ? [next.querySelector(".page").cloneNode(true)] : []);
}

function clock() {
  if (!speaker || speaker.closed) return;
  const minutes = Math.floor((Date.now() - began) / 60000);
  speaker.document.getElementById("clock").textContent =
    `${new Date().toTimeString().slice(0, 5)} · minute ${minutes}`;
}

function notes() {
  speaker = window.open("", "speaker", "width=900,height=900");
  if (!speaker) return;                                                 // the browser forbids windows
  const style = document.querySelector("style.formulas").outerHTML;
  speaker.document.documentElement.lang = "en";
  speaker.document.head.innerHTML = `<title>Notes: ${document.title}</title>${style}<style>
    body { font: 22px/1.4 sans-serif; margin: 24px; color: #1c2530 } #here { font-size: 24px; color: #0072b2 }
    #answer { border-left: 8px solid #3a7d34; padding-left: 12px } #answer:empty { display: none }
    #picture { width: 512px; height: 288px; border: 1px solid; overflow: hidden }
    footer { border-top: 1px solid; margin-top: 24px; padding-top: 8px; font-size: 18px }</style>`;
  speaker.document.body.innerHTML = `<h1 id="here"></h1><div id="answer"></div><main id="notes"></main>
    <footer><span id="clock"></span> · <span id="due"></span><br>When late, leave out: <span id="skip"></span><br>
    Next: <span id="next"></span><div id="picture"></div></footer>`;
  const picture = speaker.document.getElementById("picture").attachShadow({ mode: "open" });
  const styles = [...document.querySelectorAll("style")].map(one => one.textContent.replaceAll(":root", ":host")).join("");
  picture.innerHTML = `<style>${styles} main { transform: scale(.4); transform-origin: 0 0 }</style>
    <main class="handout" aria-hidden="true" inert></main>`;
  speaker.addEventListener("keydown", event => {
    if (["ArrowRight", "PageDown", " "].includes(event.key)) Reveal.next();
    if (["ArrowLeft", "PageUp"].includes(event.key)) Reveal.prev();
    if (event.key.toLowerCase() === "c") turn();
  });
  tell();
  clock();
}

// Key C, or the button at a slide's foot: the code of its cell in the slide's place, and back.
function turn() {
  const page = Reveal.getCurrentSlide().querySelector(".page");
  if (page.querySelector(".behind")) page.classList.toggle("turned");
}

// The smallest letters of the figures on a page, in its px: of a chart as drawn, of a picture by what it says of itself.
function figureLetters(page, scale) {
  const sizes = [...page.querySelectorAll(".output svg.chart text")].map(text =>
    parseFloat(text.getAttribute("font-size")) * text.getScreenCTM().a / scale);
  for (const image of page.querySelectorAll(".output img"))
    sizes.push((image.dataset.letters || 12.5) * image.getBoundingClientRect().width / image.naturalWidth / scale);
  return sizes.length ? Math.min(...sizes) : null;
}

// The first two texts of a chart that cover each other, "" where none do.
function covered(page) {
  const texts = [...page.querySelectorAll("svg.chart text")].filter(text => text.textContent)
    .map(text => [text.textContent, text.getBoundingClientRect()]);
  for (const [i, [one, a]] of texts.entries())
    for (const [two, b] of texts.slice(i + 1))
      if (a.left + 1 < b.right && b.left + 1 < a.right && a.top + a.height / 4 < b.bottom - b.height / 4
          && b.top + b.height / 4 < a.bottom - a.height / 4) return `${one} and ${two}`;
  return "";
}

// What an author and the tests want to know of each slide, all fragments shown (see `look` in tools/slides.py).
function measure() {
  return Reveal.getSlides().map((slide, i) => {
    Reveal.slide(i, 0, 99);
    const page = slide.querySelector(".page"), zero = page.getBoundingClientRect(), scale = zero.width / 1280;
    let bottom = 0, right = 0, left = 1280, letters = 999, small = 999, raw = "";
    const clipped = ".heard, .foot, mjx-assistive-mml, svg:not(.chart)";
    for (const element of page.querySelectorAll("*")) {
      if (element.matches("mjx-container") && !element.closest(".foot"))
        letters = Math.min(letters, parseFloat(getComputedStyle(element).fontSize));
      if (element.closest(clipped) || element.matches(".both, .output")) continue;
      const box = element.getBoundingClientRect();
      if (!box.width || !box.height) continue;
      bottom = Math.max(bottom, (box.bottom - zero.top) / scale);
      right = Math.max(right, (box.right - zero.left) / scale);
      left = Math.min(left, (box.left - zero.left) / scale);
      const own = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join("").trim();
      const size = parseFloat(getComputedStyle(element).fontSize), output = element.closest(".output");
      if (element.closest("svg")) continue;                         // letters of charts are measured below
      if (own && output) small = Math.min(small, size * output.dataset.scale);
      else if (own && element.closest(".code, code")) small = Math.min(small, size);
      else if (own && !element.closest("sub, sup")) letters = Math.min(letters, size);
      if (!element.closest(".output, .code, code") && own.includes("$")) raw = own;
    }
    const words = page.querySelector(".both > .words");
    if (words && words.scrollWidth > words.clientWidth + 1) right = 1280 + words.scrollWidth - words.clientWidth;
    for (const box of [page.querySelector(".both"), page].filter(Boolean))
      bottom = Math.max(bottom, box.scrollHeight > box.clientHeight + 1 ? 720 + box.scrollHeight - box.clientHeight : 0);
    const code = page.querySelector(".behind");
    page.classList.add("turned");
    if (code) bottom = Math.max(bottom, (code.getBoundingClientRect().bottom - zero.top) / scale);
    if (code && code.scrollWidth > code.clientWidth) right = 1280 + code.scrollWidth - code.clientWidth;
    page.classList.remove("turned");
    return { title: slide.querySelector("h1, h2").textContent, bottom, right, left, letters, small, raw,
             figure: figureLetters(page, scale), covered: covered(page) };
  });
}

// `?handout`: pages to print, three slides a page beside lines to write on, without what is to be predicted.
function handout() {
  const style = document.createElement("style"), all = document.createElement("main");
  style.textContent = "@page { size: A4; margin: 15mm 12mm } html, body { height: auto }";
  document.head.append(style);
  all.className = "handout";
  for (const [i, page] of [...document.querySelectorAll(".page")].entries()) {
    const row = document.createElement("div");
    row.className = "row";
    row.innerHTML = '<div class="small"></div><div class="lines"></div>';
    row.firstChild.append(page);
    if (i % 3 === 0) all.append(Object.assign(document.createElement("div"), { className: "sheet" }));
    all.lastChild.append(row);
  }
  document.body.replaceChildren(all);
}

window.addEventListener("load", async () => {
  const printed = new URLSearchParams(location.search).has("handout");
  if (printed) for (const later of document.querySelectorAll(".fragment:not(.custom)")) later.remove();
  document.body.classList.add("measuring");
  for (const page of document.querySelectorAll(".page")) fit(page);
  document.body.classList.remove("measuring");
  if (printed) {
    handout();
    document.documentElement.dataset.ready = "yes";
    return;
  }
  await Reveal.initialize({ width: 1280, height: 720, margin: 0, center: false, hash: true, slideNumber: "c/t",
    transition: "none", backgroundTransition: "none", pdfSeparateFragments: false });
  Reveal.addKeyBinding({ keyCode: 83, key: "S", description: "Speaker's notes" }, notes);
  Reveal.addKeyBinding({ keyCode: 67, key: "C", description: "The code of what is shown" }, turn);
  for (const button of document.querySelectorAll(".foot button")) button.addEventListener("click", turn);
  Reveal.on("slidechanged", () => document.querySelector(".turned")?.classList.remove("turned"));
  for (const event of ["slidechanged", "fragmentshown", "fragmenthidden"]) Reveal.on(event, tell);
  setInterval(clock, 1000);
  document.documentElement.dataset.ready = "yes";
});
