//! A plan for a fleet: for people, or a line for each host.

use std::collections::HashMap;
use std::fmt::Write;

use crate::fleet::plan::{Plan, Raise, Stack, Unserved, Upgrade};

use super::fleet::{comma_separated, hosts};
use super::fleet_plan_page::{self, as_they_are, class_words};
use super::json::FleetPlan;
use super::screen::{Screen, clean};
use super::{Failure, Report};

/// How a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanFormat {
    /// For people.
    Human,
    /// One document.
    Json,
    /// A line for each host.
    Csv,
    /// A page with pictures.
    Html,
}

/// The classes that are shown of a stack where not all are asked for.
const SHOWN: usize = 6;
/// The drivers that are named of those to be raised.
const DRIVERS: usize = 4;
/// How a plan is followed, so that `gpuenv fleet check` passes the hosts that it serves.
const NEXT: &str = "write a gpuenv.toml for each stack, with a target for each of its lines above (its `gpu`, `driver` and \
    `os`), lock it, then hold the hosts against it with `gpuenv fleet check`";
/// The hosts that are named of one of which nothing is known.
const NAMED: usize = 5;

/// A plan as text; `kept`: for a file.
pub fn plan_text(
    report: &Report,
    plan: &Plan,
    format: PlanFormat,
    kept: bool,
    verbose: bool,
) -> Result<String, Failure> {
    Ok(match format {
        PlanFormat::Json => {
            let text = super::json_text(&FleetPlan::new(plan));
            text.map_err(|error| Failure::io("write-failed", error.to_string()))? + "\n"
        }
        PlanFormat::Csv => csv(plan),
        PlanFormat::Html => fleet_plan_page::render(plan),
        PlanFormat::Human => {
            let screen = if kept { Screen::plain() } else { report.stdout_screen() };
            human(&screen, plan, verbose)
        }
    })
}

fn human(screen: &Screen, plan: &Plan, verbose: bool) -> String {
    let mut text = String::new();
    let served: usize = plan.fewest.iter().map(|stack| stack.hosts).sum();
    if !plan.fewest.is_empty() {
        text += &screen.wrapped("", &clean(&heading(plan, served)));
        for (at, stack) in plan.fewest.iter().enumerate() {
            text += &of_stack(screen, &format!("  {}. ", at + 1), plan, stack, verbose);
        }
    }
    if let Some(most) = plan.most.as_ref().filter(|_| plan.fewest.len() > 1) {
        let bound = match plan.at_most > most.hosts {
            true => format!("no stack runs on more than {}", plan.at_most),
            false => "no stack runs on more".to_string(),
        };
        let says = format!("One stack alone: {} runs on {} of {served}; {bound}.", most.title, hosts(most.hosts));
        text += &("\n".to_string() + &screen.wrapped("", &clean(&says)));
    }
    if !plan.upgrades.is_empty() {
        text += "\nWith newer drivers, from the smallest step to the largest:\n";
        for upgrade in &plan.upgrades {
            text += &of_upgrade(screen, plan, upgrade);
        }
    }
    for unserved in &plan.unserved {
        text += &of_unserved(screen, plan, unserved, verbose);
    }
    text += &unknown(screen, plan, verbose);
    if !plan.fewest.is_empty() && plan.classes.len() > 1 {
        text += &("\n".to_string() + &screen.wrapped(&format!("{} ", screen.help("next:")), NEXT));
    }
    text.trim_start_matches('\n').to_string() + &sentence(screen, plan, served)
}

fn heading(plan: &Plan, served: usize) -> String {
    let whom = if served == plan.hosts {
        format!("all {}", hosts(served))
    } else {
        format!("{} of {}", served, hosts(plan.hosts))
    };
    let count = plan.fewest.len();
    let verb = if count == 1 { "stack runs on" } else { "stacks cover" };
    let bound = match plan.at_least {
        _ if count == 1 => String::new(),
        least if least == count => ", and fewer cannot".to_string(),
        least => format!("; at least {least} are needed"),
    };
    format!("{count} {verb} {whom} {}{bound}:", as_they_are(plan))
}

fn of_stack(screen: &Screen, head: &str, plan: &Plan, stack: &Stack, verbose: bool) -> String {
    let driver = match (&stack.driver, &stack.least) {
        (Some(driver), Some(least)) => format!(", driver {least} or newer ({driver} for some of them)"),
        (Some(driver), None) => format!(", driver {driver} or newer"),
        (None, _) => String::new(),
    };
    let python = stack.stack.get("python").map_or(String::new(), |python| format!(", Python {python}"));
    let title = format!("{}: {}{python}{driver}", stack.title, hosts(stack.hosts));
    let mut text = screen.wrapped(&screen.after(head), &clean(&title));
    for (package, count) in &stack.compat {
        text += &screen.wrapped("     ", &clean(&format!("{} with {package} installed", hosts(*count))));
    }
    text += &classes(screen, plan, &stack.classes, verbose);
    for fails in &stack.fails {
        text += &screen.wrapped(&format!("     {} ", screen.warning("warning:")), &clean(fails));
    }
    text
}

/// Classes, a line each.
fn classes(screen: &Screen, plan: &Plan, positions: &[usize], verbose: bool) -> String {
    let shown = if verbose { positions.len() } else { positions.len().min(SHOWN) };
    let mut text = String::new();
    for class in positions[..shown].iter().map(|&at| &plan.classes[at]) {
        let head = format!("{:>9}  ", class.hosts.len());
        text += &screen.hanging(&head, &clean(&class_words(class)), head.len());
        if verbose {
            text += &screen.hanging("           ", &clean(&class.hosts.join(", ")), 11);
        }
    }
    if shown < positions.len() {
        let rest: usize = positions[shown..].iter().map(|&at| plan.classes[at].hosts.len()).sum();
        let _ = writeln!(text, "{rest:>9}  in {} further classes (`--verbose` lists them)", positions.len() - shown);
    }
    text
}

fn of_upgrade(screen: &Screen, plan: &Plan, upgrade: &Upgrade) -> String {
    let mut drivers: Vec<&str> = Vec::new();
    for raise in &upgrade.raises {
        if !drivers.contains(&raise.to.as_str()) {
            drivers.push(&raise.to);
        }
    }
    let raises: Vec<String> = drivers.iter().map(|to| of_driver(upgrade, to)).collect();
    let whom = match upgrade.then.hosts {
        all if all == plan.hosts => format!("all {}", hosts(all)),
        some => format!("{some} of {}", hosts(plan.hosts)),
    };
    let run = if upgrade.then.hosts == 1 { "runs" } else { "run" };
    let more = if upgrade.more > 0 { format!(" ({} more than before)", upgrade.more) } else { String::new() };
    let says = format!("raise {}: {whom} {run} {}{more}", raises.join(", "), upgrade.then.title);
    screen.wrapped("  - ", &clean(&says))
}

/// The hosts that one driver is for: `214 hosts from 535.104.05 to 550.54.14`, `30 hosts to 550.54.14 (20 from …)`.
fn of_driver(upgrade: &Upgrade, to: &str) -> String {
    let raises: Vec<&Raise> = upgrade.raises.iter().filter(|raise| raise.to == to).collect();
    let all: usize = raises.iter().map(|raise| raise.hosts).sum();
    if let [only] = raises.as_slice() {
        return format!("{} from {} to {to}", hosts(all), only.from);
    }
    let shown = raises.iter().take(DRIVERS).map(|raise| format!("{} from {}", raise.hosts, raise.from));
    let mut parts: Vec<String> = shown.collect();
    if raises.len() > DRIVERS {
        let rest: usize = raises[DRIVERS..].iter().map(|raise| raise.hosts).sum();
        parts.push(format!("{rest} from {} others", raises.len() - DRIVERS));
    }
    format!("{} to {to} ({})", hosts(all), parts.join(", "))
}

fn of_unserved(screen: &Screen, plan: &Plan, unserved: &Unserved, verbose: bool) -> String {
    let (head, says) = match unserved.proven {
        true => (screen.error("no stack:"), "can run nothing that the spec needs with the driver installed there"),
        false => (screen.warning("unknown:"), "may run what the spec needs: what decides it is not known"),
    };
    let mut text =
        "\n".to_string() + &screen.wrapped(&format!("{head} "), &format!("{} {says}", hosts(unserved.hosts)));
    text += &classes(screen, plan, &unserved.classes, verbose);
    for why in &unserved.why {
        text += &screen.wrapped("       - ", &clean(why));
    }
    let raised =
        plan.upgrades.iter().find(|upgrade| unserved.classes.iter().all(|at| upgrade.then.classes.contains(at)));
    if let Some(upgrade) = raised {
        let mut to: Vec<&str> = Vec::new();
        for raise in &upgrade.raises {
            if raise.classes.iter().any(|at| unserved.classes.contains(at)) && !to.contains(&raise.to.as_str()) {
                to.push(&raise.to);
            }
        }
        if !to.is_empty() {
            let help = format!("with driver {} they run {}", to.join(" or "), upgrade.then.title);
            text += &screen.wrapped(&format!("       {} ", screen.help("help:")), &clean(&help));
        }
    }
    text
}

/// Hosts of which too little is known, those with one reason together.
fn unknown(screen: &Screen, plan: &Plan, verbose: bool) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (host, why) in &plan.unknown {
        let at = *places.entry(why).or_insert(reasons.len());
        if at == reasons.len() {
            reasons.push((why, Vec::new()));
        }
        reasons[at].1.push(host);
    }
    let mut text = String::new();
    for (why, names) in reasons {
        let shown = if verbose { names.len() } else { names.len().min(NAMED) };
        let more = if shown < names.len() { format!(" and {} more", names.len() - shown) } else { String::new() };
        let says = format!("{}: {why}: {}{more}", hosts(names.len()), names[..shown].join(", "));
        text += &("\n".to_string() + &screen.wrapped(&format!("{} ", screen.warning("unknown:")), &clean(&says)));
    }
    text
}

fn sentence(screen: &Screen, plan: &Plan, served: usize) -> String {
    let (head, mut says) = match (plan.refused(), plan.serves_all()) {
        (0, true) => {
            (screen.after("PASS:"), format!("every host can run the spec, with {}", stacks(plan.fewest.len())))
        }
        (0, false) => {
            let open = plan.hosts - served;
            (
                screen.warning("UNKNOWN:"),
                format!("{served} of {} can run the spec; for {open} this is not known", hosts(plan.hosts)),
            )
        }
        (refused, _) => (
            screen.error("FAIL:"),
            format!("{refused} of {} can run nothing with the driver installed there", hosts(plan.hosts)),
        ),
    };
    match plan.to_be_helped() {
        0 => {}
        1 => says += "; 1 host needs the cuda-compat package named above",
        helped => says += &format!("; {} need the cuda-compat packages named above", hosts(helped)),
    }
    if plan.gave_up {
        says += "; some searches reached the step limit";
    }
    format!("\n{}", screen.wrapped(&format!("{head} "), &clean(&format!("{says}."))))
}

fn stacks(count: usize) -> String {
    if count == 1 { "one stack".to_string() } else { format!("{count} stacks") }
}

/// A line for each host.
fn csv(plan: &Plan) -> String {
    let mut text = "host,gpu,driver,os,arch,stack,runs,raise_to,then_runs,why\n".to_string();
    let last = plan.upgrades.last();
    for (at, class) in plan.classes.iter().enumerate() {
        let own = plan.fewest.iter().position(|stack| stack.classes.contains(&at));
        let raise = last.and_then(|step| step.raises.iter().find(|raise| raise.classes.contains(&at)));
        let then = last.filter(|step| step.then.classes.contains(&at)).map_or("", |step| &step.then.title);
        let unserved = plan.unserved.iter().find(|one| one.classes.contains(&at));
        let gpus = class.gpus.join(" + ");
        let why = unserved.and_then(|one| one.own.get(&at)).map_or(String::new(), |why| why.join("; "));
        let number = own.map_or(String::new(), |own| (own + 1).to_string());
        let fields = [
            gpus.as_str(),
            class.driver.as_deref().unwrap_or_default(),
            class.os.as_deref().unwrap_or_default(),
            &class.arch,
            &number,
            own.map_or("", |own| &plan.fewest[own].title),
            raise.map_or("", |raise| &raise.to),
            then,
            &why,
        ];
        for host in &class.hosts {
            let line: Vec<&str> = std::iter::once(host.as_str()).chain(fields).collect();
            comma_separated(&mut text, &line);
        }
    }
    for (host, why) in &plan.unknown {
        comma_separated(&mut text, &[host, "", "", "", "", "", "", "", "", why]);
    }
    text
}
