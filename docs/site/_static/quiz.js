// A quiz that answers in the book: it takes the place of the list of its answers, which stays for who has no scripts,
// and is what is printed. Beside that list stand the questions (tools/book_quiz.py). To a reply it says, word for word,
// what coursegrade/selfcheck/answers.py says.
window.quiz = (() => {
  const wrong = (why) => [false, `<p><strong>✗ Not right.</strong> ${why}</p>`];
  const none = (what) => [null, `<p>${what}</p>`];                       // no reply yet: it does not count

  // Numbers, as Python reads them: its white space, digits of any script (ten in a row each), 1_000, inf.
  const strip = (text) => text.replace(/^((?!\ufeff)[\s\x1c-\x1f\x85])+|((?!\ufeff)[\s\x1c-\x1f\x85])+$/g, "");
  const digit = (letter) => {
    const code = letter.codePointAt(0);
    let zero = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
    return (code - zero) % 10;
  };
  const float = (text) => {
    const typed = strip(text).replace(/\p{Nd}/gu, digit).replace(/(?<=\d)_(?=\d)/g, "");
    if (/^[+-]?inf(inity)?$/i.test(typed)) return Infinity;
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(typed) ? Number(typed) : NaN;
  };
  const asNumber = (text, unit) => {
    let typed = strip(text.replaceAll("−", "-"));
    if (unit && typed.endsWith(unit)) typed = strip(typed.slice(0, -unit.length));
    const of = typed.endsWith("%") ? 100 : 1;
    typed = typed.replace(/[% ]+$/, "").replaceAll(" ", "");
    const thousands = /^-?[1-9]\p{Nd}{0,2}(,\p{Nd}{3})+(\.\p{Nd}+)?$/u.test(typed);
    const [above, ...below] = typed.replaceAll(",", thousands ? "" : ".").split("/");
    return float(above) / float(below.join("/") || "1") / of;
  };

  // What is said to a reply: [is it right? (null: it is none), HTML]. A question lists [reply, right?, HTML], the right
  // one first but for choices, where a reply is a place; an order is one of the places of its texts.
  const judges = {
    number({ answers, within, unit }, typed) {
      const number = asNumber(typed, unit), near = within * (1 + 1e-9) + 1e-12;
      if (!Number.isFinite(number)) return none("Type a number, such as 0.75, 3/4 or 75 %.");
      const listed = answers.find(([reply]) => Math.abs(number - reply) <= near);
      return listed?.slice(1) ?? wrong(`This is too ${number < answers[0][0] ? "small" : "large"}.`);
    },
    choices: ({ answers }, place) => answers[place]?.slice(1) ?? none("Choose one of the answers."),
    order({ answers, texts }, order) {
      const listed = answers.find(([reply]) => reply.every((text, i) => text === order[i]));
      if (listed) return listed.slice(1);
      const first = answers[0][0].findIndex((text, i) => text !== order[i]);
      const before = first ? `Right until place ${first}. ` : "";
      return wrong(`${before}In place ${first + 1} should stand something else than: ${texts[order[first]]}`);
    },
  };
  const answer = (question, reply) => judges[question.kind](question, reply);

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  let drawn = Promise.resolve();                                         // formulas, one text after the other
  const draw = (element) => {
    drawn = drawn.then(() => window.MathJax?.startup?.promise).then(() => window.MathJax?.typesetPromise?.([element]));
  };

  // What a reader sets, by kind: [what is shown, a function that gives the reply].
  const fields = {
    number({ unit }) {
      const input = make("input", { type: "text", autocomplete: "off", enterKeyHint: "done" });
      return [[make("label", {}, "Your number: ", input, ` ${unit}`)], () => input.value];
    },
    choices({ texts }) {
      const radios = texts.map(() => make("input", { type: "radio", name: "choice" }));
      const shown = texts.map((innerHTML, i) => make("label", {}, radios[i], make("span", { innerHTML })));
      return [shown, () => radios.findIndex(({ checked }) => checked)];
    },
    order({ texts, plain }, form) {
      const list = make("ol"), place = make("span", { className: "visually-hidden", role: "status" });
      const items = texts.map((innerHTML, i) => {
        const up = make("button", { type: "button", textContent: "↑", ariaLabel: `Move up: ${plain[i]}` });
        const down = make("button", { type: "button", textContent: "↓", ariaLabel: `Move down: ${plain[i]}` });
        const item = make("li", {}, up, down, make("span", { innerHTML }));
        const moved = (button, other) => {
          ends();
          (button.disabled ? other : button).focus();
          place.textContent = `Now in place ${[...list.children].indexOf(item) + 1} of ${texts.length}.`;
          form.dispatchEvent(new Event("input"));
        };
        up.addEventListener("click", () => {                             // its neighbour is what is moved: the text and
          item.after(item.previousElementSibling);                       // its buttons stay, and so does the focus
          moved(up, down);
        });
        down.addEventListener("click", () => {
          item.before(item.nextElementSibling);
          moved(down, up);
        });
        return item;
      });
      const ends = () => list.querySelectorAll("button").forEach((button, i, { length }) => {
        button.disabled = i === 0 || i === length - 1;
      });
      const start = () => {
        list.replaceChildren(...items);
        ends();
      };
      form.addEventListener("reset", start);
      start();
      return [[list, place], () => [...list.children].map((item) => items.indexOf(item))];
    },
  };

  for (const data of document.querySelectorAll("script.quiz")) {
    const { number } = data.dataset, questions = JSON.parse(data.textContent);
    const tries = () => questions.map((_, place) => kept.get("quizzes", number)?.[place]);
    const counted = make("p", { role: "status" });
    const again = make("button", { type: "button", textContent: "Begin again" });
    const asked = questions.map((question, place) => {
      const form = make("form", { noValidate: true });
      const [shown, reply] = fields[question.kind](question, form);
      const show = make("button", { type: "button", textContent: "Show the answer" });
      const first = make("small"), said = make("div", { role: "alert" });
      const say = (html, kind) => {
        window.MathJax?.typesetClear?.([said]);
        said.className = kind;
        said.innerHTML = html;
        if (html) draw(said);
      };
      const begin = () => {
        say("", "");
        show.hidden = tries()[place] !== false;
      };
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        const [right, html] = answer(question, reply());
        say(html, { true: "right", false: "wrong" }[right] ?? "");
        if (right === null) return;
        if (tries()[place] === undefined)
          kept.set("quizzes", number, { ...kept.get("quizzes", number), [place]: right });
        show.hidden = right;
        count();
      });
      show.addEventListener("click", () => say(question.solution, "right"));
      form.addEventListener("input", () => say("", ""));                 // what was said, was said of another reply
      form.addEventListener("reset", begin);
      begin();
      form.append(make("fieldset", {}, make("legend", { innerHTML: question.ask }), ...shown),
        make("p", {}, make("button", { textContent: "Answer" }), show, first), said);
      return { form, first };
    });
    const count = () => {
      const found = tries(), known = found.filter((right) => right !== undefined), many = questions.length;
      counted.textContent = known.length < many ? `${known.length} of ${many} answered.`
        : `${known.filter((right) => right).length} of ${many} at the first try.`;
      again.hidden = !known.length;
      asked.forEach(({ first }, place) => {
        const sign = { true: "✓", false: "✗ not" }[found[place]];
        first.textContent = sign ? `${sign} right at the first try` : "";
      });
    };
    again.addEventListener("click", () => {
      kept.set("quizzes", number, undefined);
      for (const { form } of asked) form.reset();
      count();
      asked[0].form.querySelector("input, button:enabled").focus();
    });
    const live = make("div", { className: "questions tex2jax_process mathjax_process" },
      ...asked.map(({ form }) => form), make("div", { className: "counted" }, counted, again));
    data.after(live);
    count();
    draw(live);
  }
  return { answer, asNumber };
})();
