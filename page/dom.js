// Small helpers: elements, copying, saving.

/** An element with attributes and children; what is null or false is left out. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const byId = (id) => document.getElementById(id);

/** A button that says for a moment that it has done its work. */
function button(text, run, attributes = {}) {
  const made = h("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", () => run(made));
  return made;
}

async function copy(text, from) {
  const label = from.dataset.label ?? from.textContent;
  from.dataset.label = label;
  try {
    await navigator.clipboard.writeText(text);
    from.textContent = "Copied";
  } catch {
    // A page from a file may not be allowed to: the old way asks nobody.
    const area = h("textarea", { class: "sr-only" }, text);
    document.body.append(area);
    area.select();
    from.textContent = document.execCommand("copy") ? "Copied" : "Not allowed";
    area.remove();
    from.focus();
  }
  setTimeout(() => (from.textContent = label), 1500);
}

function save(name, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Words joined as in a sentence: "a, b and c". */
const listed = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
