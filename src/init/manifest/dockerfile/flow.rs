//! Which commands of a shell run: `if` and its branches, `&&` and `||` behind a test.

/// What is known of the commands so far.
#[derive(Default)]
pub(super) struct Flow {
    open: Vec<Branch>,
    /// Whether a command behind `&&`, and one behind `||`, runs.
    next: [Option<bool>; 2],
    /// The last command, with those that it depends on.
    list: String,
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
}

/// A command, and whether it runs: nothing where that is not known.
pub(super) struct Step<'w> {
    pub words: &'w [String],
    pub runs: Option<bool>,
    /// What that depends on.
    pub condition: String,
}

impl Flow {
    /// The next command, with what parts it from the one before it. `test` is what a test comes to, none for other commands.
    pub fn next<'w>(
        &mut self,
        parted: &str,
        words: &'w [String],
        test: impl Fn(&[String]) -> Option<Option<bool>>,
    ) -> Step<'w> {
        let (words, parted) = self.keywords(words, parted);
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
            Some(true) => self.next = answers,
            Some(false) => {}
            None => self.next = [None, None],
        }
        let within = self.open.iter().map(|branch| if branch.is_open { not(branch.before) } else { branch.now });
        let all = within.chain([runs]).fold(Some(true), and);
        if let Some(branch) = self.open.last_mut().filter(|branch| branch.is_open && !words.is_empty()) {
            let holds = tested.flatten();
            branch.now = match parted {
                "&&" => and(branch.now, holds),
                "||" => not(and(not(branch.now), not(holds))),
                _ => holds,
            };
            branch.asked += &if branch.asked.is_empty() { "if ".to_string() } else { format!(" {parted} ") };
            branch.asked += &words.join(" ");
        }
        self.list = format!("{behind} {}", words.join(" ")).trim_start().to_string();
        Step { words, runs: all, condition }
    }

    /// Takes the words of the shell before a command; what is left, and what parts it.
    fn keywords<'w, 'p>(&mut self, mut words: &'w [String], mut parted: &'p str) -> (&'w [String], &'p str) {
        while let Some((word, rest)) = words.split_first() {
            match (word.as_str(), self.open.last_mut()) {
                ("if", _) => {
                    self.open.push(Branch { before: Some(false), now: None, asked: String::new(), is_open: true });
                }
                ("for", _) => {
                    self.open.push(Branch { before: None, now: None, asked: String::new(), is_open: false });
                }
                ("case" | "while" | "until", _) => {
                    self.open.push(Branch { before: None, now: None, asked: words.join(" "), is_open: false });
                }
                ("elif", Some(branch)) => {
                    branch.before = not(and(not(branch.before), not(branch.now)));
                    (branch.asked, branch.is_open) = (String::new(), true);
                }
                ("then", Some(branch)) => {
                    branch.now = and(not(branch.before), branch.now);
                    branch.is_open = false;
                }
                ("else", Some(branch)) => {
                    branch.before = not(and(not(branch.before), not(branch.now)));
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
