//! Tests of `types::toml_memory`.

use super::*;

/// What each took of a program that read a hundred thousand of them, more or less.
#[test]
fn what_is_counted_is_no_less_than_what_reading_takes() {
    let many = |part: &str| part.repeat(1000);
    let numbered = |part: &str| (0..1000).map(|at| part.replace('#', &at.to_string())).collect::<String>();
    for (text, took) in [
        (format!("x = [{}]", many("{a=1},")), 1260),
        (format!("x = [{}]", many("{a.b=1},")), 2320),
        (format!("x = [{}]", many("{a.b.c=1},")), 3345),
        (format!("x = [{}]", many("[[[[[[]]]]]],")), 1645),
        (format!("x = [{}]", many("[],")), 163),
        (format!("x = [{}]", many("1,")), 141),
        (format!("x = [{}]", many("\"abcdefghi\",")), 154),
        (many("[[a]]\nb=1\n"), 1385),
        (numbered("[a#]\n"), 338),
        (numbered("[a#]\nb=1\n"), 1453),
        (numbered("[a.b#]\nc=1\n"), 1460),
        (numbered("a#=1\n"), 345),
        (numbered("a.b#=1\n"), 440),
        (numbered("a#.b=1\n"), 1390),
        (numbered("a#.b.c.d=1\n"), 3470),
        (many("#\n"), 88),
        (many("\n"), 44),
        (format!("x = [\"\"\" \" ' \"\"\", {}]", many("{},")), 200),
        (format!("x = ['\"', {}]", many("{},")), 200),
        (format!("x = [{{\n{}", many("a.b=1},{\n")), 2320),
    ] {
        let counted = memory(&text) / 1000;
        assert!(counted >= took, "{counted} for {took}: {}", &text[..30]);
    }
}

#[test]
fn long_strings_and_keys_of_one_table_weigh_little() {
    let address = "a = \"https://a.example/{b}/[c].d.e.f.g.whl\"\n";
    assert!(memory(&address.repeat(100)) < 60_000);
    assert!(memory(&"target.prod.driver.a = 1\ntarget.prod.driver.b = 1\n".repeat(100)) < 160_000);
    assert!(memory(&"# It is {as} [it] is, a.b.c.\n".repeat(100)) < 15_000);
    assert!(memory(&"[[retract]]\n".repeat(300_000)) < MOST);
    let spec: String = (0..10_000).map(|at| format!("[target.t{at}]\ngpu = \"T4\"\n")).collect();
    assert!(memory(&spec) < MOST / 4, "{}", memory(&spec));
}
