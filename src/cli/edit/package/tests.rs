//! Tests of `cli::edit::package`.

use super::*;

#[test]
fn packages_are_read_as_they_are_typed() {
    for (word, name, constraint) in [
        ("torch", "torch", "*"),
        ("torch>=2.4,<2.8", "torch", ">=2.4,<2.8"),
        ("torch >= 2.4", "torch", ">= 2.4"),
        ("torch==2.5.1+cu124", "torch", "2.5.1+cu124"),
        ("torch+cu118", "torch", "+cu118"),
        ("Flash_Attn~=2.7", "flash-attn", "~=2.7"),
        ("python==3.11", "python", "3.11"),
        ("torch==2.4||==2.5", "torch", "==2.4||==2.5"),
    ] {
        let read = of_stack(word).unwrap_or_else(|failure| panic!("{word}: {failure:?}"));
        assert_eq!(read, (name.to_string(), constraint.to_string()), "{word}");
    }
}

#[test]
fn an_ordinary_package_is_written_as_pip_takes_it() {
    for (word, specifier) in [
        ("transformers", "*"),
        ("transformers>=4.50", ">=4.50"),
        ("transformers==4.50.1", "==4.50.1"),
        ("datasets[audio] >= 3", "[audio] >= 3"),
    ] {
        let (table, _, read) = read(word, |_| Table::Packages).unwrap_or_else(|failure| panic!("{word}: {failure:?}"));
        assert_eq!((table, &*read), (Table::Packages, specifier), "{word}");
    }
    for word in ["transformers=4", "transformers@4", "transformers>=4; python_version < '3.9'"] {
        assert_eq!(read(word, |_| Table::Packages).expect_err(word).exit, Exit::BadInput, "{word}");
    }
}

#[test]
fn what_others_write_is_told_in_our_spelling() {
    for (word, help) in [
        ("torch@2.5", "write `torch==2.5`"),
        ("torch=2.5", "write `torch==2.5`"),
        ("torch:2.5", "write `torch==2.5`"),
        ("torch 2.5", "write `torch==2.5`"),
        ("torch===2.5", "write `torch==2.5`"),
        ("torch@latest", "`torch` for any version"),
        ("jax[cuda12]", "without the extra"),
        ("torch>=2; python_version < '3.9'", "behind `;`"),
        (">=2.4", "write a package"),
        ("torch>=", "write"),
        ("pytorch", "torch"),
        ("driver>=535", "[target.NAME]"),
        ("torch>=2.5+cu124", "write"),
    ] {
        let failure = read(word, |_| Table::Stack).expect_err(word);
        let told = failure.problems.iter().map(|one| format!("{} {:?}", one.message, one.help)).collect::<String>();
        assert!(failure.exit == Exit::BadInput && told.contains(help), "{word}: {told}");
    }
}
