// The page: one text, gpuenv.toml, and everything else follows from it.

const START = `# What must run, and on which machines.

[stack]
torch = "*"          # the newest that fits

[target.laptop]
gpu = "RTX 4090"
`;

const EXAMPLES = [
  ["A100, driver 460, torch 1.12.1", `[stack]\ntorch = "1.12.1+cu102"\n\n[target.cluster]\ngpu    = "A100-PCIE-40GB"\ndriver = "460.32.03"\nimage  = "nvidia/cuda"\n`],
  ["RTX 5090, torch 2.6", `[stack]\ntorch = "2.6.0"\n\n[target.desk]\ngpu = "RTX 5090"\nos  = "ubuntu24.04"\n`],
  ["H100 and A100, one container", `[stack]\ntorch       = ">=2.4"\ntorchvision = "*"\npython      = "3.12"\n\n[target.prod]\ngpu    = ["A100-PCIE-40GB", "H100 NVL"]\ndriver = "595"\nimage  = "nvidia/cuda"\nos     = "ubuntu24.04"\n`],
  ["CPU only, for CI", `[stack]\ntorch  = "2.5.1"\npython = "3.11"\n\n[target.ci]\ngpu = "none"\n`],
];

// Questions that take the solver's other ways: JAX and TensorFlow, what needs torch, a board, a compiler, clashes of each.
const OTHERS = [
  `[stack]\njax = "*"\npython = "3.11"\n\n[target.a]\ngpu    = "T4"\ndriver = "535"\n`,
  `[stack]\ntensorflow = "2.15"\n\n[target.a]\ngpu   = "RTX 5090"\nimage = "nvidia/cuda"\n`,
  `[stack]\nvllm = "*"\nflash-attn = "*"\nbitsandbytes = "*"\ncupy-cuda12x = "*"\n\n[target.a]\ngpu    = "L4"\ndriver = "550"\nos     = "ubuntu22.04"\n\n[target.b]\ngpu = "GTX 1080 Ti"\n`,
  `[stack]\ntorch = "2.8"\n\n[build]\n\n[target.a]\ngpu     = "H100 NVL"\nruntime = "bare-metal"\ntoolkit = "12.1"\ngcc     = "14"\n`,
  `[stack]\ntorch = "*"\n\n[target.a]\ngpu = "Jetson AGX Orin"\n`,
];

class Page {
  constructor(solver) {
    this.solver = solver;
    this.spec = byId("spec");
    this.before = [];
    const names = JSON.parse(solver.names());
    byId("about").textContent = `gpuenv ${names.version}, catalog ${names.catalog}: ${names.gpus.length} GPUs, ${names.packages.length} packages.`;
    this.answer = new AnswerView(byId("status"), byId("result"), solver, names, this);
    this.diagnosis = new Diagnosis(byId("diagnosis-status"), byId("findings"), this.answer, this);
    this.matrix = new MatrixView(byId("matrix"), solver, names, this);
    this.form = new Form(byId("form"), byId("form-note"), solver, names, (text) => this.set(text));
    this.spec.addEventListener("input", () => this.changed(this.spec.value));
    byId("message").addEventListener("input", () => this.diagnose());
    byId("undo").addEventListener("click", () => this.undo());
    byId("copy-spec").addEventListener("click", (event) => copy(this.text, event.target));
    byId("save-spec").addEventListener("click", () => save("gpuenv.toml", this.text));
    byId("copy-link").addEventListener("click", (event) => this.copyLink(event.target));
    byId("examples").append("Try: ", ...EXAMPLES.map(([name, text]) => button(name, () => this.set(text), { class: "plain" })));
    byId("licences").addEventListener("toggle", () => {
      byId("licences").lastElementChild.textContent = new TextDecoder().decode(unpack("notice"));
    });
    this.follow();
    // Links within the page must not take the question's place in the address.
    for (const link of document.querySelectorAll("a[href^='#']")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        byId(link.hash.slice(1)).scrollIntoView();
        byId(link.hash.slice(1)).focus({ preventScroll: true });
      });
    }
    addEventListener("hashchange", () => this.restore());
  }

  async start() {
    if (!(await this.restore())) this.set(START);
    this.before = [];
    byId("undo").disabled = true;
    this.warm([...EXAMPLES.map(([, text]) => text), ...OTHERS]);
  }

  /** Solves questions while nobody asks any: a browser compiles code when it first runs, and the next answer is quick. */
  warm(questions) {
    const idle = globalThis.requestIdleCallback ?? ((next) => setTimeout(next, 100));
    const next = () => {
      const text = questions.pop();
      this.isWarm = text === undefined;
      if (this.isWarm) return;
      this.solver.lock(text);
      idle(next);
    };
    idle(next);
  }

  /** Where the answer is out of sight, as on a phone, its first line stays at the edge and leads to it. */
  follow() {
    const brief = byId("brief");
    new IntersectionObserver(([seen]) => (brief.hidden = seen.isIntersecting || seen.boundingClientRect.top < 0)).observe(byId("status"));
    new MutationObserver(() => {
      brief.textContent = byId("status").textContent;
      brief.className = byId("status").className;
    }).observe(byId("status"), { attributes: true, childList: true, characterData: true, subtree: true });
  }

  /** Takes the question from the address. */
  async restore() {
    const note = byId("link-note");
    note.textContent = "";
    const text = await fromLink(location.hash).catch((error) => {
      note.textContent = error.message;
      return null;
    });
    if (text !== null && text !== this.text) this.set(text);
    return text !== null;
  }

  /** A new text that nobody typed: it can be taken back. */
  set(text) {
    if (text === this.text) return;
    if (this.text !== undefined) this.before.push(this.text);
    byId("undo").disabled = this.before.length === 0;
    this.spec.value = text;
    this.changed(text);
  }

  undo() {
    const text = this.before.pop();
    if (text === undefined) return;
    this.spec.value = text;
    this.changed(text);
    byId("undo").disabled = this.before.length === 0;
  }

  changed(text) {
    this.text = text;
    const start = performance.now();
    this.form.show(text);
    this.answer.show(this.solver.lock(text));
    this.took = performance.now() - start;
    if (this.before.length === 0) performance.mark("answered");
    if (byId("message").value.trim()) this.diagnose();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.writeLink(), 300);
  }

  link() {
    return toLink(this.text);
  }

  async writeLink() {
    const link = await this.link();
    if (link !== location.hash) history.replaceState(null, "", link);
  }

  async copyLink(from) {
    await this.writeLink();
    copy(location.href, from);
  }

  applyFix(number) {
    const told = this.solver.applyFix(this.text, number);
    if (told.text === undefined) {
      this.answer.show(told);
      return;
    }
    this.set(told.text);
    byId("answer").focus();
  }

  /** Writes changes of keys into the text. */
  write(changes) {
    this.form.change(changes.map(({ key, to }) => [key, to]));
  }

  /** Asks for a build on a GPU, on the first machine. */
  ask(name, build, gpu) {
    if (this.form.now.targets.length === 0) this.set(this.solver.addTarget(this.text));
    const [target] = this.form.now.targets;
    this.form.change([[`stack.${name}`, build], [`target.${target.name}.gpu`, gpu]]);
    byId("answer").focus();
  }

  diagnose() {
    const message = byId("message").value;
    if (!message.trim()) return this.diagnosis.clear();
    this.diagnosis.show(this.solver.diagnose(message, this.text));
  }

  /** Shows where a key stands. */
  point(key) {
    const place = JSON.parse(this.solver.form(this.text)).places.find((one) => one.key === key);
    if (place) this.select(place.start, place.end);
    else this.spec.focus();
  }

  pointAt({ line, column, start, end }) {
    const before = this.text.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    this.select(before + column - 1, before + column - 1 + (end - start));
  }

  select(start, end) {
    this.spec.focus();
    this.spec.setSelectionRange(start, end);
    const line = this.text.slice(0, start).split("\n").length;
    const height = Number.parseFloat(getComputedStyle(this.spec).lineHeight) || 20;
    this.spec.scrollTop = Math.max(0, (line - 4) * height);
  }
}

load().then((solver) => {
  const page = new Page(solver);
  globalThis.gpuenv = { page, solver };
  return page.start();
}).catch((error) => {
  byId("status").className = "no";
  byId("status").textContent = `The solver could not be started in this browser: ${error.message}`;
});
