// How Sphinx's search weighs what it has found: as it does by itself, but teachers' notes come last.
var Scorer = {
  score: ([page, , , , score]) => score - (page.startsWith("docs/notes/") ? 1000 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};

// What it quotes of a page is the page's own text, not the list of its sections and buttons beside it.
document.addEventListener("DOMContentLoaded", () => {
  const { htmlToText } = Search, parser = new DOMParser();
  Search.htmlToText = (page, anchor) => htmlToText(
    `<div role="main">${parser.parseFromString(page, "text/html").querySelector("article").outerHTML}</div>`, anchor);
});

if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;         // no page can be fetched there
