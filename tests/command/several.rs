//! Several targets in one file: what holds of each holds whatever stands beside it, whatever they are called, and is said of
//! each.

use crate::common::sandbox::Sandbox;

fn lock_of(place: &Sandbox) -> String {
    std::fs::read_to_string(place.path("gpuenv.lock")).unwrap()
}

/// To the solver images that nobody has read are all one.
#[test]
fn each_target_has_the_image_that_it_names() {
    let unknown = ["ghcr.io/me/one:1", "ghcr.io/me/two:2"].map(|image| format!("image = \"{image}\"\n"));
    let of_nvidia =
        ["25.98", "25.99"].map(|tag| format!("image = \"nvcr.io/nvidia/pytorch:{tag}-py3\"\nimage-requires = \"\"\n"));
    for (at, images) in [unknown, of_nvidia].iter().enumerate() {
        let target =
            |name: &str, image: &str| format!("[target.{name}]\ngpu = \"RTX 3090\"\ndriver = \"550\"\n{image}");
        let targets = [target("a", &images[0]), target("b", &images[1])].concat();
        let place = Sandbox::new(&format!("named-{at}"), &format!("[stack]\ntorch = \"2.6.0\"\n{targets}"));
        let ran = place.run(&["lock"]).exits(0);
        for (name, image) in ["a", "b"].iter().zip(images) {
            let image = image.split('"').nth(1).unwrap();
            assert!(lock_of(&place).contains(&format!("target.{name}.image = \"{image}\"\n")), "{}", lock_of(&place));
            place.run(&["export", "dockerfile", "--target", name]).exits(0).tells(&format!("FROM {image}"));
            let torches = ran.err.matches("warning[two-torches]: ").count();
            assert!(torches == if at == 1 { 2 } else { 0 }, "{}", ran.err);
        }
    }
    // What the catalog knows is still one choice for all.
    let known = "gpu = \"RTX 3090\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"\n";
    let spec = format!("[stack]\ntorch = \"2.6.0\"\n[target.a]\n{known}[target.b]\n{known}");
    let place = Sandbox::new("named-known", &spec);
    place.run(&["lock"]).exits(0);
    assert_eq!(lock_of(&place).matches(".image = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"\n").count(), 2);
}
