// What a person does in the live view: keys, texts, touches. Everything goes by `out`, in the order in which it was done.
//
//   out.key(keysym, down)        a key of the keyboard
//   out.text(text)               a text, exactly; the desktop pastes what its keyboard lacks
//   out.pointer(mask, x, y)      the pointer at a place of the picture, with these buttons down
//   out.may()                    whether the person has control now

const NAMED = {
  Backspace: 0xff08, Tab: 0xff09, Enter: 0xff0d, Escape: 0xff1b, Delete: 0xffff, Insert: 0xff63, ContextMenu: 0xff67,
  Home: 0xff50, ArrowLeft: 0xff51, ArrowUp: 0xff52, ArrowRight: 0xff53, ArrowDown: 0xff54, PageUp: 0xff55,
  PageDown: 0xff56, End: 0xff57,
};
for (let number = 1; number <= 12; number += 1) NAMED[`F${number}`] = 0xffbd + number;

const SHIFT = 0xffe1;
const CONTROL = 0xffe3;
const ALT = 0xffe9;
const BACKSPACE = 0xff08;
const LEFT = 1;
const RIGHT = 4;
const WHEEL_UP = 8;
const WHEEL_DOWN = 16;

// Something to delete, for on-screen keyboards that tell no keys but only what becomes of a text.
const FILLING = "_".repeat(64);
const LONGEST = 512;
const CHUNK = 2000;

export function inChunks(text) {
  const characters = Array.from(text);
  const chunks = [];
  for (let at = 0; at < characters.length; at += CHUNK) chunks.push(characters.slice(at, at + CHUNK).join(""));
  return chunks;
}

// A field that nobody sees takes the keys: so that every layout, dead key, input method and on-screen keyboard works.
export function attachKeyboard(field, out, leave) {
  const diffs = matchMedia("(pointer: coarse)").matches;
  const filling = diffs ? FILLING : "";
  let known = filling;

  function reset() {
    field.value = known = filling;
    field.setSelectionRange(filling.length, filling.length);
  }

  function stroke(event, keysym) {
    const held = [];
    if (event.ctrlKey || event.metaKey) held.push(CONTROL);
    if (event.altKey) held.push(ALT);
    if (event.shiftKey) held.push(SHIFT);
    for (const each of held) out.key(each, true);
    out.key(keysym, true);
    out.key(keysym, false);
    for (const each of held.reverse()) out.key(each, false);
  }

  field.addEventListener("keydown", (event) => {
    if (!out.may() || event.isComposing || event.keyCode === 229) return;
    const graph = event.getModifierState("AltGraph");
    const combined = (event.ctrlKey || event.metaKey || event.altKey) && !graph;
    const letter = /^Key([A-Z])$/.exec(event.code)?.[1].toLowerCase();
    if (event.ctrlKey && event.altKey && !graph && letter === "o") {
      event.preventDefault();
      leave();
      return;
    }
    // The browser's own paste: see below.
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "v") return;
    let keysym = NAMED[event.key];
    if (keysym === undefined && combined && event.key.length === 1) {
      const key = event.key.toLowerCase();
      keysym = key >= " " && key <= "~" ? key.charCodeAt(0) : letter?.charCodeAt(0);
    }
    if (keysym === undefined) return;
    event.preventDefault();
    stroke(event, keysym);
  });

  field.addEventListener("input", (event) => {
    if (!out.may()) return reset();
    if (!diffs && event.isComposing) return undefined;
    const text = field.value;
    let same = 0;
    while (same < known.length && same < text.length && known[same] === text[same]) same += 1;
    for (let left = known.length - same; left > 0; left -= 1) {
      out.key(BACKSPACE, true);
      out.key(BACKSPACE, false);
    }
    if (text.length > same) out.text(text.slice(same));
    known = text;
    if (!diffs || text.length > LONGEST || text.length < filling.length / 2) reset();
    return undefined;
  });
  field.addEventListener("compositionend", () => {
    if (diffs) return;
    const text = field.value;
    reset();
    if (text && out.may()) out.text(text);
  });
  field.addEventListener("paste", (event) => {
    event.preventDefault();
    if (out.may()) out.text(event.clipboardData.getData("text/plain"));
  });
  field.addEventListener("focus", reset);
  reset();
}

// With Shift or Control held, the click is one with that key.
export function attachModifiers(stage, out) {
  let held = [];
  stage.addEventListener("mousedown", (event) => {
    if (!out.may() || held.length) return;
    held = [event.ctrlKey || event.metaKey ? CONTROL : 0, event.shiftKey ? SHIFT : 0].filter(Boolean);
    for (const each of held) out.key(each, true);
  }, true);
  window.addEventListener("mouseup", () => {
    for (const each of held) out.key(each, false);
    held = [];
  });
}

// One finger clicks, scrolls and, after a moment, drags or clicks with the right button; two zoom.
export function attachTouch(stage, zoom, out, place) {
  let touch = null;
  let pinch = null;

  const middle = (a, b) => ({ x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2 });
  const distance = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  const at = (point, mask) => out.may() && out.pointer(mask, ...place(point.x, point.y));

  function stop() {
    if (!touch) return;
    clearTimeout(touch.timer);
    if (touch.what === "drag") at(touch.last, 0);
    touch = null;
  }

  function begin(finger) {
    const point = { x: finger.clientX, y: finger.clientY };
    touch = { start: point, last: point, what: "tap", rest: 0, timer: 0 };
    touch.timer = setTimeout(() => {
      if (touch?.what === "tap") touch.what = "long";
    }, 500);
  }

  function moved(finger) {
    const point = { x: finger.clientX, y: finger.clientY };
    const far = Math.hypot(point.x - touch.start.x, point.y - touch.start.y) > 10;
    if (touch.what === "long" && far) {
      touch.what = "drag";
      at(touch.start, LEFT);
    }
    if (touch.what === "tap" && far) touch.what = "slide";
    if (touch.what === "drag") at(point, LEFT);
    if (touch.what === "slide") slid(point);
    touch.last = point;
  }

  function slid(point) {
    if (zoom.factor() > 1) {
      zoom.pan(touch.last.x - point.x, touch.last.y - point.y);
      return;
    }
    touch.rest += touch.last.y - point.y;
    while (Math.abs(touch.rest) >= 30) {
      const wheel = touch.rest > 0 ? WHEEL_DOWN : WHEEL_UP;
      at(touch.start, wheel);
      at(touch.start, 0);
      touch.rest -= Math.sign(touch.rest) * 30;
    }
  }

  function ended() {
    const { what, start } = touch;
    if (what === "tap" || what === "long") {
      for (const mask of [0, what === "tap" ? LEFT : RIGHT, 0]) at(start, mask);
    }
    stop();
  }

  stage.addEventListener("touchstart", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const [one, two] = event.touches;
    if (two) {
      stop();
      pinch = { distance: distance(one, two), factor: zoom.factor(), last: middle(one, two) };
    } else if (!pinch) begin(one);
  }, { capture: true, passive: false });
  stage.addEventListener("touchmove", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const [one, two] = event.touches;
    if (pinch && two) {
      const now = middle(one, two);
      zoom.set((pinch.factor * distance(one, two)) / pinch.distance, now.x, now.y);
      zoom.pan(pinch.last.x - now.x, pinch.last.y - now.y);
      pinch.last = now;
    } else if (touch && one) moved(one);
  }, { capture: true, passive: false });
  for (const kind of ["touchend", "touchcancel"]) {
    stage.addEventListener(kind, (event) => {
      event.preventDefault();
      event.stopPropagation();
      if (event.touches.length) return;
      pinch = null;
      if (touch && kind === "touchend") ended();
      else stop();
    }, { capture: true, passive: false });
  }
}
