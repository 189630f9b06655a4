// The page of somebody who took a browser over: its live view, and a look now and then whether they still have it.
"use strict";
(() => {
  const view = document.getElementById("view");
  const lost = document.getElementById("lost");
  const { base, module, words } = view.dataset;

  async function look() {
    try {
      const answer = await fetch(`${base}/state`, { headers: { accept: "application/json" } });
      if (answer.status === 401) return location.reload();
      lost.hidden = answer.ok;
      if (answer.ok && (await answer.json()).state !== "held") return location.reload();
    } catch {
      lost.hidden = false;
    }
    return setTimeout(look, 1500);
  }

  import(module)
    .then(({ mountView }) => mountView(view, { base: new URL(base, location.href).href, words: JSON.parse(words) }))
    .catch(() => {
      view.hidden = true;
    });
  look();
})();
