// A prediction is typed below its question, kept in this browser alone (kept.js), and stands beside what came out, which
// unfolds (tools/book_fold.py) as soon as every question before it has one. Links to lectures say how many there are.
// All this before MathJax (conf.py): a question is known by its text, in which a formula is as it was written.
{
const [, here] = location.pathname.match(/\/lectures\/(\d\d[a-z]?)_\w*\.html$/) ?? [];
const made = (tag, words, name = "") => {
  const element = document.createElement(tag);
  element.textContent = words;
  element.className = name;
  return element;
};

const asked = document.querySelectorAll(".bd-article p.predict").length;
const predicted = () => ({ of: asked, said: {}, ...kept.get("predictions", here) });
const ends = made("p", "", "predicted");
const tells = [() => {
  const many = Object.keys(predicted().said).length;
  ends.textContent = many ? `You predicted ${many} of ${asked}.` : "";
}];
const tell = () => tells.forEach((each) => each());

let waiting = [];
for (const place of here ? document.querySelectorAll(".bd-article :is(p.predict, details.result)") : []) {
  if (place.matches("p.predict")) {
    const key = place.textContent.replace(/\s+/g, " ").slice(0, 100);
    const form = made("form", "", "prediction"), label = made("label", "You predict "), input = made("input", "");
    const keep = made("button", "Keep it");
    place.id = `predict-${document.querySelectorAll("form.prediction").length + 1}`;
    for (const part of [input, keep]) part.setAttribute("aria-describedby", place.id);
    input.value = predicted().said[key] ?? "";
    input.autocomplete = "off";
    label.append(input);
    form.append(label, keep);
    place.after(form);
    waiting.push({ key, form, input });
    continue;
  }
  const fold = place, questions = waiting.splice(0);
  const lines = questions.map(() => made("p", "", "predicted"));
  fold.firstElementChild.after(...lines);
  tells.push(() => questions.forEach(({ key }, i) => {
    const said = predicted().said[key];
    lines[i].textContent = said ? `You predicted: ${said}` : "";
  }));
  const open = () => { fold.open = questions.every(({ input }) => input.value.trim()); };
  for (const { key, form, input } of questions)
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const { of, said } = predicted();
      delete said[key];
      kept.set("predictions", here, { of, said: input.value.trim() ? { ...said, [key]: input.value.trim() } : said });
      tell();
      open();
      const next = questions.find((other) => !other.input.value.trim());
      if (next) return next.input.focus();
      fold.firstElementChild.focus({ preventScroll: true });              // from where what came out is read on
      fold.scrollIntoView({ block: "nearest" });
    });
  open();
}

// All that came out, for who reads without predicting, until the page is left.
const folds = [...document.querySelectorAll("details.result")];
if (folds.length) {
  const all = made("button", "Unfold what came out", "fold-code");
  all.addEventListener("click", () => {
    const unfold = all.textContent.startsWith("Unfold");
    for (const fold of folds) fold.open = unfold;
    all.textContent = unfold ? "Fold what came out" : "Unfold what came out";
  });
  document.querySelector(".bd-article h1").after(all);
  document.querySelector(".bd-article > section, .bd-article").append(ends);
}
tell();

// Beside a link to a lecture in a table: what was done there. Where a page has a place for it: all of it, and a way to
// forget it.
function done(number) {
  const { of, said } = kept.get("predictions", number) ?? { said: {} }, tries = kept.get("quizzes", number) ?? {};
  const right = Object.values(tries).filter(Boolean).length, many = Object.keys(said).length;
  return [many ? `predicted ${many} of ${of}` : "", Object.keys(tries).length ? `quiz ${right} of 5` : ""].filter(Boolean);
}
const told = [];
for (const link of document.querySelectorAll(".bd-article td a[href*='lectures/']")) {
  const [, number] = link.pathname.match(/\/lectures\/(\d\d[a-z]?)_\w*\.html$/) ?? [], words = number ? done(number) : [];
  if (words.length) {
    told.push(made("span", ` (${words.join(", ")})`, "done"));
    link.after(told.at(-1));
  }
}
const place = document.querySelector(".bd-article .kept"), { predictions = {}, quizzes = {} } = kept.all();
const many = Object.values(predictions).reduce((sum, { said }) => sum + Object.keys(said).length, 0);
const taken = Object.values(quizzes).filter((tries) => tries && Object.keys(tries).length).length;
if (place && many + taken) {
  const forget = made("button", "Forget them", "fold-code");
  const words = made("p", `Of yours this browser keeps: predictions ${many}, quizzes ${taken}.`);
  words.setAttribute("role", "status");
  forget.addEventListener("click", () => {
    if (!confirm("Forget all predictions and quizzes that this browser keeps?")) return;
    kept.forget();
    for (const part of [...told, forget]) part.remove();
    words.textContent = "Of yours this browser keeps nothing.";
  });
  place.append(words, forget);
}
}
