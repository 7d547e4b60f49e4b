//! `gpuenv catalog`: the facts, each with its source, and whether they are sound.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::catalog::{Catalog, at_hand, lint, overlay};
use crate::explain::topic;
use crate::report::{Exit, Failure, Problem, Report, clean};

use super::args::catalog::{CatalogArgs, CatalogCommand};
use super::common::Common;
use super::{catalog_age, catalog_inspect, catalog_update, files, load_catalog};

/// Runs the command.
pub fn run(common: &Common, args: &CatalogArgs, report: &Report) -> Result<Exit, Failure> {
    catalog_age::tell_age(at_hand(), &[], report);
    match &args.command {
        Some(CatalogCommand::List(args)) => {
            let catalog = load_catalog::told(common, report)?;
            let shelves = catalog.shelves();
            match &args.kind {
                None => report.listed(&shelves, false)?,
                Some(kind) => {
                    let one: Vec<_> = shelves.into_iter().filter(|shelf| shelf.kind == kind).collect();
                    report.listed(&one, true)?;
                }
            }
        }
        None => report.census(load_catalog::told(common, report)?.as_ref())?,
        Some(CatalogCommand::Show(args)) => {
            let catalog = load_catalog::told(common, report)?;
            // A name of several words is rarely quoted.
            let what = args.what.join(" ");
            let found = topic::find(&catalog, what.trim());
            if found.is_empty() {
                return Err(unknown(&catalog, &what));
            }
            report.topics(&found)?;
        }
        Some(CatalogCommand::Search(args)) => {
            let hits = load_catalog::told(common, report)?.search(&args.words);
            report.hits(&hits)?;
            return Ok(if hits.is_empty() { Exit::No } else { Exit::Yes });
        }
        Some(CatalogCommand::Inspect(args)) => return catalog_inspect::run(common, args, report),
        Some(CatalogCommand::Check(args)) => return check(common, &args.files, report),
        Some(CatalogCommand::Update(args)) => return catalog_update::run(common, args, report),
    }
    Ok(Exit::Yes)
}

fn unknown(catalog: &Catalog, name: &str) -> Failure {
    let mut near = topic::nearest(catalog, name.trim());
    near.retain(|near| near != name);
    let is_ordinary = catalog.asks.iter().any(|row| [&row.package, &row.of].iter().any(|of| ***of == *name.trim()));
    let help = match near.as_slice() {
        _ if is_ordinary => format!(
            "it is an ordinary package, whose releases the catalog does not list: it stands under [packages]; `gpuenv \
             catalog search {}` shows what is known of it",
            clean(name.trim())
        ),
        [] => {
            "name it as in `torch@2.8`, `cuda@12.8.1`, `driver@570`, \"RTX 5090\", by an id that a lock holds, or look \
               for words in it: `gpuenv catalog search WORDS`"
                .to_string()
        }
        [one] => format!("did you mean `{one}`?"),
        near => format!("the nearest are: {}", near.join(", ")),
    };
    let message = format!("the catalog knows nothing of `{}`", clean(name));
    Failure::new(Exit::BadInput, "unknown-fact", message).help(help)
}

/// All lints over the catalog at hand, then over each file laid over what was sound before; where none is given, over those of
/// the gpuenv.toml here.
fn check(common: &Common, given: &[PathBuf], report: &Report) -> Result<Exit, Failure> {
    let findings = lint::lint(at_hand());
    if !findings.is_empty() {
        let problem = |finding: lint::Finding| Problem {
            code: finding.lint,
            message: format!("{}: {}", finding.row, finding.says),
            span: None,
            help: None,
        };
        let problems = findings.into_iter().map(problem).collect();
        return Err(Failure { exit: Exit::No, problems, file: None });
    }
    let mut checked = vec![(format!("catalog {}", at_hand().version), at_hand().rows().count())];
    if given.is_empty() {
        let catalog = load_catalog::whole(common).map_err(|failure| {
            let is_finding = |problem: &Problem| lint::NAMES.contains(&problem.code);
            let exit = if failure.problems.iter().all(is_finding) { Exit::No } else { failure.exit };
            Failure { exit, ..failure }
        })?;
        for overlay in catalog.overlays.iter() {
            let is_its = |at: &str| at.rsplit_once(':').is_some_and(|(name, _)| *name == *overlay.name);
            let rows = catalog.laid.iter().filter(|row| is_its(&row.at)).count();
            checked.push((overlay.name.to_string(), rows));
        }
    }
    let mut catalog = Cow::Borrowed(at_hand());
    for path in given {
        let file = files::read_overlay(path)?;
        match overlay::lay(&catalog, &file.name, &file.text) {
            Ok(laid) => {
                let rows = laid.laid.len() - catalog.laid.len();
                checked.push((file.name, rows));
                catalog = Cow::Owned(laid);
            }
            Err(mistakes) => {
                let readable = mistakes.iter().all(|mistake| mistake.finding);
                let failure = load_catalog::refused(mistakes, file);
                return Err(Failure { exit: if readable { Exit::No } else { Exit::BadInput }, ..failure });
            }
        }
    }
    report.checked(&checked)?;
    Ok(Exit::Yes)
}
