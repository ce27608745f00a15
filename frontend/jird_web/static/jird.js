// Everything works without this script. It adds suggestions to the search box, "/" to reach it, and hides pictures
// that can no longer be loaded.
"use strict";

(() => {
  const WAIT_MS = 120; // pause in typing after which the engine is asked
  const input = document.querySelector("input[data-suggest]");

  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey && input) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });

  const hide = (image) => {
    image.closest("li").remove();
    if (!document.querySelector(".tile")) document.querySelector("[data-no-tiles]").hidden = false;
  };
  for (const image of document.querySelectorAll(".tile img")) {
    if (image.complete && image.naturalWidth === 0 && image.currentSrc) hide(image);
    else image.addEventListener("error", () => hide(image), { once: true });
  }

  if (!input) return;
  const list = document.createElement("ul");
  list.className = "suggestions";
  list.id = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  input.form.append(list);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");

  let typed = input.value;
  let chosen = -1;
  let timer = 0;
  let running = null;

  const close = () => {
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };

  const choose = (index) => {
    const items = [...list.children];
    chosen = (index + items.length + 1) % (items.length + 1); // one past the last is the text as typed
    if (chosen === items.length) chosen = -1;
    items.forEach((item, place) => item.setAttribute("aria-selected", String(place === chosen)));
    input.value = chosen < 0 ? typed : items[chosen].textContent;
    if (chosen < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", items[chosen].id);
  };

  const show = (texts) => {
    list.replaceChildren(
      ...texts.map((text, place) => {
        const item = document.createElement("li");
        item.id = `suggestion-${place}`;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        item.textContent = text;
        item.addEventListener("mousedown", (event) => {
          event.preventDefault();
          input.value = text;
          input.form.requestSubmit();
        });
        return item;
      }),
    );
    chosen = -1;
    list.hidden = texts.length === 0;
    input.setAttribute("aria-expanded", String(texts.length > 0));
  };

  const ask = async () => {
    running?.abort();
    if (!typed.trim()) return close();
    running = new AbortController();
    try {
      const answer = await fetch(`${input.dataset.suggest}?q=${encodeURIComponent(typed)}`, { signal: running.signal });
      if (answer.ok && document.activeElement === input) show((await answer.json())[1]);
    } catch {
      close(); // aborted, or the engine is away: the box works as before
    }
  };

  input.addEventListener("input", () => {
    typed = input.value;
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT_MS);
  });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || list.hidden) return;
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen < 0 ? list.children.length - 1 : chosen - 1);
    else if (event.key === "Escape") {
      input.value = typed;
      close();
    } else return;
    event.preventDefault();
  });
  input.addEventListener("blur", close);
})();
