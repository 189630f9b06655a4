// What the stop list has to know of elements. It looks, and changes nothing.
// `ask`: "element", "frames" (those that a click on an element may go to), "fields" or "controls".
(root, ask) => {
  const MOST = 3000;
  const NAME = 200;
  const SELECT = "button,a[href],area[href],input,select,textarea,summary,label,[role],[onclick],[contenteditable]";
  const CHOSEN = ["option", "menuitemradio", "menuitemcheckbox", "treeitem", "tab"];
  const IMPLICIT = { BUTTON: "button", A: "link", AREA: "link", SELECT: "combobox", TEXTAREA: "textbox", SUMMARY: "button" };
  const INPUTS = {
    submit: "button", button: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
    search: "searchbox", number: "spinbutton", range: "slider", color: "button", file: "button",
  };
  const fold = (text) => (text || "").slice(0, 2000).replace(/\s+/g, " ").trim().slice(0, NAME);
  const parentOf = (e) => e.assignedSlot || e.parentElement || (e.getRootNode() instanceof ShadowRoot ? e.getRootNode().host : null);
  const isField = (e) => e.isContentEditable || e.tagName === "TEXTAREA" || e.tagName === "SELECT" ||
    (e.tagName === "INPUT" && !["submit", "button", "reset", "image", "checkbox", "radio", "file", "color"].includes(e.type));
  const isSeen = (e) => {
    if (e.checkVisibility && !e.checkVisibility({ visibilityProperty: true })) return false;
    const box = e.getBoundingClientRect();
    return box.width > 2 && box.height > 2;
  };
  const roleOf = (e) => {
    const said = (e.getAttribute("role") || "").trim().split(/\s+/)[0].toLowerCase();
    if (said && said !== "presentation" && said !== "none") return said;
    if (e.tagName === "INPUT") return INPUTS[e.type] || "textbox";
    if (e.isContentEditable) return "textbox";
    return (e.tagName === "A" && !e.hasAttribute("href")) ? "" : IMPLICIT[e.tagName] || "";
  };
  const childrenOf = (e) => {
    if (e.shadowRoot) return e.shadowRoot.childNodes;
    const put = e.tagName === "SLOT" ? e.assignedNodes() : [];
    return put.length ? put : e.childNodes;
  };
  const drawn = (e, which) => {
    const content = getComputedStyle(e, which).content || "";
    return /^["']/.test(content) ? content.replace(/^["']|["']$/g, "") : "";
  };
  const textOf = (e, asSeen) => {
    // what is typed in a field is never read; `asSeen`: what a person sees, without what is hidden and with what a style adds
    const out = [];
    let left = 400;
    const walk = (node) => {
      if (left <= 0) return;
      if (node.nodeType === 3) { left -= node.data.length; out.push(node.data); return; }
      if (node.nodeType !== 1 || ["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT"].includes(node.tagName)) return;
      if (node !== e && isField(node)) return;
      if (asSeen) {
        if (node !== e && node.checkVisibility && !node.checkVisibility({ visibilityProperty: true })) return;
        left -= 1;
      }
      const said = node === e || asSeen ? "" : node.getAttribute("aria-label") || node.getAttribute("alt");
      if (said) { left -= said.length; out.push(" ", said, " "); return; }
      const block = node !== e && !/^(A|B|I|EM|STRONG|SPAN|SLOT|SMALL|U|FONT|MARK|tspan|text)$/.test(node.tagName);
      if (block) out.push(" ");
      if (asSeen) out.push(drawn(node, "::before"));
      for (const child of childrenOf(node)) walk(child);
      if (asSeen) out.push(drawn(node, "::after"));
      if (block) out.push(" ");
    };
    walk(e);
    return fold(out.join(""));
  };
  const namesOf = (e) => {
    const names = ["aria-label", "title", "alt", "placeholder"].map((name) => e.getAttribute(name));
    for (const id of (e.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean)) {
      const other = e.getRootNode().getElementById && e.getRootNode().getElementById(id);
      if (other) names.push(textOf(other));
    }
    for (const label of e.labels || []) names.push(textOf(label));
    if (e.tagName === "INPUT" && ["submit", "button", "reset"].includes(e.type)) {
      names.push(e.value || { submit: "Submit", reset: "Reset" }[e.type]);
    } else if (!isField(e)) {
      names.push(textOf(e), textOf(e, true));
    }
    return [...new Set(names.map(fold).filter(Boolean))];
  };
  const kindOf = (e) => {
    if (e.tagName !== "INPUT" && e.tagName !== "TEXTAREA" && e.tagName !== "SELECT") return [];
    const found = (e.getAttribute("autocomplete") || "").toLowerCase().split(/\s+/).filter((w) => /^[a-z-]{1,40}$/.test(w))
      .map((word) => "autocomplete:" + word);
    if (e.tagName === "INPUT") found.push("type:" + e.type);
    const mask = isField(e) && getComputedStyle(e).webkitTextSecurity;
    if (mask && mask !== "none") found.push("type:password");
    return found;
  };
  const formOf = (e) => {
    const submit = (e.tagName === "BUTTON" && e.type === "submit") || (e.tagName === "INPUT" && ["submit", "image"].includes(e.type));
    return submit ? e.form : null;
  };
  // a form's own properties are hidden by fields that are called like them
  const ofForm = (form, name) => Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, name).get.call(form);
  const defaultOf = (form) => [...form.getRootNode().querySelectorAll("button,input")].find((e) => formOf(e) === form && !e.disabled);
  const secretsOf = (form) => {
    const found = new Set();
    for (const e of form ? ofForm(form, "elements") : []) {
      if (!isField(e) || !isSeen(e)) continue;
      const kinds = kindOf(e);
      if (kinds.includes("type:password")) found.add("form:password");
      if (kinds.includes("autocomplete:one-time-code")) found.add("form:one-time-code");
    }
    return [...found];
  };
  const isActive = (e) => e.matches(SELECT) && (roleOf(e) !== "" || e.hasAttribute("onclick")) && e.tagName !== "LABEL";
  const isPointed = (e) => getComputedStyle(e).cursor === "pointer" || typeof e.onclick === "function";
  const addressOf = (link) => {
    if (typeof link.href === "string") return link.href;
    try { return new URL(link.href.baseVal, document.baseURI).href; } catch { return ""; }
  };
  const factsOf = (e) => {
    const form = formOf(e);
    const urls = [];
    const link = e.closest ? e.closest("a[*|href],area[href]") : null;
    if (link) urls.push(addressOf(link));
    if (form) urls.push(e.hasAttribute("formaction") ? e.formAction : ofForm(form, "action"));
    return {
      role: roleOf(e) || "button",
      pressed: e === root || CHOSEN.includes(roleOf(e)) || isPointed(e) || e.hasAttribute("onclick"),
      names: namesOf(e),
      tokens: [...kindOf(e), ...secretsOf(form)],
      urls: urls.filter((url) => typeof url === "string"),
      submits: form !== null,
      field: isField(e),
    };
  };
  // what the arrow keys would choose in it
  const choicesOf = (e) => {
    if (e.tagName === "SELECT") {
      return [...e.options].map((option) => ({
        role: "menuitem", names: [fold(option.label), fold(option.text)].filter(Boolean), tokens: [], urls: [], submits: false,
        field: false, pressed: true,
      }));
    }
    if (e.tagName !== "INPUT" || e.type !== "radio" || !e.name) return [];
    const same = (other) => other !== e && other.type === "radio" && other.name === e.name && other.form === e.form;
    return [...e.getRootNode().querySelectorAll("input")].filter(same).map(factsOf);
  };
  const every = (visit) => {
    const walk = (top) => {
      for (const e of top.querySelectorAll("*")) {
        visit(e);
        if (e.shadowRoot) walk(e.shadowRoot);
      }
    };
    walk(root);
  };

  // a click goes to the middle of what is seen of an element, or of one of its lines
  const spotsOf = (e) => {
    const spots = [];
    for (const box of [e.getBoundingClientRect(), ...[...e.getClientRects()].slice(0, 50)]) {
      const [left, top] = [Math.max(box.left, 0), Math.max(box.top, 0)];
      const [right, bottom] = [Math.min(box.right, innerWidth), Math.min(box.bottom, innerHeight)];
      spots.push([box.x + box.width / 2, box.y + box.height / 2]);
      if (left < right && top < bottom) spots.push([(left + right) / 2, (top + bottom) / 2]);
    }
    return spots;
  };
  const near = (e, wanted) => {
    const found = [];
    const box = e.getBoundingClientRect();
    const large = box.width > innerWidth || box.height > innerHeight;
    const spots = spotsOf(e);
    const look = (top) => {
      for (const below of top.querySelectorAll("*")) {
        if (below.shadowRoot) look(below.shadowRoot);
        if (!wanted(below) || !isSeen(below)) continue;
        const at = below.getBoundingClientRect();
        // what is there, or nearly, is what may be clicked
        if (large || spots.some(([x, y]) => at.left - 24 < x && x < at.right + 24 && at.top - 24 < y && y < at.bottom + 24)) {
          found.push(below);
        }
      }
    };
    look(e);
    if (e.shadowRoot) look(e.shadowRoot);
    return found;
  };
  const isFrame = (e) => e.tagName === "IFRAME" || e.tagName === "FRAME";

  if (ask === "frames") return isFrame(root) ? [root] : near(root, isFrame);
  if (ask === "element") {
    const e = root;
    const chain = [e];
    const labels = e.tagName === "LABEL" ? [e] : [];
    for (let up = parentOf(e); up && chain.length < 12; up = parentOf(up)) {
      if (up.tagName === "BODY" || up.tagName === "HTML") break;
      if (up.tagName === "LABEL") labels.push(up);
      if (isActive(up) || isPointed(up)) chain.push(up);
    }
    const label = e.closest("label");
    for (const each of label ? [label, ...labels] : labels) {
      if (each.control && !chain.includes(each.control)) chain.push(each.control);
    }
    const there = near(e, (below) => isActive(below) || isPointed(below) || below.tagName === "LABEL");
    for (const each of [...there]) {
      if (each.tagName === "LABEL" && each.control && !there.includes(each.control)) there.push(each.control);
    }
    if (there.length > 200) return null; // more than can be told, so that it is not acted on
    const itself = ["submit", "image", "button", "reset"];
    const form = e.tagName === "INPUT" && !itself.includes(e.type) ? e.form : null;
    const first = form && defaultOf(form);
    return {
      chain: chain.map(factsOf),
      near: there.map(factsOf),
      enter: form ? [first ? factsOf(first) : {
        role: "button", names: [], tokens: secretsOf(form), urls: [ofForm(form, "action")], submits: true, field: false, pressed: true,
      }] : [],
      choices: choicesOf(e),
      frames: isFrame(e) || near(e, isFrame).length > 0,
      // a host that takes no focus itself and has it all the same: what has it is closed to every look
      closed: e === e.getRootNode().activeElement && !e.shadowRoot && !isFrame(e) && e.tagName !== "BODY" && e.tabIndex < 0 &&
        !e.isContentEditable && !e.hasAttribute("tabindex"),
      focusable: !e.disabled && (e.tabIndex >= 0 || e.hasAttribute("tabindex") || e.isContentEditable),
    };
  }
  const found = [];
  let more = false;
  // a label or the keyboard reaches what is too small to be seen
  const isReached = (e) => isSeen(e) || (e.tabIndex >= 0 && e.checkVisibility && e.checkVisibility({ visibilityProperty: true })) ||
    [...(e.labels || [])].some(isSeen);
  const isTop = (e) => isPointed(e) && !(parentOf(e) && getComputedStyle(parentOf(e)).cursor === "pointer");
  every((e) => {
    if (found.length >= MOST) { more = true; return; }
    const control = ask === "controls" && e.tagName !== "BODY" && e.tagName !== "HTML";
    const wanted = control ? isActive(e) || isField(e) || isTop(e) : ask === "fields" && e.tagName === "INPUT";
    if (!wanted || !(control ? isReached(e) : isSeen(e))) return;
    if (control) { found.push(factsOf(e), ...(e.tagName === "SELECT" ? choicesOf(e) : [])); return; }
    const kinds = kindOf(e);
    if (kinds.some((kind) => kind === "type:password" || kind.startsWith("autocomplete:"))) {
      found.push({ role: roleOf(e), names: namesOf(e), tokens: kinds, urls: [], submits: false, field: true, pressed: false });
    }
  });
  const [navigation] = performance.getEntriesByType("navigation");
  return { controls: found, more, status: (navigation && navigation.responseStatus) || null };
}
