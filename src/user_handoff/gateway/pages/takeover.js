// The page of somebody who took a browser over: its live view, the time that is left, and whether they still have it.
"use strict";
(() => {
  const view = document.getElementById("view");
  const lost = document.getElementById("lost");
  const clock = new Clock();
  const { base, module, words } = view.dataset;

  async function look() {
    try {
      const answer = await fetch(`${base}/state`, { headers: { accept: "application/json" } });
      if (answer.status === 401) return location.reload();
      lost.hidden = answer.ok;
      if (answer.ok) {
        const { state, seconds_left } = await answer.json();
        if (state !== "held") return location.reload();
        clock.setLeft(seconds_left);
      }
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
  clock.begin();
  look();
})();
