// The time that is left, counted down where the page shows it. A page loads this before its own script.
"use strict";
class Clock {
  #ends = Infinity;
  #said = false;

  constructor() {
    setInterval(() => this.count(), 1000);
  }

  // Takes the time that the page was made with, where it shows one.
  begin() {
    const time = document.getElementById("time");
    if (!time) return;
    this.setLeft(Number(time.dataset.left));
    const until = document.getElementById("until");
    until.textContent = new Date(until.dateTime).toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });
    this.count();
  }

  setLeft(seconds) {
    // Never longer: a late answer of the server may not give time back.
    this.#ends = Math.min(this.#ends, performance.now() + seconds * 1000);
  }

  count() {
    const clock = document.getElementById("clock");
    if (!clock || this.#ends === Infinity) return;
    const say = document.getElementById("say");
    const left = Math.max(0, Math.round((this.#ends - performance.now()) / 1000));
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} ${say.dataset.left}`;
    document.getElementById("gauge").value = left;
    document.getElementById("time").classList.toggle("short", left <= 60);
    if (left <= 60 && !this.#said) {
      this.#said = true;
      say.textContent = say.dataset.short;
    }
  }
}
