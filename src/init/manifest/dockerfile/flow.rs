//! Which commands of a shell run: `if` and `case` with their branches, `&&` and `||` behind a test. Of branches of which nobody
//! knows which one runs, the first that installs something is taken; and what stands before `||`, not what is there in case it fails.

use super::super::shell::{Command, OR_OPEN, bare, shown};

/// What is known of the commands so far.
#[derive(Default)]
pub(super) struct Flow {
    open: Vec<Branch>,
    /// Whether a command behind `&&`, and one behind `||`, runs.
    next: [Option<bool>; 2],
    /// The last command, with those that it depends on.
    list: String,
    /// Whether it installs something.
    installs: bool,
    /// Whether a parenthesis is open with what is there in case something fails that installs.
    is_fallback: bool,
}

/// A condition that has begun, or a loop.
struct Branch {
    /// Whether a branch before this one ran.
    before: Option<bool>,
    /// Whether this one does.
    now: Option<bool>,
    /// What it is asked by; empty for a loop over words, which runs in any case.
    asked: String,
    /// Whether its condition is not yet at its end.
    is_open: bool,
    /// What `case` compares.
    word: Option<String>,
    /// Whether something was taken of this branch, and of one before it, without it being known that it runs.
    taken: [bool; 2],
}

impl Branch {
    fn new(before: Option<bool>, asked: String, is_open: bool) -> Branch {
        Branch { before, now: None, asked, is_open, word: None, taken: [false, false] }
    }

    /// Goes on to the next one.
    fn ends(&mut self) {
        self.before = not(and(not(self.before), not(self.now)));
        self.taken = [false, self.taken[0] || self.taken[1]];
    }
}

/// A command, and whether it runs: nothing where that is not known.
pub(super) struct Step<'w> {
    pub words: &'w [String],
    pub runs: Option<bool>,
    /// What that depends on.
    pub condition: String,
    /// Whether it does not count because another is taken in its place.
    pub is_other: bool,
}

impl Flow {
    /// The next command. `test` is what a test comes to, none for other commands.
    pub fn next<'w>(&mut self, one: Command<'w>, test: impl Fn(&[String]) -> Option<Option<bool>>) -> Step<'w> {
        let (words, parted) = self.keywords(one.words, one.parted);
        if let Some(branch) = self.open.last_mut().filter(|branch| branch.is_open && branch.word.is_some()) {
            branch.pattern(words, one.end, test);
            return Step { words: &[], runs: None, condition: String::new(), is_other: false };
        }
        let (opens, parted) = (parted == OR_OPEN, if parted == OR_OPEN { "||" } else { parted });
        let is_fallback = self.is_fallback || parted == "||" && self.installs;
        self.installs = is_fallback;
        self.is_fallback = is_fallback && (opens || self.is_fallback) && one.end != ")";
        let runs = match parted {
            "&&" => self.next[0],
            "||" => self.next[1],
            _ => Some(true),
        };
        let behind = if runs == Some(true) { String::new() } else { format!("{} {parted}", self.list) };
        let asked = self.open.iter().map(|branch| branch.asked.as_str()).chain([behind.as_str()]);
        let condition = asked.filter(|asked| !asked.is_empty()).collect::<Vec<_>>().join("; ");
        let tested = test(words);
        let answers = tested.map_or([Some(true), None], |holds| [holds, holds.map(|holds| !holds)]);
        match runs {
            // What stands before it has run.
            _ if is_fallback => {}
            Some(true) => self.next = answers,
            Some(false) => {}
            None => self.next = [None, None],
        }
        let within = self.open.iter().map(|branch| if branch.is_open { not(branch.before) } else { branch.now });
        let all = within.chain([runs]).fold(Some(true), and);
        let is_after = self.open.iter().any(|branch| branch.taken[1] && branch.now.is_none());
        let is_other = all != Some(false) && is_after || is_fallback;
        if let Some(branch) = self.open.last_mut().filter(|branch| branch.is_open && !words.is_empty()) {
            let holds = tested.flatten();
            branch.now = match parted {
                "&&" => and(branch.now, holds),
                "||" => not(and(not(branch.now), not(holds))),
                _ => holds,
            };
            branch.asked += &if branch.asked.is_empty() { "if ".to_string() } else { format!(" {parted} ") };
            branch.asked += &shown(words);
        }
        self.list = format!("{behind} {}", shown(words)).trim_start().to_string();
        if let Some(branch) = self.open.last_mut().filter(|branch| one.end == ";;" && branch.word.is_some()) {
            branch.ends();
            (branch.now, branch.is_open) = (Some(false), true);
        }
        Step { words, runs: if is_other { Some(false) } else { all }, condition, is_other }
    }

    /// The last command installs something, and whether packages were taken of it.
    pub fn installs(&mut self, is_taken: bool) {
        self.installs = true;
        let open = self.open.iter_mut().filter(|branch| is_taken && branch.now.is_none());
        open.for_each(|branch| branch.taken[0] = true);
    }

    /// Takes the words of the shell before a command; what is left, and what parts it.
    fn keywords<'w, 'p>(&mut self, mut words: &'w [String], mut parted: &'p str) -> (&'w [String], &'p str) {
        while let Some((word, rest)) = words.split_first() {
            match (word.as_str(), self.open.last_mut()) {
                ("if", _) => {
                    self.open.push(Branch::new(Some(false), String::new(), true));
                }
                ("case", _) if rest.len() > 1 => {
                    let word = Some(rest[0].clone());
                    let (now, branch) = (Some(false), Branch::new(Some(false), String::new(), true));
                    self.open.push(Branch { word, now, ..branch });
                    (words, parted) = (&rest[2..], ";");
                    continue;
                }
                ("for", _) => self.open.push(Branch::new(None, String::new(), false)),
                ("case" | "while" | "until", _) => self.open.push(Branch::new(None, shown(words), false)),
                ("elif", Some(branch)) => {
                    branch.ends();
                    (branch.asked, branch.is_open) = (String::new(), true);
                }
                ("then", Some(branch)) => {
                    branch.now = and(not(branch.before), branch.now);
                    branch.is_open = false;
                }
                ("else", Some(branch)) => {
                    branch.ends();
                    branch.now = not(branch.before);
                    branch.asked += "; else";
                }
                ("fi" | "esac" | "done", _) => drop(self.open.pop()),
                ("do" | "{" | "}", _) => {}
                _ => break,
            }
            (words, parted) = (rest, ";");
        }
        (words, parted)
    }
}

impl Branch {
    /// A pattern of `case`: the last of those before a parenthesis begins what runs by them.
    fn pattern(&mut self, words: &[String], end: &str, test: impl Fn(&[String]) -> Option<Option<bool>>) {
        let (Some(word), Some(pattern)) = (&self.word, words.last()) else { return };
        let holds = match pattern.as_str() {
            "*" => Some(true),
            _ => test(&["[[", word, "==", pattern, "]]"].map(str::to_string)).flatten(),
        };
        self.now = not(and(not(self.now), not(holds)));
        if !self.asked.ends_with('|') {
            self.asked = format!("case {} in ", bare(word));
        }
        self.asked += &bare(pattern);
        if end == ")" {
            (self.now, self.is_open) = (and(not(self.before), self.now), false);
        } else {
            self.asked += "|";
        }
    }
}

fn not(value: Option<bool>) -> Option<bool> {
    value.map(|value| !value)
}

fn and(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}
