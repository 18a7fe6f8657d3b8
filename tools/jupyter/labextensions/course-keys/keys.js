// Keys pressed on a control of a notebook (ipywidgets) are the control's. Without this, JupyterLab takes them as
// commands to the notebook: `d d` on a slider deletes its cell, and an arrow on a dropdown goes to the next cell.
// Keys with Ctrl, Alt or Cmd (Ctrl S) stay JupyterLab's, and so does Shift Enter, which runs the cell.

function own(event) {
  const command = event.ctrlKey || event.altKey || event.metaKey || (event.shiftKey && event.key === "Enter");
  if (event.target.closest?.(".jupyter-widgets")) {
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !command);     // JupyterLab looks for it at each key
  }
}

const plugin = {
  id: "course-keys:plugin",
  autoStart: true,
  activate: () => window.addEventListener("keydown", own, true),              // before JupyterLab's on the document
};

// What JupyterLab asks of an extension's file, written by hand instead of by webpack.
(window._JUPYTERLAB ??= {})["course-keys"] = {init: () => {}, get: async () => () => plugin};
