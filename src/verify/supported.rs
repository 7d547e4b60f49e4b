//! Whether the lock holds code for a GPU, whichever of its kind it is, and what that means for one that the judged target
//! does not name.

use std::cell::OnceCell;

use crate::catalog::FullRow;
use crate::coverage::{Coverage, covers, covers_targets};
use crate::lock::GpuLock;
use crate::types::{ArchList, Cc};

use super::check::{Action, Check};
use super::context::{CheckContext, held_code};
use super::families::in_words;
use super::seen::Seen;

/// The builds of the lock, read when the first GPU needs them.
pub(super) type Builds<'a> = OnceCell<Vec<(&'a str, &'a str, &'a FullRow)>>;

/// What a job does with a GPU that is only in the machine beside those it is for.
pub(super) const LEAVE_OUT: &str = "leave it out of CUDA_VISIBLE_DEVICES";

/// Whether the lock holds code for a GPU.
pub(super) fn supported<'a>(context: &CheckContext<'a>, gpu: &Seen<'_>, builds: &Builds<'a>) -> Check {
    let check = Check::new("gpu-supported");
    let list = context.arch_list();
    let check = check.expected(match (&list, context.target.gpu.as_slice()) {
        (_, []) => list.as_ref().map_or("a GPU".to_string(), |list| format!("a GPU that {} covers", list.torch())),
        (_, locked) => in_words(locked),
    });
    let Some(cc) = gpu.cc else {
        let cut = "its name is cut off, and GPUs whose names begin so differ in what code they run";
        return match gpu.cut_off {
            Some(false) if context.gpus.has_sound => check.warn(
                Action::None,
                format!("its name is cut off, and the lock names none that begins so: {LEAVE_OUT}"),
            ),
            Some(_) => check.unknown(Action::None, format!("{cut}: add the output of `nvidia-smi -L`")),
            None => check.unknown(Action::None, "its compute capability is not known"),
        };
    };
    let check = check.found(format!("{} ({cc})", gpu.name.unwrap_or("GPU")));
    if let Some(named) = gpu.named {
        if Cc::parse(&named.compute_capability).is_ok_and(|locked| locked != cc) {
            let hint = format!(
                "the lock holds {} as {}; the driver says {cc}: see what stands between",
                named.name, named.compute_capability
            );
            return check.fail(Action::AskAdmin, hint);
        }
        return check.pass();
    }
    let unnamed = Unnamed { context, gpu, cc };
    let held = held(context, cc, builds);
    let Some(list) = list else { return unnamed.by_builds(check, held) };
    if context.is_beside(gpu) {
        return unnamed.beside(check, &list, held);
    }
    let held = match held {
        Ok(held) => held,
        Err(lacking) => return unnamed.without_code(check, &lacking),
    };
    let (whose, relock) = (unnamed.whose(), unnamed.relock());
    match covers(&list, cc, context.tegra()) {
        Coverage::Native => check
            .warn(Action::None, format!("{whose}, but its code ({}) runs on it: {relock} to be sure", list.torch())),
        Coverage::Jit => check.warn(
            Action::ChangeLock,
            format!("{whose}, and its driver would have to compile the lock's PTX for it: {relock} to be sure"),
        ),
        Coverage::None => check.fail(Action::ChangeLock, unnamed.uncovered(&list, &held)),
    }
}

/// A GPU that the judged target does not name.
struct Unnamed<'c, 'a, 's> {
    context: &'c CheckContext<'a>,
    gpu: &'c Seen<'s>,
    cc: Cc,
}

/// The locked builds of which it is known that they hold code for a GPU; else the first that does not, with the code that
/// it has.
type Held = Result<Vec<String>, (String, String)>;

impl Unnamed<'_, '_, '_> {
    /// Another target of the lock that names it.
    fn other(&self) -> Option<&str> {
        let plain =
            |name: &str| name.get(..7).filter(|start| start.eq_ignore_ascii_case("nvidia ")).map_or(0, str::len);
        let bare = format!("sm_{}", self.cc.number());
        let names = |locked: &GpuLock| {
            let is_called = |name: &str| {
                let name = name.split(" MIG ").next().unwrap_or(name).trim();
                locked.name[plain(&locked.name)..].eq_ignore_ascii_case(&name[plain(name)..])
            };
            self.gpu.name.is_some_and(is_called) || locked.name.eq_ignore_ascii_case(&bare)
        };
        let mut others = self.context.lock.target.iter().filter(|(name, _)| *name != self.context.name);
        others.find(|(_, target)| target.gpu.iter().any(names)).map(|(name, _)| name.as_str())
    }

    /// Who does not name it: `the lock does not name this GPU`.
    fn whose(&self) -> String {
        match self.other() {
            Some(other) => format!("target `{other}` names this GPU, `{}` does not", self.context.name),
            None => "the lock does not name this GPU".to_string(),
        }
    }

    /// How a user gets it into the lock.
    fn relock(&self) -> String {
        match self.context.lock.target.len() {
            1 => "name it in gpuenv.toml and lock again".to_string(),
            _ => format!("name it under [target.{}] and lock again", self.context.name),
        }
    }

    /// One that is only in the machine beside those that the target names. It is told by the code of the locked builds,
    /// as a GPU that stands alone: the list of architectures is that of the named GPUs, which the builds may exceed.
    fn beside(&self, check: Check, list: &ArchList, held: Held) -> Check {
        let number = self.cc.number();
        let whose = self.whose();
        if self.other().is_some() {
            return check.warn(Action::None, format!("{whose}: in jobs of `{}` {LEAVE_OUT}", self.context.name));
        }
        match held {
            Err((build, codes)) => {
                let hint = format!("the locked {build} holds no code for sm_{number}, and {whose}: {LEAVE_OUT}");
                check.evidence(Some(codes)).warn(Action::None, hint)
            }
            Ok(held) if held.is_empty() => check.warn(
                Action::None,
                format!("{whose}, and holds no code of its own for it ({}): {LEAVE_OUT}", list.torch()),
            ),
            Ok(held) => check.warn(
                Action::None,
                format!(
                    "{whose}, though {} holds code for sm_{number}: {LEAVE_OUT}, or {}",
                    held.join(", "),
                    self.relock()
                ),
            ),
        }
    }

    /// Why a list of architectures does not reach a GPU: what is compiled for the lock leaves it out, whatever the locked
    /// wheels hold.
    fn uncovered(&self, list: &ArchList, held: &[String]) -> String {
        let (number, listed) = (self.cc.number(), list.torch());
        let relock = "name this GPU in gpuenv.toml and lock again";
        match held {
            [] => format!("no code for sm_{number} in the lock ({listed}): {relock}"),
            _ => format!(
                "the lock is for other GPUs ({listed}), though {} holds code for sm_{number}: {relock}",
                held.join(", ")
            ),
        }
    }

    /// A locked build that holds no code for a GPU, whatever a list of architectures says: nothing of it runs there.
    fn without_code(&self, check: Check, (build, codes): &(String, String)) -> Check {
        let number = self.cc.number();
        let hint =
            format!("the locked {build} holds no code for sm_{number}: name this GPU in gpuenv.toml and lock again");
        check.evidence(Some(codes.as_str())).fail(Action::ChangeLock, hint)
    }

    /// A lock that names no GPU holds the code of its builds.
    fn by_builds(&self, check: Check, held: Held) -> Check {
        let known = match held {
            Ok(held) => held,
            Err(lacking) => return self.without_code(check, &lacking),
        };
        let whose = self.whose();
        let says = match known.is_empty() {
            true => format!("{whose}, nor the code that it holds"),
            false => format!("{whose}, but {} holds code for it", known.join(", ")),
        };
        check.warn(Action::ChangeLock, format!("{says}: {}", self.relock()))
    }
}

/// What the locked builds hold for a GPU.
fn held<'a>(context: &CheckContext<'a>, cc: Cc, builds: &Builds<'a>) -> Held {
    let mut known = Vec::new();
    for (package, version, row) in builds.get_or_init(|| context.builds()) {
        let (sass, ptx) = held_code(row);
        if sass.is_empty() && ptx.is_empty() {
            continue;
        }
        let codes: Vec<String> = sass.iter().map(|code| format!("sm_{}", code.code())).collect();
        let build = format!("{package} {version}");
        if covers_targets(sass, ptx, cc, context.tegra()) == Coverage::None {
            return Err((build, codes.join(" ")));
        }
        known.push(build);
    }
    Ok(known)
}
