// A field with a list below it that shrinks as one types: the pattern "combobox" of WAI-ARIA.

let combos = 0;

/** `find(typed)` gives what is listed, `{ name, about }` each; `choose(name)` is called with what was taken. */
function combo(label, id, find, choose, onEmptyBackspace = () => {}) {
  const listId = `options-${combos++}`;
  const list = h("ul", { class: "options", role: "listbox", id: listId, "aria-label": label, hidden: true });
  const input = h("input", {
    id, type: "text", role: "combobox", autocomplete: "off", spellcheck: "false",
    "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": listId,
  });
  let found = [];
  let at = -1;

  const close = () => {
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (next) => {
    at = next;
    [...list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === at)));
    if (at < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", `${listId}-${at}`);
    list.children[at].scrollIntoView({ block: "nearest" });
  };
  const open = () => {
    found = find(input.value.trim());
    list.replaceChildren(...found.map((one, place) =>
      h("li", {
        role: "option", id: `${listId}-${place}`, "aria-selected": "false",
        // Before the field loses the focus.
        onmousedown: (event) => { event.preventDefault(); take(one.name); },
      }, one.name, one.about ? h("small", {}, one.about) : null)));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    mark(-1);
  };
  const take = (name) => {
    input.value = "";
    close();
    if (name) choose(name);
  };
  input.addEventListener("input", open);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const most = found.length - 1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) return open();
      const next = event.key === "ArrowDown" ? at + 1 : at - 1;
      mark(next > most ? 0 : next < 0 ? most : next);
    } else if (event.key === "Enter") {
      event.preventDefault();
      take(at >= 0 && !list.hidden ? found[at].name : input.value.trim());
    } else if (event.key === "Escape") {
      close();
    } else if (event.key === "Backspace" && input.value === "") {
      onEmptyBackspace();
    }
  });
  return h("div", { class: "field" }, h("label", { for: id }, label), h("div", { class: "combo" }, input, list));
}
