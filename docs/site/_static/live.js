// The explorer in a page: what a kernel does for it elsewhere (explorer.py) is here a model that holds all layers.
import explorer from "./explorer.js";

for (const place of document.querySelectorAll(".live-explorer")) {
  const kept = JSON.parse(place.querySelector("script").textContent), { K, largest, layers } = kept;
  const listeners = new Map();
  const shown = (l) => {
    const bytes = Uint8Array.from(atob(layers[l]), (letter) => letter.charCodeAt(0));
    return { layer: l, L: layers.length, K, largest, weights: new DataView(bytes.buffer) };
  };
  const state = { ...kept, shown: shown(kept.layer) };
  const tell = (trait) => listeners.get(`change:${trait}`)?.();
  const model = {
    get: (trait) => state[trait],
    set(trait, value) {
      state[trait] = value;
      tell(trait);
      if (trait === "layer") model.set("shown", shown(value));
    },
    save_changes() {},
    on: (event, react) => listeners.set(event, react),
    off: (event) => listeners.delete(event),
  };
  const el = document.createElement("div");
  explorer.render({ model, el });
  place.querySelector(".still").replaceWith(el);
}
