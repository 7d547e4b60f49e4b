//! Logs of records, and texts that only look like them.

use super::*;

#[test]
fn the_message_is_taken_out_of_each_record() {
    let message = "ld: cannot find\n-lcudart";
    for records in [
        "{\"ts\": 1, \"level\": \"error\", \"msg\": \"ld: cannot find\"}\n{\"ts\": 2, \"msg\": \"-lcudart\\n\"}",
        "build\tRun tests\t\u{feff}2025-03-18T00:00:52.0131040Z ld: cannot find\nbuild\tRun tests\t2025-03-18T00:00:52.0131040Z -lcudart",
        "   9  ld: cannot find\n  10  -lcudart",
        "9:ld: cannot find\n10:-lcudart",
    ] {
        let told: Vec<String> = messages(records).lines().map(|line| line.trim_start().to_string()).collect();
        assert_eq!(told.join("\n"), message, "{records}");
    }
}

#[test]
fn numbers_of_any_size_are_read() {
    let error = "CUDA error: no kernel image is available for execution on the device";
    // -1, as exit codes and counters of errors show it, and what is too great to be followed by another.
    for alone in [format!("4294967295\n{error}"), format!("{}:a\n{}:{error}", u64::MAX - 1, u64::MAX)] {
        assert_eq!(messages(&alone), alone);
    }
    assert_eq!(messages(&format!("4294967295:a\n4294967296:{error}")), format!("a\n{error}"));
}

#[test]
fn an_error_beside_the_message_is_kept() {
    let record = "{\"level\": \"error\", \"msg\": \"failed\", \"error\": \"nvml: mismatch\"}";
    assert_eq!(messages(record), "failed\nnvml: mismatch");
}

#[test]
fn other_texts_stay_as_they_are() {
    for text in [
        "{\"msg\": \"one\"}\nTraceback",
        "{\"msg\": \"no log\"}",
        "{\"ts\": 1, \"msg\": \"failed\", \"error\": {\"cause\": \"driver/library version mismatch\"}}",
        "1 GPU\n3 nodes",
        "12.4\n13.0",
        "a\tb\tc d\ne\tf\tg h",
        "",
    ] {
        assert_eq!(messages(text), text);
    }
}
