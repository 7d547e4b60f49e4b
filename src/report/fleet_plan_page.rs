//! A plan for a fleet as one page of HTML with its pictures, which needs no network: which classes of hosts run which
//! stack, now and after each step, and how many hosts have which driver.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::fleet::plan::{HostClass, Plan, Stack, Upgrade};

use super::fleet::hosts;
use super::fleet_page::{STYLE, begun, escaped, picture};

/// The classes of a picture at most.
const ROWS: usize = 80;
/// The room for a class's name.
const NAME: usize = 420;
/// The width of a stack's column.
const COLUMN: usize = 92;
/// The height of a row.
const ROW: usize = 22;
/// The height of the columns' heads.
const HEAD: usize = 46;

/// A column: what it is called, whom it serves and whose driver is raised for it.
struct Column<'p> {
    title: String,
    about: String,
    stack: &'p Stack,
    upgrade: Option<&'p Upgrade>,
}

/// The page.
pub(super) fn render(plan: &Plan) -> String {
    let served: usize = plan.fewest.iter().map(|stack| stack.hosts).sum();
    let cover = match plan.fewest.len() {
        1 => "one stack runs on".to_string(),
        many => format!("{many} stacks cover"),
    };
    let served = if served == plan.hosts { "all".to_string() } else { served.to_string() };
    let heading = format!("{}: {cover} {served} {}", hosts(plan.hosts), as_they_are(plan));
    let mut page = begun("gpuenv fleet plan", STYLE, &heading);
    let columns = columns(plan);
    grid(&mut page, plan, &columns);
    list(&mut page, &columns);
    drivers(&mut page, plan);
    refused(&mut page, plan);
    page += "</body></html>\n";
    page
}

/// How the hosts are that the stacks serve: some may need a cuda-compat package beside their driver.
pub(super) fn as_they_are(plan: &Plan) -> &'static str {
    if plan.to_be_helped() > 0 { "with the drivers that they have" } else { "as they are" }
}

fn columns(plan: &Plan) -> Vec<Column<'_>> {
    let mut columns: Vec<Column> = Vec::new();
    for (at, stack) in plan.fewest.iter().enumerate() {
        columns.push(Column {
            title: format!("stack {}", at + 1),
            about: as_they_are(plan).into(),
            stack,
            upgrade: None,
        });
    }
    if let Some(most) = plan.most.as_ref().filter(|_| plan.fewest.len() > 1) {
        columns.push(Column { title: "one stack".into(), about: as_they_are(plan).into(), stack: most, upgrade: None });
    }
    for (at, upgrade) in plan.upgrades.iter().enumerate() {
        let raised: usize = upgrade.raises.iter().map(|raise| raise.hosts).sum();
        let (title, about) = (format!("step {}", at + 1), format!("{raised} raised"));
        columns.push(Column { title, about, stack: &upgrade.then, upgrade: Some(upgrade) });
    }
    columns
}

/// Classes of hosts by stacks: a filled cell with its word for each that is served.
fn grid(page: &mut String, plan: &Plan, columns: &[Column<'_>]) {
    let rows = plan.classes.len().min(ROWS);
    let (across, down) = (NAME + columns.len() * COLUMN, HEAD + rows * ROW);
    let title = "Classes of hosts by stack";
    let _ = write!(
        page,
        "<h2>{title}</h2>\n<div style=\"overflow-x:auto\"><svg role=\"img\" aria-label=\"{title}\" \
         viewBox=\"0 0 {across} {down}\" width=\"{across}\" height=\"{down}\" \
         font-family=\"system-ui,sans-serif\" font-size=\"13\" fill=\"currentColor\">\n"
    );
    for (at, column) in columns.iter().enumerate() {
        let left = NAME + at * COLUMN;
        let _ = writeln!(
            page,
            "<text x=\"{left}\" y=\"16\" font-weight=\"600\">{}</text><text x=\"{left}\" y=\"34\">{}</text>",
            escaped(&column.title),
            escaped(&column.about)
        );
    }
    for (row, class) in plan.classes.iter().enumerate().take(rows) {
        let (top, text) = (HEAD + row * ROW, HEAD + row * ROW + 15);
        let words = format!("{} × {}", class.hosts.len(), class_words(class));
        let short: String = words.chars().take(62).collect();
        let _ = write!(page, "<text x=\"0\" y=\"{text}\">{}<title>{}</title></text>", escaped(&short), escaped(&words));
        for (at, column) in columns.iter().enumerate() {
            let left = NAME + at * COLUMN;
            let raise = column.upgrade.and_then(|step| step.raises.iter().find(|raise| raise.classes.contains(&row)));
            let (colour, word) = match (column.stack.classes.contains(&row), raise) {
                (false, _) => continue,
                (true, None) => ("#2f7d32", "runs".to_string()),
                (true, Some(raise)) => ("#9a6700", format!("to {}", raise.to)),
            };
            let _ = write!(
                page,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"{colour}\"/>\
                 <text x=\"{}\" y=\"{text}\" fill=\"#fff\" font-size=\"12\">{}<title>{}</title></text>",
                COLUMN - 6,
                ROW - 4,
                left + 5,
                escaped(&word),
                escaped(&column.stack.title)
            );
        }
        page.push('\n');
    }
    *page += "</svg></div>\n";
    if rows < plan.classes.len() {
        let _ = writeln!(page, "<p>{} smaller classes are not drawn.</p>", plan.classes.len() - rows);
    }
}

/// The same in words.
fn list(page: &mut String, columns: &[Column<'_>]) {
    *page += "<table><thead><tr><th></th><th>Stack</th><th>Hosts</th><th>Drivers to raise</th></tr></thead><tbody>\n";
    for column in columns {
        let raises = column.upgrade.map_or(&[][..], |step| &step.raises);
        let mut list = String::new();
        for raise in raises {
            let words = format!("{} from {} to {}", hosts(raise.hosts), raise.from, raise.to);
            let _ = write!(list, "<p>{}</p>", escaped(&words));
        }
        let parts: Vec<String> = column.stack.stack.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}<details><summary>all of it</summary>{}</details></td><td>{}</td><td>{list}</td></tr>",
            escaped(&column.title),
            escaped(&column.stack.title),
            escaped(&parts.join(", ")),
            column.stack.hosts
        );
    }
    *page += "</tbody></table>\n";
}

/// How many hosts have which driver, now and after the last step.
fn drivers(page: &mut String, plan: &Plan) {
    let mut now: BTreeMap<String, usize> = BTreeMap::new();
    let mut then: BTreeMap<String, usize> = BTreeMap::new();
    let last = plan.upgrades.last();
    for (at, class) in plan.classes.iter().enumerate() {
        let driver = class.driver.clone().unwrap_or_else(|| "none".to_string());
        let raise = last.and_then(|step| step.raises.iter().find(|raise| raise.classes.contains(&at)));
        *then.entry(raise.map_or(driver.clone(), |raise| raise.to.clone())).or_default() += class.hosts.len();
        *now.entry(driver).or_default() += class.hosts.len();
    }
    let bars =
        |counts: BTreeMap<String, usize>| counts.into_iter().map(|(name, count)| (name, [count, 0, 0])).collect();
    picture(page, "Hosts by driver, now", bars(now));
    if last.is_some() {
        picture(page, "Hosts by driver, after the last step", bars(then));
    }
}

/// Who can run nothing, and who is not known.
fn refused(page: &mut String, plan: &Plan) {
    if plan.unserved.is_empty() && plan.unknown.is_empty() {
        return;
    }
    *page += "<h2>Not served</h2>\n<table><thead><tr><th>Hosts</th><th>Why</th></tr></thead><tbody>\n";
    for one in &plan.unserved {
        let names: Vec<String> = one.classes.iter().flat_map(|&at| plan.classes[at].hosts.clone()).collect();
        let _ = writeln!(
            page,
            "<tr><td class=\"{}\">{}</td><td>{}<details><summary>hosts</summary>{}</details></td></tr>",
            if one.proven { "fail" } else { "unknown" },
            one.hosts,
            escaped(&one.why.join("; ")),
            escaped(&names.join(", "))
        );
    }
    for (host, why) in &plan.unknown {
        let _ = writeln!(page, "<tr><td class=\"unknown\">{}</td><td>{}</td></tr>", escaped(host), escaped(why));
    }
    *page += "</tbody></table>\n";
}

/// A class in words: `NVIDIA H100 NVL, driver 550.54.15, ubuntu22.04`.
pub(super) fn class_words(class: &HostClass) -> String {
    let gpus = if class.gpus.is_empty() { "no GPU".to_string() } else { class.gpus.join(" + ") };
    let driver = match class.driver.as_deref() {
        Some(driver) if driver.starts_with(|c: char| c.is_ascii_digit()) => Some(format!("driver {driver}")),
        Some(cuda) => Some(format!("driver with {cuda}")),
        None => None,
    };
    let glibc = class.glibc.as_ref().map(|glibc| format!("glibc {glibc}"));
    let arch = Some(class.arch.clone()).filter(|arch| arch != crate::types::CpuArch::X86_64.as_str());
    let parts = [Some(gpus), driver, class.os.clone(), glibc, arch];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
