// What runs on what: the picture that `gpuenv matrix --format svg` draws. A cell that is chosen says why, and leads on.

class MatrixView {
  constructor(root, solver, names, page) {
    Object.assign(this, { root, solver, page });
    const field = (id, label, list, placeholder) => {
      const input = h("input", { id, type: "text", list, placeholder, autocomplete: "off", spellcheck: "false", oninput: () => this.draw() });
      return [input, h("div", { class: "field" }, h("label", { for: id }, label), input)];
    };
    this.package = h("select", { id: "matrix-package", onchange: () => this.take({ version: "" }) }, names.frameworks.map((name) => h("option", {}, name)));
    const [gpu, gpuField] = field("matrix-gpu", "GPU", "known-gpus", "every generation");
    const [version, versionField] = field("matrix-version", "Release", "matrix-releases", "all");
    const [driver, driverField] = field("matrix-driver", "Driver", "known-drivers", "any");
    this.fields = { gpu, version, driver };
    this.releases = h("datalist", { id: "matrix-releases" });
    this.status = h("p", { role: "status", id: "matrix-status" });
    this.picture = h("div", { class: "scroll", id: "picture", role: "group", "aria-label": "What runs on what; the arrow keys move between the builds" });
    this.why = h("div", { id: "why", "aria-live": "polite" });
    root.append(
      h("div", { class: "row" }, h("div", { class: "field" }, h("label", { for: "matrix-package" }, "Framework"), this.package), gpuField, versionField, driverField),
      h("datalist", { id: "known-gpus" }, names.gpus.filter((one) => one.name !== "none").map((one) => h("option", { value: one.name }, one.about))),
      this.releases, this.status, this.picture, this.why);
    this.picture.addEventListener("keydown", (event) => this.move(event));
    // Nobody waits for a picture that is out of sight.
    this.sight = new IntersectionObserver(([seen]) => seen.isIntersecting && !this.drawn && this.draw());
    this.sight.observe(root);
  }

  /** Asks for something else. */
  take(values) {
    for (const [name, value] of Object.entries(values)) this.fields[name].value = value;
    this.draw();
  }

  draw() {
    this.drawn = true;
    const { gpu, version, driver } = this.fields;
    const name = this.package.value;
    if (this.releases.dataset.of !== name) {
      this.releases.dataset.of = name;
      this.releases.replaceChildren(...JSON.parse(this.solver.releases(name)).map((release) => h("option", { value: release })));
    }
    const told = this.solver.matrix(name, gpu.value, version.value, driver.value);
    const document = JSON.parse(told.document);
    this.why.replaceChildren();
    if (told.text === undefined) {
      const { message, help } = document.errors[0];
      this.status.textContent = help ? `${message}. Help: ${help.replaceAll("\n", "; ")}` : message;
      this.picture.replaceChildren();
      return;
    }
    const cells = document.tables.flatMap((table) => table.cells.map((cell) => ({ ...cell, table })));
    this.status.textContent = `${document.tables.map((table) => table.title).join(", ")}: ${cells.length} builds. Choose one to see why.`;
    this.show(told.text, cells);
  }

  /** The picture; its cells come in the order of the document's. */
  show(text, cells) {
    // The page's policy knows its own style alone: that of the picture is cut out of it and handed over as a sheet.
    const [whole, style] = /<style>([^<]*)<\/style>/.exec(text);
    if (!this.sheet) {
      this.sheet = new CSSStyleSheet();
      this.sheet.replaceSync(style);
      globalThis.document.adoptedStyleSheets.push(this.sheet);
    }
    const svg = new DOMParser().parseFromString(text.replace(whole, ""), "image/svg+xml").documentElement;
    svg.setAttribute("role", "group");
    this.cells = [...svg.querySelectorAll("g")];
    this.cells.forEach((drawn, at) => {
      const says = drawn.querySelector("title").textContent;
      const attributes = { role: "button", "aria-label": says, tabindex: at === 0 ? "0" : "-1" };
      for (const [name, value] of Object.entries(attributes)) drawn.setAttribute(name, value);
      drawn.addEventListener("click", () => this.choose(at, says, cells[at]));
    });
    this.picture.replaceChildren(svg);
  }

  /** What a cell says, and where to go from it. */
  choose(at, says, cell) {
    this.stand(at);
    const { rows_are: rows } = cell.table;
    const [version] = cell.build.split("+");
    const steps = [
      rows !== "release" && button(`Every release on ${cell.gpu}`, () => this.take({ gpu: cell.gpu, version: "" })),
      cell.table.columns_are === "release" && button(`Every build of ${version}`, () => this.take({ gpu: "", version })),
      rows !== "driver" && button(`Which drivers run ${cell.build} on ${cell.gpu}`, () => this.take({ gpu: cell.gpu, version: cell.build, driver: "" })),
      button("Write this into gpuenv.toml", () => this.page.ask(this.package.value, cell.build, cell.gpu), { id: "write-build" }),
    ];
    const mark = { native: "yes", ptx: "yes", unknown: "unknown", no: "no" }[cell.state];
    this.why.replaceChildren(h("p", { class: mark }, says), h("p", { class: "buttons" }, steps));
  }

  /** One cell is reached by Tab, the others from it. */
  stand(at) {
    this.cells.forEach((drawn, other) => drawn.setAttribute("tabindex", other === at ? "0" : "-1"));
    this.cells[at].focus();
  }

  move(event) {
    const at = this.cells.indexOf(globalThis.document.activeElement);
    if (at < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.cells[at].dispatchEvent(new MouseEvent("click"));
      return;
    }
    const next = this.beside(at, event.key);
    if (next === undefined) return;
    event.preventDefault();
    if (next >= 0) this.stand(next);
  }

  /** The next cell in a direction: -1 where there is none, undefined for other keys. */
  beside(at, key) {
    const place = (drawn) => ["x", "y"].map((name) => Number(drawn.querySelector("rect").getAttribute(name)));
    const [x, y] = place(this.cells[at]);
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
    if (!step) return undefined;
    let [found, least] = [-1, Infinity];
    this.cells.forEach((drawn, other) => {
      const [across, down] = [place(drawn)[0] - x, place(drawn)[1] - y];
      const ahead = across * step[0] + down * step[1];
      const beside = Math.abs(across * step[1]) + Math.abs(down * step[0]);
      if (ahead > 0 && beside === 0 && ahead < least) [found, least] = [other, ahead];
    });
    return found;
  }
}
