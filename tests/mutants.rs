//! Would anybody notice a wrong fact? One value of the catalog is changed at a time; each mutant is held against the
//! row types, the lints with every rule's own trials, what publishers always did, the reported situations and the
//! examples.
//!
//! By default a few values of each table are tried, always the same ones. `GPUENV_MUTANTS=200` tries so many of each,
//! `GPUENV_MUTANTS=all` every value there is (an hour), and `--nocapture` shows the table:
//!
//! `GPUENV_MUTANTS_OF=os,companion` tries those tables alone, whatever the floor.
//!
//! ```sh
//! GPUENV_MUTANTS=200 cargo test --release --test mutants -- --nocapture
//! ```
//!
//! Prose (`says`, `note`, `name` of a system) decides nothing and is left out, and so are `diagnosis` and `clue`, whose
//! patterns have a corpus of their own in tests/reasoning/diagnose.rs.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gpuenv::catalog::{BUILTIN, Catalog, lint};
use gpuenv::lock::{Renewed, Upgrade, renew};
use gpuenv::solve::engine::Steps;
use gpuenv::solve::problem::Problem;
use gpuenv::solve::request::Request;
use gpuenv::spec::{self, Spec};
use serde_json::Value;

use common::{parallel, practice};

/// Values tried of each table by default; of large tables twice as many, of those that decide the share by their weight
/// four times.
const SAMPLE: usize = 4;
/// A large table's values.
const LARGE: usize = 1000;
/// Those of one that weighs most.
const HUGE: usize = 10_000;
/// The share of all values whose change somebody notices must not fall below this: so few tries tell it to a tenth.
const FLOOR: f64 = 0.70;
/// Tables that are not facts to solve with.
const LEFT_OUT: &[&str] = &["law", "diagnosis", "clue"];
/// Fields that are prose.
const PROSE: &[(&str, &str)] = &[
    ("source", "note"),
    ("source", "at"),
    ("rule", "says"),
    ("practice", "says"),
    ("module", "says"),
    ("os", "name"),
    ("os", "refused"),
];

/// One value of the catalog: table, row, the field or `field[item]`.
#[derive(Debug, Clone)]
struct Place {
    kind: &'static str,
    row: usize,
    field: String,
    item: Option<usize>,
}

/// Who noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Caught {
    Types,
    Lint,
    Practice,
    Situation,
    Example,
    Nobody,
}

/// A generator whose numbers are the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides.max(1)
    }
}

fn rows(kind: &str) -> Vec<Value> {
    match BUILTIN.write(kind, serde_json::value::Serializer).unwrap() {
        Value::Array(rows) => rows,
        other => panic!("{kind}: {other}"),
    }
}

/// Every value that says something.
fn places(kind: &'static str, rows: &[Value]) -> Vec<Place> {
    let mut places = Vec::new();
    for (row, fields) in rows.iter().enumerate() {
        for (field, value) in fields.as_object().unwrap() {
            let field = field.clone();
            match value {
                _ if PROSE.contains(&(kind, &field)) => {}
                Value::Null => {}
                Value::Array(items) => {
                    places.extend((0..items.len()).map(|item| Place {
                        kind,
                        row,
                        field: field.clone(),
                        item: Some(item),
                    }));
                }
                _ => places.push(Place { kind, row, field, item: None }),
            }
        }
    }
    places
}

/// Another value of the same sort: a number of a version more or less, what another row says there, an item gone.
fn changed(rows: &[Value], place: &Place, dice: &mut Dice) -> Value {
    let mut row = rows[place.row].clone();
    let value = &mut row[&place.field];
    if let Some(item) = place.item {
        let items = value.as_array_mut().unwrap();
        if dice.roll(2) == 0 {
            items.remove(item);
        } else {
            let text = items[item].as_str().unwrap_or_default().to_string();
            items[item] = Value::String(other_text(&text, rows, place, dice));
        }
        return row;
    }
    *value = match value {
        Value::Bool(is) => Value::Bool(!*is),
        Value::Number(number) => Value::from(number.as_u64().unwrap_or(0) + 1),
        Value::String(text) => Value::String(other_text(text, rows, place, dice)),
        other => panic!("{other}"),
    };
    row
}

fn other_text(text: &str, rows: &[Value], place: &Place, dice: &mut Dice) -> String {
    let numbers: Vec<&str> = text.split(['.', '-']).collect();
    let numeric = numbers.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if numeric {
        let at = dice.roll(numbers.len());
        let number: u64 = numbers[at].parse().unwrap();
        let other = if dice.roll(2) == 0 && number > 0 { number - 1 } else { number + 1 };
        let start: usize = numbers[..at].iter().map(|part| part.len() + 1).sum();
        let width = numbers[at].len();
        return format!("{}{other:0width$}{}", &text[..start], &text[start + width..]);
    }
    let said = |row: &Value| row[&place.field].as_str().map(str::to_string);
    let others: BTreeSet<String> = rows.iter().filter_map(said).filter(|other| other != text).collect();
    match others.iter().nth(dice.roll(others.len())) {
        Some(other) => other.clone(),
        None => format!("{text}x"),
    }
}

/// The built-in catalog with one row changed; none if it cannot even be read.
fn mutant(place: &Place, row: &Value) -> Option<Catalog> {
    let mut added = Catalog::default();
    added.read(place.kind, row.clone()).ok()?;
    let mut catalog = BUILTIN.clone();
    catalog.remove(place.kind, &BTreeSet::from([place.row]));
    catalog.merge(added);
    Some(catalog)
}

/// What a spec gets, the catalog's stamp and its facts aside: a changed digest is no proof that anything was noticed.
fn answer<'c>(spec: &Spec, rules: &'c Problem<'c>) -> String {
    let request = match Request::new(spec, rules) {
        Ok((request, _)) => request,
        Err(_) => return "refused".into(),
    };
    match renew(spec, &request, None, &Upgrade::Nothing, &Steps::default()) {
        Renewed::Lock(mut lock, _) => {
            lock.fact.clear();
            format!("{:?} {:?} {:?} {:?}", lock.stack, lock.arch_list, lock.target, lock.wheel)
        }
        Renewed::Conflict => "conflict".into(),
        Renewed::Undetermined(unknowns) => format!("undetermined: {unknowns:?}"),
        Renewed::GaveUp => "gave up".into(),
    }
}

fn is_answer(told: &str) -> bool {
    !["refused", "conflict", "gave up"].contains(&told)
}

/// Specs with what they get: of situations only whether anything fits counts, of examples every choice.
struct Suite {
    situations: Vec<(Spec, bool)>,
    examples: Vec<(Spec, String)>,
}

impl Suite {
    fn read() -> Suite {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let specs = |folder: &str| -> Vec<Spec> {
            let mut paths: Vec<_> = fs::read_dir(root.join(folder))
                .unwrap()
                .flat_map(|entry| fs::read_dir(entry.unwrap().path()).into_iter().flatten())
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.extension().is_some_and(|is| is == "toml") && !path.ends_with("expected.toml"))
                .collect();
            paths.sort();
            paths.iter().filter_map(|path| spec::parse(&fs::read_to_string(path).unwrap()).ok()).collect()
        };
        let told = |spec: Spec| {
            let told = answer(&spec, &Problem::new(&BUILTIN));
            (spec, told)
        };
        Suite {
            situations: specs("tests/scenarios")
                .into_iter()
                .map(told)
                .map(|(spec, it)| (spec, is_answer(&it)))
                .collect(),
            examples: specs("examples").into_iter().map(told).collect(),
        }
    }

    fn judge(&self, place: &Place, row: &Value) -> Caught {
        let Some(catalog) = mutant(place, row) else { return Caught::Types };
        if !lint::lint_built_in(&catalog).is_empty() {
            return Caught::Lint;
        }
        if !practice::broken(&catalog).is_empty() {
            return Caught::Practice;
        }
        let rules = Problem::new(&catalog);
        if self.examples.iter().any(|(spec, told)| answer(spec, &rules) != *told) {
            return Caught::Example;
        }
        match self.situations.iter().any(|(spec, fits)| is_answer(&answer(spec, &rules)) != *fits) {
            true => Caught::Situation,
            false => Caught::Nobody,
        }
    }
}

#[derive(Default)]
struct Tally {
    values: usize,
    by: BTreeMap<Caught, usize>,
    missed: BTreeMap<String, usize>,
}

impl Tally {
    fn of(&self, by: Caught) -> usize {
        self.by.get(&by).copied().unwrap_or(0)
    }

    fn tried(&self) -> usize {
        self.by.values().sum()
    }

    fn share(&self) -> f64 {
        1.0 - self.of(Caught::Nobody) as f64 / self.tried().max(1) as f64
    }
}

#[test]
fn wrong_facts_are_noticed() {
    let wanted = std::env::var("GPUENV_MUTANTS").unwrap_or_default();
    let sample = if wanted == "all" { usize::MAX } else { wanted.parse().unwrap_or(SAMPLE) };
    let suite = Suite::read();
    assert_eq!((practice::broken(&BUILTIN), lint::lint_built_in(&BUILTIN)), (Vec::new(), Vec::new()));
    assert!(suite.situations.len() >= 100 && suite.examples.len() >= 8);
    let only = std::env::var("GPUENV_MUTANTS_OF").ok();
    let asked = |kind: &str| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == kind));
    let tables = Catalog::KINDS.iter().copied().filter(|kind| !LEFT_OUT.contains(kind) && asked(kind));
    let mut work: Vec<(Place, Value)> = Vec::new();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for kind in tables {
        let mut dice = Dice(20_261_120);
        let rows = rows(kind);
        let mut places = places(kind, &rows);
        tallies.insert(kind, Tally { values: places.len(), ..Tally::default() });
        let times = match places.len() {
            HUGE.. => 4,
            LARGE.. => 2,
            _ => 1,
        };
        let wanted = sample.saturating_mul(times);
        if places.len() > wanted {
            places = (0..wanted).map(|_| places[dice.roll(places.len())].clone()).collect();
        }
        for place in places {
            let row = changed(&rows, &place, &mut dice);
            if row != rows[place.row] {
                work.push((place, row));
            }
        }
    }
    let caught = parallel::each(&work, |(place, row)| suite.judge(place, row));
    for ((place, _), caught) in work.iter().zip(caught) {
        let tally = tallies.get_mut(place.kind).unwrap();
        *tally.by.entry(caught).or_default() += 1;
        if caught == Caught::Nobody {
            *tally.missed.entry(place.field.clone()).or_default() += 1;
        }
    }
    let share = report(&tallies);
    assert!(share >= FLOOR || only.is_some(), "only {:.0} % of wrong values are noticed", 100.0 * share);
}

/// Prints the table; gives the share of all values whose change is noticed.
fn report(tallies: &BTreeMap<&str, Tally>) -> f64 {
    println!(
        "{:14} {:>7} {:>6} {:>6} {:>6} {:>8} {:>9} {:>8} {:>7}  missed in",
        "table", "values", "tried", "types", "lint", "practice", "situation", "example", "noticed"
    );
    let (mut noticed, mut values, mut tried, mut caught) = (0.0, 0, 0, 0);
    for (kind, tally) in tallies {
        let missed: Vec<String> = tally.missed.iter().map(|(field, count)| format!("{field} {count}")).collect();
        println!(
            "{kind:14} {:>7} {:>6} {:>6} {:>6} {:>8} {:>9} {:>8} {:>6.0}%  {}",
            tally.values,
            tally.tried(),
            tally.of(Caught::Types),
            tally.of(Caught::Lint),
            tally.of(Caught::Practice),
            tally.of(Caught::Situation),
            tally.of(Caught::Example),
            100.0 * tally.share(),
            missed.join(", ")
        );
        noticed += tally.share() * tally.values as f64;
        values += tally.values;
        tried += tally.tried();
        caught += tally.tried() - tally.of(Caught::Nobody);
    }
    let share = noticed / values as f64;
    println!("noticed: {caught} of {tried} mutants; weighted by table, {:.0} % of {values} values", 100.0 * share);
    share
}
