//! The commands of a RUN, one after the other, with those of its loops as often as these turn.

use super::super::shell::{
    Command, bare, command, commands, file_name, is_variable, line_within, quoted, shown, words,
};
use super::flow::{Flow, Step};
use super::program::{Program, is_of_file, program};
use super::{ARCH_LIST, OF_BUILD, Reader};

/// Words of the shell before the variables of a command.
const BEFORE: [&str; 2] = ["env", "export"];
/// Words of the shell before a command.
const KEYWORDS: [&str; 4] = ["do", "else", "then", "{"];
/// No shells are started within each other so deep, and what one is given may start it twice.
const MOST_SHELLS: usize = 6;
/// What a command reads that the one before it prints.
const STDIN: &str = "/dev/stdin";
/// Commands that begin what `done` ends.
const LOOPS: [&str; 4] = ["for", "select", "until", "while"];
/// No more commands of loops are read of a file.
const MOST_TURNS: usize = 2_000;

/// What a variable was before a command set it.
type Before = Vec<(String, Option<String>)>;

impl Reader {
    /// The lines of one shell. A variable that it sets ends with it.
    pub(super) fn run(&mut self, lines: &[(usize, String)]) {
        let (mut before, mut flow) = (Vec::new(), Flow::default());
        (self.inside, self.is_away) = (None, false);
        let words: Vec<(usize, Vec<String>)> = lines.iter().map(|(line, rest)| (*line, command(rest))).collect();
        words.iter().for_each(|(_, words)| self.mounted(&words[..options(words)]));
        let each = words.iter().flat_map(|(line, words)| {
            // Options of RUN.
            let words = &words[options(words)..];
            commands(words).into_iter().map(|one| (*line, one))
        });
        self.steps(&each.collect::<Vec<_>>(), &mut flow, &mut before);
        before.into_iter().rev().for_each(|(name, value)| self.put(&name, value));
        self.inside = None;
    }

    /// Files of the project that a RUN sees under names of its own: `--mount=type=bind,source=r.txt,target=/r.txt`.
    fn mounted(&mut self, options: &[String]) {
        for mount in options.iter().filter_map(|word| word.strip_prefix("--mount=")) {
            let each = || mount.split(',').filter_map(|part| part.split_once('='));
            let of = |keys: &[&str]| each().find(|(key, _)| keys.contains(key)).map(|(_, value)| value.to_string());
            let places = of(&["source", "src"]).zip(of(&["target", "dst", "destination"]));
            if let Some((source, target)) = places.filter(|_| of(&["from"]).is_none()) {
                self.copied(&[source], &target, true);
            }
        }
    }

    /// A line that a shell is given by another one, with the environment that this is in.
    fn within(&mut self, text: &str, line: usize, environment: String) {
        if self.depth == MOST_SHELLS {
            return;
        }
        let inside = self.inside.replace(environment);
        self.depth += 1;
        let (words, mut before) = (words(text), Vec::new());
        let all: Vec<_> = commands(&words).into_iter().map(|one| (line, one)).collect();
        self.steps(&all, &mut Flow::default(), &mut before);
        before.into_iter().rev().for_each(|(name, value)| self.put(&name, value));
        self.depth -= 1;
        self.inside = inside;
    }

    fn steps(&mut self, all: &[(usize, Command<'_>)], flow: &mut Flow, before: &mut Before) {
        let mut rest = all;
        while let [(line, one), behind @ ..] = rest {
            rest = behind;
            let begin = one.words.iter().take_while(|word| KEYWORDS.contains(&word.as_str())).count();
            let (keywords, own) = one.words.split_at(begin);
            let turns = match own {
                [word, name, within, values @ ..] if word == "for" && within == "in" => {
                    let values = self.each_filled(values);
                    let is_few = |end: &usize| self.turns + values.words.len() * (end + 1) <= MOST_TURNS;
                    let end = ends(behind).filter(|end| values.unknown.is_empty() && is_few(end));
                    end.map(|end| (name, values.words, end))
                }
                _ => None,
            };
            let Some((name, values, end)) = turns else {
                // `-r <(grep -v x r.txt)`
                let printed = behind.first().filter(|_| one.end == "(" && own.last().is_some_and(|word| word == "<"));
                let mut words = one.words.to_vec();
                if let Some((_, first)) = printed {
                    self.makes(&self.each_filled(first.words).words, "", *line);
                    words.pop();
                    words.push(STDIN.to_string());
                }
                self.step(Command { words: &words, ..*one }, *line, flow, before);
                continue;
            };
            self.step(Command { words: keywords, ..*one }, *line, flow, before);
            self.turns += values.len() * (end + 1);
            for value in values {
                before.extend(self.assign(&format!("{name}={}", quoted(&value)), *line));
                self.steps(&behind[..end], flow, before);
            }
            rest = &behind[end + 1..];
        }
    }

    fn step(&mut self, one: Command<'_>, line: usize, flow: &mut Flow, before: &mut Before) {
        let step = flow.next(one, |words| self.test(words));
        let count = self.taken();
        before.extend(self.one(&step, one.writes, line));
        self.piped.take_if(|_| one.end != "|");
        if step.runs != Some(false) && (program(step.words).is_some() || self.taken() > count) {
            flow.installs(step.runs.is_none() && self.taken() > count);
        }
    }

    /// How many packages the stage at hand installs by now.
    fn taken(&self) -> usize {
        let environments = self.stages.last().map(|stage| stage.environments.values());
        environments.into_iter().flatten().map(|one| one.found.wanted.len()).sum()
    }

    /// One command; the variables that it sets, with what they were before. What some condition sets is not known.
    fn one(&mut self, step: &Step<'_>, writes: &str, line: usize) -> Before {
        if step.runs == Some(false) {
            self.leave_unrun(step, line);
            return Vec::new();
        }
        let words = &step.words[step.words.iter().take_while(|word| BEFORE.contains(&word.as_str())).count()..];
        let (set, words) = words.split_at(words.iter().take_while(|word| is_variable(word)).count());
        let before: Vec<_> = set.iter().filter_map(|word| self.assign(word, line)).collect();
        let inside = set.iter().find_map(|word| self.entered_by(&bare(word)));
        let (mut filled, shown) = (self.each_filled(words), shown(words));
        let text = line_within(&filled.words).map(str::to_string);
        if text.is_none() {
            self.enter(inside, &filled.words);
        }
        // `grep -v x r.txt | xargs pip install`
        if self.piped.is_some() && filled.words.first().is_some_and(|word| file_name(word) == "xargs") {
            filled.words.extend(["-r", STDIN].map(str::to_string));
        }
        if program(&filled.words).is_some_and(|(program, _)| program == Program::Pip)
            && let Some(stage) = self.stages.last_mut()
        {
            // Options of pip and uv under other names are read, or say nothing of what is installed.
            let is_told = |word: &&String| ["PIP_", "UV_", "PYTHON", ARCH_LIST].iter().any(|one| word.starts_with(one));
            set.iter().filter(|word| !is_told(word)).for_each(|word| stage.found().leave(line, &bare(word), OF_BUILD));
        }
        if step.runs.is_none() && words.is_empty() {
            before.iter().for_each(|(name, _)| self.put(name, None));
        }
        let count = self.taken();
        match text {
            Some(text) => {
                let environment = self.environment_of(&filled.words, line);
                self.within(&text, line, environment);
            }
            None if program(&filled.words).is_none() => {
                self.makes(&filled.words, writes, line);
                self.installed(&filled, &shown, line);
            }
            None => self.installed(&filled, &shown, line),
        }
        let is_more = self.taken() > count && step.runs.is_none() && !step.condition.is_empty();
        if let Some(stage) = self.stages.last_mut().filter(|_| is_more) {
            let why = format!("taken without its condition: whether `{}` holds is not in this file", step.condition);
            stage.found().leave(line, &shown, why);
        }
        before
    }

    /// Tells of what a command would install that does not run.
    fn leave_unrun(&mut self, step: &Step<'_>, line: usize) {
        let installs = program(step.words).is_some_and(|(program, _)| program != Program::System);
        if let Some(stage) = self.stages.last_mut().filter(|_| installs || is_of_file(step.words)) {
            let why = match step.is_other {
                true => format!(
                    "another is taken in its place: whether this runs, by `{}`, is not in this file",
                    step.condition
                ),
                false => format!("it does not run, by `{}` and the values in this file", step.condition),
            };
            stage.found().leave(line, &shown(step.words), why);
        }
    }

    /// Whether a test of the shell holds, by the values in this file, nothing where these do not say; none for any other
    /// command.
    fn test(&self, words: &[String]) -> Option<Option<bool>> {
        let each: Vec<&str> = words.iter().map(String::as_str).collect();
        let filled = |word: &str| self.filled(word).ok();
        let parts = match each[..] {
            ["!", ..] => return Some(self.test(&words[1..])?.map(|holds| !holds)),
            ["[", ref parts @ .., "]"] | ["[[", ref parts @ .., "]]"] | ["test", ref parts @ ..] => parts,
            ["[" | "[[", ..] => return Some(None),
            [word] => return filled(word)?.parse().ok().map(Some),
            _ => return None,
        };
        Some(match *parts {
            [value] | ["-n", value] => filled(value).map(|value| !value.is_empty()),
            ["-z", value] => filled(value).map(|value| value.is_empty()),
            [left, sign @ ("=" | "==" | "!=" | "-eq" | "-ne"), right] => {
                let is_same = filled(left).zip(filled(right)).and_then(|(left, right)| is_like(&left, &right));
                is_same.map(|is_same| is_same != ["!=", "-ne"].contains(&sign))
            }
            _ => None,
        })
    }
}

/// How many options of RUN stand before its command.
fn options(words: &[String]) -> usize {
    words.iter().take_while(|word| word.starts_with("--")).count()
}

/// Where the loop ends that begins before these commands.
fn ends(commands: &[(usize, Command<'_>)]) -> Option<usize> {
    let mut open = 0_usize;
    for (at, (_, one)) in commands.iter().enumerate().take(MOST_TURNS) {
        match one.words.iter().find(|word| !KEYWORDS.contains(&word.as_str())).map(String::as_str) {
            Some(word) if LOOPS.contains(&word) => open += 1,
            Some("done") if open == 0 => return Some(at),
            Some("done") => open -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a text is what a pattern with one `*` at its ends stands for; nothing of other patterns.
fn is_like(text: &str, pattern: &str) -> Option<bool> {
    let inner = pattern.trim_matches('*');
    match (pattern.starts_with('*'), pattern.ends_with('*')) {
        _ if inner.contains(['*', '?', '[']) => None,
        (false, false) => Some(text == pattern),
        (false, true) => Some(text.starts_with(inner)),
        (true, false) => Some(text.ends_with(inner)),
        (true, true) => Some(text.contains(inner)),
    }
}
