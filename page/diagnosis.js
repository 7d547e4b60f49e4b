// A pasted error message: what it means and what to change, in the gpuenv.toml beside it too.

class Diagnosis {
  constructor(status, root, answer, page) {
    Object.assign(this, { status, root, answer, page });
  }

  clear() {
    this.status.textContent = "";
    this.root.replaceChildren();
  }

  show(told) {
    const { findings, extract, host } = JSON.parse(told.document);
    this.status.textContent = findings.length === 0 ? "This message is not known." :
      findings.length === 1 ? "This message is known." : `${findings.length} known messages were found; the most probable comes first.`;
    const seen = findings.length === 0 ? extract ?? {} : {};
    this.root.replaceChildren(
      ...findings.map((one) => this.finding(one)),
      ...Object.entries(seen).map(([key, value]) => h("p", { class: "note" }, `${key}: ${value}`)),
      ...[this.host(host)].flat(Infinity).filter(Boolean));
  }

  finding(one) {
    return h("div", { class: "box maybe" }, h("h3", {}, `${one.component}: ${one.code}`), h("p", {}, one.meaning),
      one.remedies.length > 0 && h("ul", {}, one.remedies.map((remedy) => h("li", {}, remedy))));
  }

  /** What gpuenv.toml comes to on the machine that the message tells of. Why stands among the remedies. */
  host(host) {
    if (!host) return null;
    const head = h("h3", {}, `Machine ${host.target} of gpuenv.toml`);
    if (host.differs.length === 0) return [head, h("p", {}, "gpuenv.toml says this of the machine already: see the answer.")];
    const fixes = host.fixes ?? [];
    return [head,
      h("p", {}, `The message tells of this machine: ${this.answer.changes(host.differs)}.`),
      h("p", { class: "buttons" }, button("Write this into gpuenv.toml", () => this.page.write(host.differs), { id: "write-host" })),
      host.stack && h("p", {}, `It then resolves to ${stackWords(host.stack)}${host.advice ? ` (${host.advice})` : ""}.`),
      this.answer.fixes(fixes, (number) => this.page.write([...host.differs, ...fixes[number - 1].changes]))];
  }
}
