// The live view of the browser that is held for the person, and their control of it.
//
//   import { mountView } from "view.js";
//   const view = await mountView(element, { base, tab, words });
//   await view.end();
//
// `element` is filled, and emptied at the end. `base` is the person's page (`/j/{token}`), `tab` the id of this tab,
// `words` are its sentences, by the names of `gateway/texts_view.py`. `element.dataset.state` is one of connecting,
// watching, control, frozen, lost, busy, unreachable, ended, unavailable; each change is also an event "viewstate" of
// the element. Where there is nothing to see, the element is hidden.

const PING_MS = 400;
const STILL_MS = 1300;
const BEAT_MS = 5000;
const AGAIN_MS = [300, 1000, 2000, 4000];
const BUSY_MS = 5000;
const MOST_ZOOM = 5;
const OVER = ["over", "expired", "closed", "not_held", "unknown_handoff", "link_unknown", "link_taken", "link_expired", "forbidden"];
const BUSY = ["other", "desktop_held"];
const UNREACHABLE = "unreachable";

let prepared;

// Fetches what a view is made of, once, behind whatever else is asked for; null where there is none.
export function prepare() {
  prepared ??= fetchParts().catch((error) => {
    prepared = undefined;
    throw error;
  });
  return prepared;
}

async function fetchParts() {
  const told = await fetch(new URL("./novnc", import.meta.url));
  if (told.status !== 200) return null;
  const parts = await told.json();
  for (const href of [...parts.modules, parts.input]) {
    const link = document.createElement("link");
    document.head.append(Object.assign(link, { rel: "modulepreload", href, fetchPriority: "low" }));
  }
  return parts;
}

export async function mountView(element, options) {
  const view = new View(element, options);
  await view.start();
  return { end: () => view.stop() };
}

class View {
  constructor(element, { base, tab = "", words }) {
    this.element = element;
    this.words = words;
    this.address = `${base.replace(/^http/, "ws")}/view?tab=${encodeURIComponent(tab)}`;
    this.tries = 0;
    this.timers = [];
    this.over = false;
    this.controls = { who: "nobody" };
    this.note = "";
    this.numbers = 0;
    this.factor = 1;
  }

  async start() {
    const asked = prepare();
    this.build();
    this.show("connecting");
    this.connect();
    const parts = await asked;
    if (!parts) return this.hide();
    this.styles = this.add(document.head, "link", { rel: "stylesheet", href: parts.css });
    [{ default: this.RFB }, this.input] = await Promise.all([import(parts.rfb), import(parts.input)]);
    this.attach();
    this.draw();
    this.timers.push(setInterval(() => this.ping(), PING_MS), setInterval(() => this.beat(), BEAT_MS));
    document.addEventListener("visibilitychange", (this.seen = () => this.wake()));
    return undefined;
  }

  async stop() {
    this.over = true;
    this.timers.forEach(clearInterval);
    clearTimeout(this.again);
    document.removeEventListener("visibilitychange", this.seen);
    this.socket?.close();
    this.drop();
    this.element.replaceChildren();
    this.styles?.remove();
    this.element.hidden = true;
  }

  // --- what is seen ---

  add(parent, tag, attributes = {}, text = "") {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text) made.textContent = text;
    parent.append(made);
    return made;
  }

  build() {
    const { words } = this;
    const bar = this.add(this.element, "div", { class: "view-bar" });
    this.said = this.add(bar, "p", { class: "view-said", role: "status" });
    const button = (name, act) => {
      const made = this.add(bar, "button", { type: "button", class: `view-${name}`, hidden: "" }, words[name]);
      made.addEventListener("click", act);
      return made;
    };
    this.takes = button("take", () => this.take());
    this.gives = button("give", () => this.tell({ t: "control", want: false }));
    this.overrides = button("override", () => {
      this.tell({ t: "override" });
      this.keys.focus({ preventScroll: true }); // the button is about to go, and typing goes where the focus is
    });
    this.keyboard = button("keyboard", () => this.keys.focus({ preventScroll: true }));
    this.pastes = button("paste", () => this.askForText());
    this.whole = button("whole", () => this.zoom(1, 0, 0));
    this.stage = this.add(this.element, "div", { class: "view-stage", role: "group", "aria-label": words.picture });
    this.frame = this.add(this.stage, "div", { class: "view-frame" });
    this.cover = this.add(this.stage, "p", { class: "view-cover", "aria-hidden": "true" });
    const typing = { autocapitalize: "off", autocomplete: "off", autocorrect: "off", spellcheck: "false" };
    this.keys = this.add(this.stage, "textarea", { class: "view-keys", "aria-label": words.keys, rows: "1", ...typing });
    this.dialog = this.add(this.element, "dialog", { class: "view-dialog" });
    const form = this.add(this.dialog, "form", { method: "dialog" });
    const label = this.add(form, "label", {}, words.paste_label);
    this.clip = this.add(label, "textarea", { rows: "3", ...typing });
    this.add(form, "button", { value: "send", class: "main" }, words.paste_send);
    this.add(form, "button", { value: "" }, words.cancel);
    this.dialog.addEventListener("close", () => {
      if (this.dialog.returnValue === "send") this.text(this.clip.value);
      this.clip.value = this.dialog.returnValue = "";
    });
  }

  attach() {
    const out = {
      may: () => this.element.dataset.state === "control",
      key: (keysym, down) => this.rfb?.sendKey(keysym, null, down),
      text: (text) => this.text(text),
      pointer: (mask, x, y) => this.send(new Uint8Array([5, mask, x >> 8, x & 255, y >> 8, y & 255])),
    };
    this.input.attachKeyboard(this.keys, out, () => this.gives.focus());
    this.input.attachModifiers(this.stage, out);
    const zoom = {
      factor: () => this.factor,
      set: (factor, x, y) => this.zoom(factor, x, y),
      pan: (x, y) => this.stage.scrollBy(x, y),
    };
    this.input.attachTouch(this.stage, zoom, out, (x, y) => this.place(x, y));
    // Only with a mouse: on a phone every tap would open the on-screen keyboard.
    this.stage.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch" && out.may()) setTimeout(() => this.keys.focus({ preventScroll: true }));
    }, true);
  }

  place(clientX, clientY) {
    const canvas = this.frame.querySelector("canvas");
    const box = canvas.getBoundingClientRect();
    const scaled = (at, start, size, most) => Math.max(0, Math.min(most - 1, Math.round(((at - start) / size) * most)));
    return [scaled(clientX, box.left, box.width, canvas.width), scaled(clientY, box.top, box.height, canvas.height)];
  }

  zoom(factor, clientX, clientY) {
    const next = Math.max(1, Math.min(MOST_ZOOM, factor));
    const box = this.stage.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top];
    const [left, top] = [this.stage.scrollLeft + x, this.stage.scrollTop + y].map((at) => (at * next) / this.factor);
    this.factor = next;
    this.frame.style.width = this.frame.style.height = `${next * 100}%`;
    if (this.rfb) this.rfb.scaleViewport = true; // it measures its place again
    this.stage.scrollTo(left - x, top - y);
    this.whole.hidden = next === 1;
  }

  show(state, words) {
    const before = this.element.dataset.state;
    this.element.dataset.state = state;
    const said = words ?? this.words[state];
    const { who, lease, mode } = this.controls;
    const shown = [state, said, who, lease, mode, Boolean(this.rfb)].join();
    if (shown === this.shown) return; // a picture that moves is drawn again for every change around it
    this.shown = shown;
    if (this.said.textContent !== said) this.said.textContent = this.cover.textContent = said;
    const control = state === "control";
    const looks = state === "watching" && mode !== "watch";
    this.takes.hidden = !looks || (who === "other" && !lease);
    this.takes.textContent = who === "other" ? this.words.take_over : this.words.take;
    this.gives.hidden = this.pastes.hidden = !control;
    this.overrides.hidden = !control || !this.locked();
    this.keyboard.hidden = !control || !matchMedia("(pointer: coarse)").matches;
    this.keys.disabled = !control;
    if (this.rfb) this.rfb.viewOnly = !control;
    if (!control && this.dialog.open) this.dialog.close();
    if (before !== state) {
      this.element.dispatchEvent(new CustomEvent("viewstate", { detail: state }));
      if (control) this.keys.focus({ preventScroll: true });
    }
  }

  hide() {
    this.over = true;
    this.socket.close();
    this.element.dataset.state = "unavailable";
    this.element.hidden = true;
    this.element.dispatchEvent(new CustomEvent("viewstate", { detail: "unavailable" }));
  }

  locked() {
    return performance.now() < (this.lockedUntil ?? 0);
  }

  // Says what holds, by all that is known at this moment.
  settle() {
    if (this.over || !this.open) return;
    const { who } = this.controls;
    const still = !document.hidden && (performance.now() - this.ponged > STILL_MS || this.age > STILL_MS);
    if (!this.rfb || !this.live) this.show("connecting");
    else if (still) this.show("frozen");
    else if (who === "you") this.show("control", this.locked() ? this.words.locked : this.note || undefined);
    else this.show("watching", this.note || (who === "other" ? this.words.watching_other : undefined));
  }

  // --- the connection ---

  connect() {
    const socket = (this.socket = new WebSocket(new URL(this.address, location.href.replace(/^http/, "ws"))));
    socket.binaryType = "arraybuffer";
    this.waiting = [];
    this.ending = "";
    this.open = this.live = false;
    this.controls = { who: "nobody" };
    this.age = 0;
    socket.onopen = () => {
      this.open = true;
      this.ponged = performance.now();
      this.draw();
    };
    socket.onmessage = ({ data }) => {
      this.element.hidden = false;
      if (typeof data === "string") this.onText(JSON.parse(data));
      else if (this.channel?.onmessage) this.channel.onmessage({ data });
      else this.waiting.push(data);
    };
    socket.onclose = ({ reason }) => {
      if (this.socket === socket && !this.over) this.onClose(reason || this.ending);
    };
  }

  // Lets noVNC draw, once it is loaded and the connection is open.
  draw() {
    if (!this.RFB || !this.open || this.rfb) return;
    const channel = (this.channel = {
      binaryType: "arraybuffer", protocol: "", readyState: "open",
      onopen: null, onmessage: null, onclose: null, onerror: null,
      send: (data) => this.send(data),
      close: () => {},
    });
    const rfb = (this.rfb = new this.RFB(this.frame, channel, { shared: true }));
    rfb.viewOnly = true;
    rfb.focusOnClick = false;
    rfb.scaleViewport = true;
    rfb.showDotCursor = true;
    rfb.background = "transparent";
    rfb.qualityLevel = 6;
    rfb.compressionLevel = 2;
    rfb.addEventListener("connect", () => {
      const canvas = this.frame.querySelector("canvas");
      this.stage.style.aspectRatio = `${canvas.width} / ${canvas.height}`;
      rfb.scaleViewport = true;
      this.live = true;
      // On touch screens noVNC draws the pointer on a canvas of the page.
      for (const drawn of document.querySelectorAll("body > canvas")) drawn.setAttribute("aria-hidden", "true");
      this.settle();
    });
    for (const data of this.waiting.splice(0)) channel.onmessage({ data });
  }

  drop() {
    const { rfb, channel } = this;
    this.rfb = this.channel = null;
    this.open = this.live = false;
    if (!rfb) return;
    channel.readyState = "closed";
    channel.onclose?.({ code: 1000, reason: "", wasClean: true });
    this.frame.replaceChildren();
  }

  onClose(why) {
    this.drop();
    if (this.over) return undefined;
    if (why === "view_unavailable") return this.hide();
    if (OVER.includes(why)) {
      this.over = true;
      this.timers.forEach(clearInterval);
      return this.show("ended", this.words[`ended_${why}`] ?? this.words.ended);
    }
    this.element.hidden = false;
    const seldom = BUSY.includes(why) || why === UNREACHABLE;
    this.show(why === UNREACHABLE ? why : seldom ? "busy" : "lost");
    const pause = seldom ? BUSY_MS : AGAIN_MS[Math.min(this.tries, AGAIN_MS.length - 1)];
    this.tries += 1;
    this.again = setTimeout(() => this.connect(), pause);
    return undefined;
  }

  onText(said) {
    if (said.t === "pong") {
      this.ponged = performance.now();
      this.age = said.age;
      this.tries = 0;
    } else if (said.t === "control") {
      const mine = this.controls.who === "you";
      this.controls = said;
      this.note = mine && said.who !== "you" ? (this.words[`lost_${said.why}`] ?? "") : "";
    } else if (said.t === "locked") {
      this.lockedUntil = said.seconds ? performance.now() + 1000 * said.seconds : 0;
    } else if (said.t === "end") {
      this.ending = said.why;
    } else if (said.t === "unsure") {
      this.note = this.words.unsure;
    } else if (said.t === "typed" && !said.ok && this.controls.who === "you") {
      this.note = this.words.not_typed;
    }
    this.settle();
  }

  send(data) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(data);
  }

  tell(message) {
    this.send(JSON.stringify(message));
  }

  ping() {
    if (!this.open) return;
    this.tell({ t: "ping", n: (this.numbers += 1) });
    this.settle();
  }

  // A page that nobody sees gives no sign of life, and loses control after a while.
  beat() {
    if (this.open && !document.hidden) this.tell({ t: "beat" });
  }

  wake() {
    if (document.hidden) return;
    this.ponged = performance.now();
    this.age = 0;
    this.beat();
    this.ping();
  }

  // --- acts ---

  take() {
    const { who, lease } = this.controls;
    this.note = "";
    this.ping(); // from the first moment of control the desktop knows that this page is heard, and when it is not
    this.tell({ t: "control", want: true, ...(who === "other" ? { instead_of: lease } : {}) });
  }

  text(text) {
    if (this.element.dataset.state !== "control") return;
    for (const part of this.input.inChunks(text)) this.tell({ t: "text", n: (this.numbers += 1), text: part });
  }

  askForText() {
    this.dialog.showModal();
    this.clip.focus();
  }
}
