// The form: its fields are read from the text of gpuenv.toml, and a field that changes changes the text.

/** Keys of a target that have a field; the others are named below them. */
const SHOWN = ["gpu", "driver", "driver-cuda", "os", "image", "runtime"];

class Form {
  constructor(root, note, solver, names, edit) {
    Object.assign(this, { root, note, solver, names, edit });
    this.shape = null;
    this.lists = h("div", {}, this.suggestions("drivers"), this.suggestions("systems"), this.suggestions("images"));
    root.addEventListener("submit", (event) => event.preventDefault());
  }

  /** What may become of what was typed. */
  matching(kind, typed) {
    return JSON.parse(this.solver.matching(kind, typed));
  }

  suggestions(kind) {
    const options = this.names[kind].map((one) => h("option", { value: one.name }, one.about));
    return h("datalist", { id: `known-${kind}` }, options);
  }

  /** Shows what the text says. Where its rows are the same as before, fields keep their place and the focus. */
  show(text) {
    this.text = text;
    const form = JSON.parse(this.solver.form(text));
    this.note.textContent = form.whole ? "" : "gpuenv.toml has a mistake: the form follows when it is mended.";
    this.root.inert = !form.whole;
    if (!form.whole && form.targets.length + form.stack.length === 0) return;
    const shape = JSON.stringify([form.stack.map((one) => one.key), form.targets.map((one) => [one.name, one.container])]);
    if (shape !== this.shape) this.build(form);
    this.shape = shape;
    this.fill(form);
  }

  build(form) {
    const focused = this.root.contains(document.activeElement) ? document.activeElement.id : null;
    this.root.replaceChildren(this.lists, this.stack(form), ...form.targets.map((one) => this.machine(one, form)),
      h("p", { class: "buttons" }, button("Add a machine", () => this.edit(this.solver.addTarget(this.text)), { id: "add-machine" })));
    if (focused) byId(focused)?.focus();
  }

  stack(form) {
    const rows = form.stack.map(({ key }) => {
      const list = `releases-${key}`;
      const suggestions = h("datalist", { id: list });
      // Hundreds of releases are listed for who goes to the field, not for each answer.
      const suggest = () => {
        const known = ["*", ...JSON.parse(this.solver.releases(key))];
        suggestions.replaceChildren(...known.map((name) => h("option", { value: name })));
      };
      const field = this.field(`stack.${key}`, key, list, "*");
      field.addEventListener("focusin", suggest, { once: true });
      const remove = button("Remove", () => this.change([[`stack.${key}`, null]]), { "aria-label": `Remove ${key}` });
      return h("div", { class: "row" }, field, suggestions, remove);
    });
    const find = (typed) => this.matching("packages", typed).filter((one) => !form.stack.some((had) => had.key === one.name));
    const add = combo("Add a package", "add-package", find, (name) => this.change([[`stack.${name}`, "*"]]));
    return h("fieldset", {}, h("legend", {}, "What must run"), rows, add);
  }

  machine(target, form) {
    const key = (name) => `target.${target.name}.${name}`;
    const id = (name) => `f-${key(name)}`;
    const write = (gpus) => this.writeGpus(target.name, gpus);
    const gpusNow = () => this.now.targets.find((one) => one.name === target.name).gpus;
    const add = combo("GPUs", id("gpu"), (typed) => this.matching("gpus", typed),
      (name) => write([...gpusNow(), name]), () => write(gpusNow().slice(0, -1)));
    const chips = h("ul", { class: "chips", id: id("chips"), "aria-label": `GPUs of ${target.name}` });
    const kinds = [["no", "On the machine itself"], ["yes", "In a container"]].map(([value, says]) =>
      h("label", {}, h("input", { type: "radio", name: id("runtime"), id: id(value), value, onchange: () => this.contain(target.name, value === "yes") }), says));
    const runtime = h("div", { class: "field" }, h("span", { id: id("runs") }, "Where it runs"),
      h("div", { class: "radios", role: "radiogroup", "aria-labelledby": id("runs") }, kinds));
    const remove = form.targets.length < 2 ? null : h("p", { class: "buttons" }, button("Remove this machine",
      () => this.edit(this.solver.removeTarget(this.text, target.name)), { "aria-label": `Remove the machine ${target.name}` }));
    return h("fieldset", { "data-target": target.name }, h("legend", {}, `Machine ${target.name}`),
      add, chips,
      h("div", { class: "row" },
        this.field(key("driver"), "Driver (empty: any)", "known-drivers", null, key("driver-cuda")),
        this.field(key("driver-cuda"), "or the CUDA Version that nvidia-smi shows", null, null, key("driver"))),
      runtime,
      target.container ? this.field(key("image"), "Image", "known-images", "nvidia/cuda") : null,
      this.field(key("os"), target.container ? "Operating system of the image" : "Operating system", "known-systems", null),
      h("p", { class: "note", id: id("more") }), remove);
  }

  /** A text field. `empty` is what is written when it is emptied; null removes the key. `instead` is a key that goes. */
  field(key, label, list, empty, instead) {
    const id = `f-${key}`;
    const input = h("input", { id, type: "text", list, "data-key": key, autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-wrong` });
    input.addEventListener("input", () => {
      const goes = this.values.has(instead) ? [[instead, null]] : [];
      this.change([...goes, [key, input.value.trim() || empty]], input);
    });
    return h("div", { class: "field" }, h("label", { for: id }, label), input, h("span", { class: "wrong", id: `${id}-wrong` }));
  }

  /** Puts the values into the fields, but not over what somebody types. */
  fill(form) {
    this.now = form;
    const values = this.values = new Map(form.stack.map(({ key, value }) => [`stack.${key}`, value]));
    for (const target of form.targets) {
      for (const { key, value } of target.fields) values.set(`target.${target.name}.${key}`, value);
      this.fillMachine(target);
    }
    for (const input of this.root.querySelectorAll("[data-key]")) {
      if (input === document.activeElement) continue;
      input.value = values.get(input.dataset.key) ?? "";
      this.mark(input, "");
    }
  }

  fillMachine(target) {
    const id = (name) => byId(`f-target.${target.name}.${name}`);
    const write = (gpus) => {
      this.writeGpus(target.name, gpus);
      id("gpu").focus();
    };
    id("chips").replaceChildren(...target.gpus.map((gpu, at) =>
      h("li", {}, gpu, button("✕", () => write(target.gpus.filter((_, other) => other !== at)), { "aria-label": `Remove ${gpu}` }))));
    id("chips").hidden = target.gpus.length === 0;
    id(target.container ? "yes" : "no").checked = true;
    const others = target.fields.filter((field) => !SHOWN.includes(field.key)).map((field) => `${field.key} = ${field.value}`);
    id("more").textContent = others.length ? `Also in the file: ${others.join(", ")}` : "";
  }

  writeGpus(name, gpus) {
    const list = `[${gpus.map((gpu) => JSON.stringify(gpu)).join(", ")}]`;
    this.change([[`target.${name}.gpu`, gpus.length === 0 ? null : gpus.length === 1 ? gpus[0] : list]]);
  }

  contain(name, container) {
    const fields = this.now.targets.find((one) => one.name === name).fields;
    const has = (key) => fields.some((field) => field.key === key);
    const changes = ["image", "runtime"].filter(has).map((key) => [`target.${name}.${key}`, null]);
    if (container) changes.push([`target.${name}.image`, "nvidia/cuda"]);
    this.change(changes);
  }

  /** Writes keys into the text; a value that is refused is told at its field, and the text stays. */
  change(changes, input) {
    let text = this.text;
    for (const [key, value] of changes) {
      if (value === null && !this.values.has(key)) continue;
      const told = this.solver.change(text, key, value ?? undefined);
      if (told.text === undefined) {
        const message = JSON.parse(told.document).errors[0].message;
        return input ? this.mark(input, message) : (this.note.textContent = message);
      }
      text = told.text;
    }
    if (input) this.mark(input, "");
    this.edit(text);
  }

  mark(input, message) {
    input.setAttribute("aria-invalid", String(message !== ""));
    byId(`${input.id}-wrong`).textContent = message;
  }
}
