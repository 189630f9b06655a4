// Keeps the list of requests as it is now, counts down, and shows a new link once. The page works without it.
"use strict";
(() => {
  const main = document.querySelector("main");
  const lost = document.getElementById("lost");
  const refused = document.getElementById("refused");
  const say = document.getElementById("say");
  const made = document.getElementById("made");
  const url = document.getElementById("url");
  const ends = new Map();

  function clocks() {
    for (const clock of document.querySelectorAll(".clock[data-left]")) {
      const key = clock.closest("li").id;
      if (!ends.has(key)) ends.set(key, performance.now() + Number(clock.dataset.left) * 1000);
      const left = Math.max(0, Math.round((ends.get(key) - performance.now()) / 1000));
      clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} ${main.dataset.left}`;
      clock.classList.toggle("soon", left <= 60);
    }
  }

  // Only what has something else to say is made anew, so that the focus and what is selected stay.
  function update(list, rows) {
    const had = new Set([...list.children].map((row) => row.id));
    rows.forEach(({ key, version, html }, place) => {
      let row = document.getElementById(key);
      if (!row || row.parentNode !== list) {
        row?.remove();
        row = Object.assign(document.createElement("li"), { id: key, className: "card" });
        if (list.id === "waiting") say.textContent = say.dataset.one;
      }
      if (row.dataset.version !== version) {
        row.innerHTML = html;
        row.dataset.version = version;
      }
      if (list.children[place] !== row) list.insertBefore(row, list.children[place] || null);
      had.delete(key);
    });
    for (const key of had) {
      const gone = document.getElementById(key);
      if (gone?.parentNode === list) gone.remove();
      ends.delete(key);
    }
    list.nextElementSibling.hidden = rows.length > 0;
  }

  function follow() {
    const events = new EventSource(main.dataset.events);
    events.addEventListener("rows", ({ data }) => {
      lost.hidden = true;
      const told = JSON.parse(data);
      for (const name of ["waiting", "recent"]) update(document.getElementById(name), told[name]);
      clocks();
    });
    events.addEventListener("signed-out", () => location.reload());
    events.addEventListener("open", () => {
      lost.hidden = true;
    });
    events.addEventListener("error", () => {
      lost.hidden = false;
      if (events.readyState === EventSource.CLOSED) setTimeout(follow, 10000);
    });
  }

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.action.endsWith("/waiting/link")) return;
    event.preventDefault();
    refused.hidden = true;
    try {
      const answer = await fetch(form.action, {
        method: "POST",
        headers: { accept: "application/json" },
        body: new URLSearchParams(new FormData(form)),
      });
      if (answer.status === 401) return location.reload();
      if (!answer.ok) throw new Error(String(answer.status));
      url.value = (await answer.json()).url;
      made.showModal();
      url.select();
    } catch {
      refused.hidden = false;
    }
    return undefined;
  });

  document.getElementById("copy").addEventListener("click", async ({ currentTarget }) => {
    url.select();
    try {
      await navigator.clipboard.writeText(url.value);
    } catch {
      document.execCommand("copy");
    }
    currentTarget.firstElementChild.textContent = currentTarget.dataset.done;
  });
  document.getElementById("close").addEventListener("click", () => made.close());
  made.addEventListener("close", () => {
    url.value = "";
  });

  clocks();
  setInterval(clocks, 1000);
  follow();
})();
