// The answer: a lock, a conflict with its fixes, what is not known, or mistakes of the file.

/** What the driver's mode means. */
const MODES = {
  native: "",
  "minor-version": " (by minor-version compatibility)",
  "forward-compat": " (by forward compatibility)",
};

class AnswerView {
  constructor(status, result, solver, names, page) {
    Object.assign(this, { status, result, solver, names, page });
    this.format = null;
  }

  /** Shows what came of a question and says it in one sentence. */
  show(told) {
    const document = JSON.parse(told.document);
    const show = { 0: () => this.locked(document, told.text), 1: () => this.conflict(document), 3: () => this.unknown(document) };
    const make = document.status === "error" ? () => this.errors(document) : show[told.exit];
    const [mark, sentence, ...parts] = make();
    this.status.className = mark;
    if (this.status.textContent !== sentence) this.status.textContent = sentence;
    // Who stands on something that is drawn anew stays there.
    const focused = this.result.contains(globalThis.document.activeElement) ? globalThis.document.activeElement.id : null;
    this.result.replaceChildren(...parts.flat(Infinity).filter(Boolean));
    if (focused) byId(focused)?.focus();
  }

  locked(lock, text) {
    const all = Object.entries(lock.targets);
    const own = all.find(([, target]) => target.stack)?.[1].stack ?? {};
    const stack = Object.keys(lock.stack).length ? lock.stack : own;
    const first = ["torch", "tensorflow", "jax"].filter((name) => stack[name]).map((name) => `${name} ${stack[name]}`);
    const cuda = stack.cuda ? [`CUDA ${stack.cuda}`] : [];
    const said = listed([...first, ...cuda]) || `an answer for ${all.length} machines`;
    const floors = [...new Set(all.map(([, target]) => target.driver?.minimum).filter(Boolean))];
    const driver = floors.length === 1 ? `, driver ${floors[0]} or newer` : "";
    return ["yes", `It fits: ${said}${driver}.`,
      this.facts(Object.entries(lock.stack)),
      lock.arch_list && h("p", { class: "note" }, "TORCH_CUDA_ARCH_LIST=", h("code", {}, `"${lock.arch_list.torch}"`)),
      all.map(([name, target]) => this.machine(name, target)),
      (lock.warnings ?? []).map((one) => this.warning(one)),
      this.files(lock, text)];
  }

  facts(entries) {
    if (entries.length === 0) return null;
    return h("dl", { class: "facts" }, entries.map(([name, says]) => [h("dt", {}, name), h("dd", {}, says)]));
  }

  machine(name, target) {
    const driver = target.driver;
    const rows = [];
    if (driver) {
      rows.push(["driver", `${driver.minimum} or newer${MODES[driver.mode] ?? ""}`]);
      if (driver.compat) rows.push(["cuda-compat", driver.compat]);
      const best = driver.recommended;
      if (best) rows.push(["recommended", `${best.release}${best.until ? `, supported until ${best.until}` : ""}`]);
    }
    if (target.image) rows.push(["image", target.image]);
    if (target.runtime_image) rows.push(["runtime image", target.runtime_image]);
    if (target.toolkit) rows.push(["toolkit", target.toolkit]);
    const runs = { native: "has machine code", jit: "compiled at first use (JIT)" };
    for (const gpu of target.gpus) {
      rows.push([gpu.name, `compute capability ${gpu.compute_capability}${gpu.coverage ? `: ${runs[gpu.coverage]}` : ""}`]);
    }
    return [h("h3", {}, `Machine ${name}`), this.facts([...Object.entries(target.stack ?? {}), ...rows])];
  }

  warning(one) {
    return h("div", { class: "box maybe" }, h("p", {}, h("strong", {}, `Warning [${one.code}]: `), one.message), this.keys(one.keys));
  }

  /** Keys that lead to their places in the file. */
  keys(keys) {
    if (!keys?.length) return null;
    return h("p", { class: "note" }, "In gpuenv.toml: ",
      keys.flatMap((key, at) => [at ? ", " : null, button(key, () => this.page.point(key), { class: "plain mono" })]));
  }

  /** What to install, in the format that was chosen last, and the others a choice away. */
  files(lock, text) {
    const contained = Object.values(lock.targets).some((target) => target.runtime === "container");
    const tabs = [["requirements", "pip"], ["uv", "uv"], ["dockerfile", "Dockerfile"], ["lock", "gpuenv.lock"]];
    if (contained) tabs.unshift(tabs.splice(2, 1)[0]);
    const others = this.names.formats.filter((one) => !tabs.some(([name]) => name === one.name));
    const panel = h("div", { role: "tabpanel", id: "file", "aria-live": "off" });
    const targets = Object.keys(lock.targets);
    const pick = h("select", { id: "file-target" }, h("option", { value: "" }, "all machines"), targets.map((name) => h("option", {}, name)));
    pick.value = targets.includes(this.target) ? this.target : "";
    const list = h("div", { class: "buttons", role: "tablist", "aria-label": "What to install" });
    const more = h("select", { id: "more-formats", "aria-label": "Other formats" },
      h("option", { value: "" }, "Other formats…"), others.map((one) => h("option", { value: one.name }, `${one.name}: ${one.about}`)));
    let now;
    const choose = (name) => {
      now = name;
      for (const tab of list.children) {
        const chosen = tab.dataset.format === name;
        tab.setAttribute("aria-selected", String(chosen));
        tab.tabIndex = chosen || (!tabs.some(([known]) => known === name) && tab === list.firstChild) ? 0 : -1;
      }
      more.value = others.some((one) => one.name === name) ? name : "";
      panel.setAttribute("aria-label", name);
      panel.replaceChildren(...this.file(name, text, pick.value));
    };
    list.append(...tabs.map(([name, label]) =>
      button(label, () => choose(this.format = name), { role: "tab", id: `tab-${name}`, "data-format": name, "aria-controls": "file" })));
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const at = [...list.children].indexOf(globalThis.document.activeElement);
      const next = list.children[(at + step + list.children.length) % list.children.length];
      choose(this.format = next.dataset.format);
      next.focus();
    });
    more.addEventListener("change", () => more.value && choose(this.format = more.value));
    pick.addEventListener("change", () => { this.target = pick.value; choose(now); });
    choose(this.format ?? tabs[0][0]);
    const which = targets.length > 1 && h("div", { class: "field" }, h("label", { for: "file-target" }, "Machine"), pick);
    return [h("h3", {}, "Install"), list, h("p", { class: "buttons" }, more), which, panel];
  }

  file(name, lock, target) {
    if (name === "lock") return this.text("gpuenv.lock", lock, "gpuenv verify");
    const told = this.solver.exportLock(lock, name, target);
    if (told.text === undefined) {
      const { message, help } = JSON.parse(told.document).errors[0];
      return [h("p", { class: "note" }, help ? `${message}: ${help}` : message)];
    }
    const file = this.names.formats.find((one) => one.name === name).file;
    return this.text(file, told.text, told.document);
  }

  text(file, text, next) {
    return [
      h("p", {}, "Save this as ", h("code", {}, file), ", then run:"),
      h("pre", { tabindex: "0", "aria-label": "Command" }, next),
      h("p", { class: "buttons" }, button("Copy", (from) => copy(text, from), { "aria-label": `Copy ${file}` }),
        button("Download", () => save(file, text), { "aria-label": `Download ${file}` })),
      h("pre", { tabindex: "0", id: "file-text", "aria-label": file }, text),
    ];
  }

  conflict(told) {
    const fixes = told.fixes.length;
    const found = fixes === 0 ? "No change was found that would help." : fixes === 1 ? "One fix was found." : `${fixes} fixes were found.`;
    const gaveUp = told.gave_up && h("p", { class: "note" }, `Gave up after ${told.gave_up} steps: there may be more conflicts and fixes.`);
    return ["no", `Nothing fits: ${this.title(told.culprits)}. ${found}`,
      told.conflicts.map((one) => this.reason(one, "")),
      this.fixes(told.fixes, (number) => this.page.applyFix(number)),
      (told.further ?? []).map((one) => this.reason(one, "Once that is fixed: ")), gaveUp];
  }

  reason(conflict, lead) {
    const link = (source) => (/^https?:/.test(source) ? h("a", { href: source, rel: "noreferrer" }, source) : h("code", {}, source));
    return h("div", { class: "box no" }, h("h3", {}, `${lead}${this.title(conflict.culprits)}`),
      h("ul", {}, conflict.explanation.map((sentence) => h("li", {}, sentence))),
      this.keys(conflict.culprits),
      conflict.facts.length > 0 && h("details", {}, h("summary", {}, `Facts and sources (${conflict.facts.length})`),
        h("ul", {}, conflict.facts.map((fact) => h("li", {}, `${fact.id}: `, link(fact.source))))));
  }

  /** Each fix is a button that applies it. */
  fixes(fixes, apply) {
    if (fixes.length === 0) return null;
    return [h("h3", {}, "Fixes"), h("p", { class: "note" }, "Each was resolved before it is shown."),
      h("ol", { class: "fixes" }, fixes.map((fix, at) => {
        const says = this.changes(fix.changes);
        const number = String(at + 1);
        return h("li", {},
          button(says, () => apply(at + 1), { "data-fix": number, "aria-label": `Apply fix ${number}: ${says}` }),
          h("span", { class: "note" }, `resolves to ${stackWords(fix.stack)}${fix.advice ? ` (${fix.advice})` : ""}`));
      }))];
  }

  title(keys) {
    return title(keys, this.page.form.values);
  }

  changes(changes) {
    return changes.map((change) => changed(change, this.page.form.now.targets.length > 1)).join(" and ");
  }

  unknown(told) {
    return ["unknown", "Nobody can tell: the answer depends on what is not known.",
      told.unknowns.map((one) => h("div", { class: "box maybe" }, h("p", {}, one.fact), h("p", {}, one.how), this.keys(one.keys))),
      this.fixes(told.fixes, (number) => this.page.applyFix(number))];
  }

  errors(told) {
    const count = told.errors.length === 1 ? "a mistake" : `${told.errors.length} mistakes`;
    return [told.errors[0].code === "step-limit" ? "unknown" : "no", `gpuenv.toml has ${count}.`,
      told.errors.map((one) => h("div", { class: "box no" },
        h("p", {}, h("strong", {}, `Error [${one.code}]: `), one.message),
        ...(one.help ?? "").split("\n").filter(Boolean).map((line) => h("p", {}, `Help: ${line}`)),
        one.span && h("p", { class: "note" }, button(`line ${one.span.line}, column ${one.span.column}`, () => this.page.pointAt(one.span), { class: "plain" }))))];
  }
}
