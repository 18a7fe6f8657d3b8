// Formulas as SVG, for `tools/slides.py`: node formulas.js FOLDER_OF_MATHJAX < [[tex, display], …]
// prints {css, svg: […]}; a formula that MathJax cannot read becomes {"error": …}.
const wanted = JSON.parse(require("fs").readFileSync(0, "utf8"));
require(process.argv[2] + "/es5/node-main.js").init({
  loader: { load: ["input/tex", "[tex]/ams", "[tex]/boldsymbol", "output/svg", "a11y/assistive-mml"] },
  tex: { packages: ["base", "ams", "newcommand", "boldsymbol"], formatError: (jax, error) => { throw error; } },
}).then(MathJax => {
  const text = MathJax.startup.adaptor;
  const svg = wanted.map(([tex, display]) => {
    try { return text.outerHTML(MathJax.tex2svg(tex, { display })); } catch (error) { return { error: error.message }; }
  });
  process.stdout.write(JSON.stringify({ css: text.textContent(MathJax.svgStylesheet()), svg }));
});
