// The page of somebody who took a browser over: its live view, the time that is left, and whether they still have it.
"use strict";
(() => {
  const view = document.getElementById("view");
  const lost = document.getElementById("lost");
  const time = document.getElementById("time");
  const say = document.getElementById("say");
  const { base, module, words } = view.dataset;
  let ends = Infinity;

  function setLeft(seconds) {
    // Never longer: a late answer of the server may not give time back.
    ends = Math.min(ends, performance.now() + seconds * 1000);
  }

  function count() {
    const left = Math.max(0, Math.round((ends - performance.now()) / 1000));
    const shown = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} ${say.dataset.left}`;
    document.getElementById("clock").textContent = shown;
    document.getElementById("gauge").value = left;
    time.classList.toggle("short", left <= 60);
    if (left <= 60 && !say.textContent) say.textContent = say.dataset.short;
  }

  async function look() {
    try {
      const answer = await fetch(`${base}/state`, { headers: { accept: "application/json" } });
      if (answer.status === 401) return location.reload();
      lost.hidden = answer.ok;
      if (answer.ok) {
        const { state, seconds_left } = await answer.json();
        if (state !== "held") return location.reload();
        setLeft(seconds_left);
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
  const until = document.getElementById("until");
  until.textContent = new Date(until.dateTime).toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });
  setLeft(Number(time.dataset.left));
  count();
  setInterval(count, 1000);
  look();
})();
