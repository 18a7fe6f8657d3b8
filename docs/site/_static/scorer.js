// How Sphinx's search weighs what it has found: as it does by itself, but teachers' notes come last.
var Scorer = {
  score: ([page, , , , score]) => score - (page.startsWith("docs/notes/") ? 1000 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
