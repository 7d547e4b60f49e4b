//! The command: run, print, exit code.
use gpuenv::{
    catalog::BUILTIN,
    explain,
    solve::{plan::Locked, question::Question, resolve::*, rulebook::RuleBook, world::Steps},
    spec,
};
fn main() {
    let text = std::fs::read_to_string("gpuenv.toml").unwrap();
    let spec = match spec::parse(&text) {
        Ok(s) => s,
        Err(e) => {
            println!("{}", serde_json::json!({"status":"error","error":format!("{e:?}")}));
            std::process::exit(2)
        }
    };
    let rules = RuleBook::new(&BUILTIN);
    let (q, w) = match Question::new(&spec, &BUILTIN, &rules) {
        Ok(q) => q,
        Err(e) => {
            println!("{}", serde_json::json!({"status":"error","error":format!("{e:?}")}));
            std::process::exit(2)
        }
    };
    let steps = Steps::new(1_000_000);
    match resolve(&q, &Locked::new(), &steps) {
        Resolution::Answer(a) => {
            let t: serde_json::Map<String, serde_json::Value> = a.targets.iter().map(|t| (t.name.clone(), serde_json::json!({
                "stack": t.stack(), "gpus": t.gpus.iter().map(|g| format!("{} {} {:?}", g.name, g.cc, g.coverage)).collect::<Vec<_>>(),
                "driver": t.driver.as_ref().map(|d| format!("{} min {:?} {}", d.version, t.minimum, t.mode())),
                "image": t.image.map(|i| i.tag.to_string()), "rimage": t.runtime_image.map(|i| i.tag.to_string()),
                "toolkit": t.toolkit.map(|i| i.version.to_string()), "arch": t.arch_list.as_ref().map(|a| a.torch()), "wheels": format!("{:?}", t.wheels())}))).collect();
            println!(
                "{}",
                serde_json::json!({"status":"ok","targets":t,"warnings":w.iter().map(|w|w.message.clone()).collect::<Vec<_>>(), "steps": steps.taken()})
            );
        }
        Resolution::Conflict => {
            let e = explain::conflicts(&spec, &BUILTIN, &rules, &steps).unwrap();
            println!("{}", serde_json::to_string(&serde_json::json!({"status":"conflict","culprits":e.conflicts[0].culprits,"explanation":e.conflicts[0].explanation,
              "alternatives": e.alternatives, "conflicts": e.conflicts.iter().map(|c| &c.culprits).collect::<Vec<_>>(),
              "fixes": e.fixes.iter().map(|f| serde_json::json!({"changes": f.changes.iter().map(|c| serde_json::json!({"key":c.key,"from":c.from,"to":c.to})).collect::<Vec<_>>(), "stack": f.stack})).collect::<Vec<_>>(), "steps": steps.taken()})).unwrap());
        }
        Resolution::GaveUp => println!("{{\"status\":\"gaveup\"}}"),
    }
}
