// Gets in by the link once a person sees this tab, counts down, and shows what changed. The page works without it.
"use strict";
(() => {
  const KEY = "handoff-tab";
  const CONTROLS = "button, summary, textarea";
  const lost = document.getElementById("lost");
  const view = document.getElementById("view");
  const clock = new Clock();
  let tab = "";
  let named = null;
  let timer = 0;
  let viewing = null;

  const page = () => document.getElementById("page");
  const base = () => page().dataset.base;
  const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

  // --- this tab ---

  function random() {
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  // A reload keeps the id of its tab; a tab that was duplicated begins with a copy of it, and needs one of its own.
  async function nameTab() {
    let mine = random();
    try {
      const known = sessionStorage.getItem(KEY);
      if (known && (await claim(known))) mine = known;
      else void claim(mine);
      sessionStorage.setItem(KEY, mine);
    } catch {
      // Without storage each load is a tab of its own.
    }
    tab = mine;
  }

  // True where no other tab has the id, which is this tab's for as long as it is open.
  function claim(id) {
    return navigator.locks ? lock(`${KEY} ${id}`) : ask(`${KEY} ${id}`, id);
  }

  function lock(name) {
    return new Promise((done) => {
      const held = () => {
        done(true);
        return new Promise(() => {});
      };
      // A reload waits for the moment in which what it replaces is gone; a duplicate waits in vain.
      navigator.locks.request(name, { signal: AbortSignal.timeout(1500) }, held).catch(() => done(false));
    });
  }

  // Browsers have no locks for pages that come without https.
  async function ask(name, id) {
    const channel = new BroadcastChannel(name);
    let free = true;
    channel.onmessage = ({ data }) => {
      if (data === "asks" && tab === id) channel.postMessage("has");
      if (data === "has" && !tab) free = false;
    };
    channel.postMessage("asks");
    await pause(0.5);
    return free;
  }

  // Whoever looks at a preview, or opens a tab in the background, has not come yet.
  function seen() {
    return new Promise((done) => {
      const look = () => {
        if (document.prerendering || document.visibilityState !== "visible") return;
        document.removeEventListener("visibilitychange", look);
        document.removeEventListener("prerenderingchange", look);
        done();
      };
      document.addEventListener("visibilitychange", look);
      document.addEventListener("prerenderingchange", look);
      look();
    });
  }

  // --- getting in ---

  async function step(name) {
    const answer = await fetch(`${base()}/enter`, {
      method: "POST",
      headers: { accept: "application/json" },
      body: new URLSearchParams({ step: name, tab, entry: page().dataset.entry || "" }),
    });
    if (answer.status >= 500) throw new Error(String(answer.status)); // a step may be taken again
    return answer.json();
  }

  async function enter() {
    let next = page().dataset.step;
    for (let rounds = 0; next && rounds < 40; rounds += 1) {
      const told = await step(next);
      if (told.next === "done") {
        openView(); // it connects while the page is fetched
        return show();
      }
      if (told.next === "finalize") {
        next = "finalize";
        continue;
      }
      replace(told.page);
      if (told.again_in_seconds === undefined) return undefined;
      next = "attach";
      await pause(Math.min(Math.max(told.again_in_seconds, 0.5), 5));
      await seen();
    }
    return undefined;
  }

  // --- showing ---

  function begin() {
    for (const field of page().querySelectorAll("input[name=tab]")) field.value = tab;
    mountView();
    clock.begin();
  }

  function replace(html) {
    const next = new DOMParser().parseFromString(html, "text/html");
    const main = next.querySelector("main");
    const focused = document.activeElement;
    const had = page().contains(focused);
    const selected = [focused.selectionStart, focused.selectionEnd];
    main.id = "page";
    main.dataset.base = base();
    main.dataset.phase ||= "door";
    keepTyped(main);
    moveView(document.body, page().nextSibling);
    page().replaceWith(document.adoptNode(main));
    document.title = next.title;
    // Only where the focus was in what is gone now, or was taken along.
    if (had) ([...main.querySelectorAll(CONTROLS)].find((each) => each.isEqualNode(focused)) ?? main.querySelector("h1")).focus();
    if (main.contains(focused)) focused.setSelectionRange?.(...selected);
    begin();
  }

  // What a person is writing goes on, whatever else the next page says.
  function keepTyped(main) {
    for (const id of ["note", "own"]) {
      const old = document.getElementById(id);
      const same = main.querySelector(`#${id}`);
      if (!old || !same) continue;
      same.closest("details").open = old.closest("details").open;
      same.replaceWith(old);
    }
  }

  async function show() {
    // The address says what became of the answer that led here.
    const answer = await fetch(base() + location.search, { cache: "no-store", headers: { "x-tab": tab } });
    if (answer.status >= 500) throw new Error(String(answer.status));
    replace(await answer.text());
  }

  // The live view stays while the page around it changes; it hides itself where there is nothing to see.
  function moveView(parent, before) {
    if (parent.moveBefore && view.isConnected) parent.moveBefore(view, before);
    else parent.insertBefore(view, before);
  }

  function openView() {
    if (viewing || !view.dataset.module) return;
    view.hidden = false;
    viewing = import(view.dataset.module)
      .then((module) => module.mountView(view, { base: base(), tab, words: JSON.parse(view.dataset.words) }))
      .catch(() => {
        view.hidden = true;
      });
  }

  async function mountView() {
    const place = document.getElementById("view-place");
    if (place && place.nextSibling !== view) moveView(place.parentNode, place.nextSibling);
    if (place) openView();
    if (!place && viewing) {
      const mounted = await viewing;
      viewing = null;
      mounted?.end?.();
      view.hidden = true;
    }
  }

  // A click on "Show me the window" leaves the page, its note and its view as they are.
  async function submitted(event) {
    if (event.target.id === "own") {
      event.preventDefault();
      return sendOwn(event.target);
    }
    if (event.target.id !== "show") return undefined;
    event.preventDefault();
    const told = event.target.querySelector("[role=status]");
    try {
      const answer = await fetch(event.target.action, {
        method: "POST",
        headers: { accept: "application/json" },
        body: new URLSearchParams({ tab }),
      });
      if (!answer.ok) return show();
      told.textContent = (await answer.json()).text;
    } catch {
      lost.hidden = false;
    }
    return undefined;
  }

  // --- a request of the person's own ---

  // Each change counts up at once, before anything is asked: a sending that is under way names an older text then.
  let generation = 0;
  let sending = false;
  let writing = Promise.resolve();

  function write(form, fields) {
    const body = new URLSearchParams({ tab, request: form.request.value, ...fields });
    const call = async () => {
      const answer = await fetch(form.action, { method: "POST", headers: { accept: "application/json" }, body });
      if (answer.status >= 500) throw new Error(String(answer.status));
      return answer.headers.get("content-type").includes("json") ? answer.json() : { state: "refused" };
    };
    writing = writing.catch(() => undefined).then(call);
    return writing;
  }

  function changed({ target }) {
    if (target.id !== "own-text" || !sending) return;
    const form = target.form;
    sending = false;
    generation += 1;
    form.querySelector("[role=status]").textContent = form.dataset.changed;
    if (target.value.trim()) write(form, { step: "save", generation, text: target.value }).catch(() => undefined);
    else write(form, { step: "withdraw" }).catch(() => undefined);
  }

  async function sendOwn(form) {
    const told = form.querySelector("[role=status]");
    const mine = (generation += 1);
    sending = true;
    told.textContent = form.dataset.sending;
    try {
      const saved = await write(form, { step: "save", generation: mine, text: form.text.value });
      const sent = saved.state === "draft" && mine === generation ? await write(form, { step: "send", generation: mine }) : saved;
      if (mine !== generation) return;
      told.textContent = sent.state === "published" ? form.dataset.sent : sent.text || form.dataset.changed;
      if (sent.state === "published") {
        form.text.value = "";
        form.request.value = `q_${random()}`;
        generation = 0;
      }
    } catch {
      told.textContent = "";
      lost.hidden = false;
    }
    sending = false;
  }

  async function poll() {
    clearTimeout(timer);
    const { phase, final, version } = page().dataset;
    if (final === "yes" || phase === "door") return;
    try {
      const answer = await fetch(`${base()}/state`, { cache: "no-store", headers: { "x-tab": tab } });
      if (answer.status >= 500) throw new Error(String(answer.status));
      const state = answer.ok ? await answer.json() : null;
      lost.hidden = true;
      if (state === null || state.version !== version) await show();
      else if (document.getElementById("time")) clock.setLeft(state.seconds_left);
    } catch {
      lost.hidden = false;
    }
    clearTimeout(timer); // of another look, which began when the tab was shown again
    timer = setTimeout(poll, document.hidden ? 15000 : 1500);
  }

  async function main() {
    await seen();
    // What the view is made of comes while the link is being entered.
    if (view.dataset.module) import(view.dataset.module).then((module) => module.prepare()).catch(() => undefined);
    // Once: what is tried again after an outage comes from the same tab.
    await (named ||= nameTab());
    begin();
    try {
      if (page().dataset.step) await enter();
      else if (page().dataset.phase !== "door") await show();
    } catch {
      lost.hidden = false;
      await pause(3);
      return main();
    }
    lost.hidden = true;
    timer = setTimeout(poll, 1500);
    return undefined;
  }

  // A form of this page sends the answer; the next page is a plain one, and begins as this one did.
  document.addEventListener("submit", submitted);
  document.addEventListener("input", changed);
  document.addEventListener("visibilitychange", () => document.hidden || (tab && poll()));
  main();
})();
