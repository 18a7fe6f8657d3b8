// What a reader has answered in the book, kept in this browser and sent nowhere, as one object of two parts:
//   {"quizzes": {"02": {"0": true, "1": false}}, "predictions": {…}}           // of a quiz: its first tries, by place
//   kept.get(part, key)           the value, undefined if there is none
//   kept.set(part, key, value)    undefined takes it away
//   kept.all(), kept.forget()     all of it
// Where the browser keeps nothing it is kept until the page is left; none ever throws.
window.kept = (() => {
  const NAME = "course";
  let all = {}, refused = false;
  const read = () => {                                         // anew each time: another tab may have written
    try {
      const found = refused ? all : JSON.parse(localStorage.getItem(NAME));
      all = found && typeof found === "object" ? found : {};
    } catch { }
    return all;
  };
  return {
    all: read,
    get: (part, key) => read()[part]?.[key],
    set(part, key, value) {
      all = { ...read(), [part]: { ...all[part], [key]: value } };
      try { localStorage.setItem(NAME, JSON.stringify(all)); } catch { refused = true; }
    },
    forget() {
      all = {};
      try { localStorage.removeItem(NAME); } catch { }
    },
  };
})();
