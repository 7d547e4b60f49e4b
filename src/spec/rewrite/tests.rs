//! Tests of `spec::rewrite`.

use super::*;

const SPEC: &str = "# about us\r\n[stack] # what\r\ntorch   =   '2.4.1+cu124'   # pinned, see ticket\r\n\
                    python = \"3.11\"\r\n\r\n# the hosts\r\n[target.prod]\r\ngpu = [\"H100 NVL\",\r\n  \"L4\"]\r\n\
                    # old driver\r\ndriver = \"525.60.13\" # for now\r\n\r\n# end\r\n";

fn changed(source: &str, key: &str, value: Option<&str>) -> String {
    rewrite(source, &[(key.to_string(), value.map(str::to_string))]).unwrap()
}

#[test]
fn a_new_value_stands_where_the_old_one_stood() {
    let text = changed(SPEC, "stack.torch", Some("2.5.1+cu124"));
    assert_eq!(text, SPEC.replace("2.4.1+cu124", "2.5.1+cu124"));
    let text = changed(SPEC, "target.prod.driver", Some(">=570.26"));
    assert_eq!(text, SPEC.replace("525.60.13", ">=570.26"));
}

#[test]
fn a_removed_key_takes_its_line_and_nothing_else() {
    let text = changed(SPEC, "target.prod.driver", None);
    assert_eq!(text, SPEC.replace("driver = \"525.60.13\" # for now\r\n", ""));
    assert!(text.contains("# old driver"));
}

#[test]
fn a_new_key_stands_in_its_table_and_a_new_table_at_the_end() {
    let text = changed(SPEC, "target.prod.forward-compat", Some("never"));
    assert!(text.contains("# for now\r\nforward-compat = \"never\"\r\n\r\n# end\r\n"), "{text}");
    assert!(text.starts_with("# about us\r\n[stack] # what\r\ntorch   =   '2.4.1+cu124'   # pinned"), "{text}");
    let text = changed(SPEC, "resolve.share", Some("versions"));
    assert!(text.contains("[resolve]\r\nshare = \"versions\"\r\n"), "{text}");
    assert!(text.contains("# end") && !text.replace("\r\n", "").contains('\n'), "{text:?}");
}

#[test]
fn braces_and_dots_are_tables_too() {
    let source = "stack.torch = \"2.4\"\nstack.python = '3.11'\n[target]\na = { gpu = 'L4', driver = '525.60.13' }\n";
    let text = changed(source, "target.a.driver", Some("570.26"));
    assert_eq!(text, source.replace("525.60.13", "570.26"));
    let text = changed(source, "target.a.driver", None);
    assert_eq!(text, source.replace(", driver = '525.60.13'", ""));
    assert_eq!(changed(source, "stack.python", None), source.replace("stack.python = '3.11'\n", ""));
    let text = changed(source, "target.a.os", Some("ubuntu22.04"));
    assert!(text.contains("os = \"ubuntu22.04\""), "{text}");
}

#[test]
fn a_switch_that_is_written_is_changed_in_place() {
    let source = "[stack]\ntorch = \"2.4\"\n[target.a]\ngpu = \"L4\"\nforward-compat = \"never\" # why\n";
    assert_eq!(changed(source, "target.a.forward-compat", Some("auto")), source.replace("never", "auto"));
    let list = "[stack]\ntorch = \"2.4\"\n[build]\n[target.a]\ntoolkit = [\"11.8\"] # there\n";
    assert_eq!(changed(list, "target.a.toolkit", Some("[\"12.4\"]")), list.replace("11.8", "12.4"));
}

#[test]
fn extras_are_text_wherever_they_are_written() {
    let head = "[stack]\ntorch = \"2.4\"\n[packages]\n";
    let tail = "[target.a]\ngpu = \"L4\"\n";
    let lines =
        [("transformers = '>=4.50' # why", "'"), ("transformers = \"*\"", "\""), ("transformers=\"[torch]\"", "\"")];
    for (line, quote) in lines {
        let source = format!("{head}{line}\n{tail}");
        let text = changed(&source, "packages.transformers", Some("[torch]>=4.50,<5"));
        assert!(text.contains(&format!("{quote}[torch]>=4.50,<5{quote}")), "{text}");
    }
}
