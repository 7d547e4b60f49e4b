//! Who needs what, as a drawing: the parts of an answer and the rules that tie them together.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use serde::Serialize;

use crate::catalog::rows::{Build, Subject, TRITON};
use crate::solve::request::{GpuRequest, Request, TargetRequest};
use crate::solve::rules::law;
use crate::solve::solution::{Solution, TargetAnswer};
use crate::types::Version;

/// Nodes and edges.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// The parts.
    pub nodes: Vec<Node>,
    /// Who needs whom.
    pub edges: Vec<Edge>,
    /// Where each node stands, by its id.
    placed: HashMap<String, usize>,
    drawn: HashSet<Edge>,
}

/// A part of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Node {
    /// A name for drawings: letters, digits and `_`.
    pub id: String,
    /// What it is.
    #[cfg_attr(test, schemars(extend("enum" = ["package", "gpu", "driver", "image", "toolkit", "os"])))]
    pub kind: &'static str,
    /// What to write on it.
    pub label: String,
}

/// One part that needs another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Edge {
    /// Who needs.
    pub from: String,
    /// What.
    pub to: String,
    /// The rule that says so; `brings` where one part contains the other.
    pub rule: String,
}

/// Languages drawings are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Mermaid, as forges draw it.
    Mermaid,
    /// Graphviz.
    Dot,
}

/// Draws an answer.
pub fn draw(request: &Request<'_>, answer: &Solution<'_>) -> Graph {
    let mut graph = Graph::default();
    for target in &answer.targets {
        if let Some(asked) = request.target(&target.name) {
            graph.target(request, asked, target);
        }
    }
    graph
}

impl Graph {
    fn node(&mut self, kind: &'static str, name: &str, label: String) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut id: String = format!("{kind} {name}").chars().map(plain).collect();
        // Names that differ in other signs only, `a-b` and `a.b`, are two nodes.
        while self.placed.get(&id).is_some_and(|at| self.nodes[*at].label != label) {
            id.push('_');
        }
        if !self.placed.contains_key(&id) {
            self.placed.insert(id.clone(), self.nodes.len());
            self.nodes.push(Node { id: id.clone(), kind, label });
        }
        id
    }

    fn edge(&mut self, from: &str, to: &str, rule: &str) {
        let edge = Edge { from: from.into(), to: to.into(), rule: rule.into() };
        if self.drawn.insert(edge.clone()) {
            self.edges.push(edge);
        }
    }

    fn package(&mut self, name: &str, version: &str) -> String {
        self.node("package", &format!("{name} {version}"), format!("{name} {version}"))
    }

    fn target(&mut self, request: &Request<'_>, asked: &TargetRequest<'_>, target: &TargetAnswer<'_>) {
        let name = &target.name;
        let minimum = target.minimum.as_ref().map(|minimum| format!("{name}: driver >= {minimum}"));
        let driver = minimum.map(|label| self.node("driver", name, label));
        // A family is drawn as what it is called, not as each of its boards.
        let named = asked.named_gpus();
        let mut gpus: Vec<(String, &GpuRequest)> = Vec::new();
        for gpu in named {
            let kin = named.iter().filter(|other| other.written == gpu.written && other.cc == gpu.cc).count();
            let name = if kin > 1 { &gpu.written } else { &gpu.name };
            let id = self.node("gpu", name, format!("{name} ({})", gpu.cc));
            if gpus.iter().all(|(known, _)| *known != id) {
                gpus.push((id, gpu));
            }
        }
        let os = asked.os.map(|os| self.node("os", &os.id, os.name.to_string()));
        let mut frameworks = Vec::new();
        for build in &target.builds {
            let id = self.build(build, target);
            for (gpu, _) in gpus.iter().filter(|_| !build.is_cpu()) {
                self.edge(&id, gpu, law::COVERAGE);
            }
            if let Some(os) = os.as_ref().filter(|_| build.glibc.is_some()) {
                self.edge(&id, os, law::GLIBC);
            }
            let line = build.line();
            self.drives(request, asked, &id, line.as_ref(), driver.as_deref());
            frameworks.push((build.package.to_string(), id));
        }
        for companion in &target.companions {
            let id = self.package(&companion.package, companion.version.as_str());
            for (_, framework) in frameworks.iter().filter(|(package, _)| *package == companion.framework) {
                self.edge(&id, framework, law::COMPANION);
            }
        }
        if let Some(toolkit) = target.toolkit {
            let id = self.node("toolkit", toolkit.version.as_str(), format!("CUDA toolkit {}", toolkit.version));
            frameworks.iter().for_each(|(_, framework)| self.edge(&id, framework, law::EXTENSION_MAJOR));
            gpus.iter().for_each(|(gpu, _)| self.edge(&id, gpu, law::NVCC_ARCH));
            self.drives(request, asked, &id, Some(&toolkit.version.prefix(2)), driver.as_deref());
        }
        if let Some(reference) = target.image_reference(asked) {
            let id = self.node("image", &reference, reference.clone());
            if let Some(driver) = &driver {
                self.edge(&id, driver, law::IMAGE_REQUIRE);
            }
            if let Some(os) = &os {
                self.edge(&id, os, law::IMAGE_OS);
            }
        }
        for (id, gpu) in &gpus {
            let rules = request.rules.between(Subject::Gpu, Subject::Driver).filter(|rule| rule.speaks_of_gpu(gpu));
            for rule in rules {
                driver.iter().for_each(|driver| self.edge(id, driver, &rule.row.id));
            }
        }
    }

    fn build(&mut self, build: &Build, target: &TargetAnswer<'_>) -> String {
        let id = self.package(&build.package, &format!("{}+{}", build.version, build.variant));
        for name in ["cudnn", "nccl", TRITON] {
            if let Some(version) = build.part(name).filter(|_| name != TRITON || target.triton.is_some()) {
                let part = self.package(name, version.as_str());
                self.edge(&id, &part, "brings");
            }
        }
        if let Some(python) = target.python {
            let python = self.package("python", python.as_str());
            self.edge(&id, &python, law::PYTHON);
        }
        id
    }

    /// The rules by which a CUDA line needs a driver.
    fn drives(
        &mut self,
        request: &Request<'_>,
        asked: &TargetRequest<'_>,
        from: &str,
        line: Option<&Version>,
        driver: Option<&str>,
    ) {
        let (Some(line), Some(driver)) = (line, driver) else { return };
        let rules = request.rules.about(Subject::Cuda, line, Subject::Driver);
        for rule in rules.filter(|rule| request.holds(&rule.row.id, &asked.name)) {
            self.edge(from, driver, &rule.row.id);
        }
    }

    /// The drawing as text.
    pub fn text(&self, language: Language) -> String {
        match language {
            Language::Mermaid => self.mermaid(),
            Language::Dot => self.dot(),
        }
    }

    fn mermaid(&self) -> String {
        let quoted = |text: &str| text.replace('&', "#amp;").replace('"', "#quot;").replace('<', "#lt;");
        let mut text = "flowchart LR\n".to_string();
        for node in &self.nodes {
            let _ = writeln!(text, "  {}[\"{}\"]", node.id, quoted(&node.label));
        }
        for edge in &self.edges {
            let _ = writeln!(text, "  {} -->|\"{}\"| {}", edge.from, quoted(&edge.rule), edge.to);
        }
        text
    }

    fn dot(&self) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text = "digraph gpuenv {\n  rankdir=LR;\n  node [shape=box];\n".to_string();
        for node in &self.nodes {
            let _ = writeln!(text, "  {} [label=\"{}\"];", node.id, quoted(&node.label));
        }
        for edge in &self.edges {
            let _ = writeln!(text, "  {} -> {} [label=\"{}\"];", edge.from, edge.to, quoted(&edge.rule));
        }
        text + "}\n"
    }
}
