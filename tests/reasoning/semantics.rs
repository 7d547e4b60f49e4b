//! What the words of gpuenv.toml mean, one test for each promise, asked of the real catalog.

use crate::common::solver::{Outcome, Short, culprits, fixes, lock, warned};

const A100: &str = "gpu = \"A100-PCIE-40GB\"";

/// A spec with one target.
fn one(stack: &str, target: &str) -> String {
    format!("[stack]\n{stack}\n[target.t]\n{target}\n")
}

/// A spec with one target and something compiled.
fn built(stack: &str, build: &str, target: &str) -> String {
    format!("{}[build]\n{build}\n", one(stack, target))
}

fn torch(version: &str, target: &str) -> Outcome {
    lock(&one(&format!("torch = \"{version}\""), target))
}

/// The torch chosen for an A100 with some driver, or `-` if there is none without forward compatibility.
fn torch_on(version: &str, driver: &str) -> (String, String, &'static str) {
    match torch(version, &format!("{A100}\ndriver = \"{driver}\"\nforward-compat = \"never\"")) {
        Outcome::Conflict | Outcome::Undetermined => ("-".into(), String::new(), ""),
        other => {
            let target = other.target();
            (target.has("torch"), target.minimum(), target.mode().as_str())
        }
    }
}

mod story {
    use super::*;

    #[test]
    fn the_cu102_build_clashes_with_the_a100() {
        let spec = one("torch = \"1.12.1+cu102\"", &format!("{A100}\ndriver = \"460.32.03\""));
        assert!(lock(&spec).is_conflict());
        assert_eq!(culprits(&spec), ["stack.torch", "target.t.gpu"]);
    }

    #[test]
    fn a_cu11_build_runs_on_that_very_driver() {
        let (torch, minimum, mode) = torch_on("1.12.1", "460.32.03");
        assert_eq!((torch.as_str(), minimum.as_str(), mode), ("1.12.1+cu113", "450.80.02", "minor-version"));
    }

    #[test]
    fn a_withdrawn_base_image_is_the_only_culprit() {
        let target = |tag: &str| format!("{A100}\ndriver = \"460.32.03\"\nimage = \"nvidia/cuda:{tag}\"");
        let spec = one("torch = \"1.12.1\"", &target("10.2-base-ubuntu18.04"));
        assert!(lock(&spec).is_conflict());
        assert_eq!(culprits(&spec), ["target.t.image"]);
        assert_eq!(torch("1.12.1", &target("11.2.2-base-ubuntu20.04")).target().has("torch"), "1.12.1+cu113");
    }
}

mod drivers {
    use super::*;

    #[test]
    fn an_exact_driver_is_the_host_as_it_is() {
        for (driver, torch) in [("525.60.13", "2.5.1+cu124"), ("525.60.11", "2.5.1+cu118"), ("450.66", "-")] {
            assert_eq!(torch_on("2.5.1", driver).0, torch, "{driver}");
        }
    }

    #[test]
    fn a_branch_or_lower_bound_is_the_oldest_branch_admitted() {
        for (driver, torch, minimum) in [
            ("525", "2.5.1+cu124", "525.60.13"),
            (">=525", "2.5.1+cu124", "525.60.13"),
            (">=515", "2.5.1+cu118", "450.80.02"),
            ("470", "2.5.1+cu118", "450.80.02"),
            ("450", "2.5.1+cu118", "450.80.02"),
            (">=516,<530", "2.5.1+cu118", "450.80.02"),
            ("535 || 470", "2.5.1+cu118", "450.80.02"),
            ("440", "-", ""),
        ] {
            let (got, stated, _) = torch_on("2.5.1", driver);
            assert_eq!((got.as_str(), stated.as_str()), (torch, minimum), "{driver}");
        }
    }

    #[test]
    fn an_upper_bound_or_nothing_is_free() {
        for (driver, torch) in [("<=525", "2.5.1+cu124"), ("<525", "2.5.1+cu118"), ("<450", "-"), ("*", "2.5.1+cu124")]
        {
            assert_eq!(torch_on("2.5.1", driver).0, torch, "{driver}");
        }
        let target = torch("2.5.1", A100).target();
        assert_eq!((target.minimum().as_str(), target.mode().as_str()), ("525.60.13", "minor-version"));
    }

    #[test]
    fn a_host_the_catalog_does_not_list_is_judged_by_position() {
        assert_eq!(torch_on("2.5.1+cu124", "525.60.14").0, "2.5.1+cu124");
        assert_eq!(torch_on("2.5.1+cu124", "525.60.12").0, "-");
        assert_eq!(torch_on("2.5.1+cu124", "540.1").0, "2.5.1+cu124");
        let far = torch("*", &format!("{A100}\ndriver = \"999.1\""));
        assert_eq!(far.remarks(), ["driver-not-listed"]);
        far.target();
    }

    #[test]
    fn a_branch_the_catalog_does_not_list_is_remarked_on() {
        for driver in ["541", ">=999"] {
            assert_eq!(torch("2.5.1", &format!("{A100}\ndriver = \"{driver}\"")).remarks(), ["driver-not-listed"]);
        }
    }

    #[test]
    fn the_minimum_is_never_above_the_hosts() {
        for gpu in ["H100 NVL", "A100", "H100", "L40S", "H200"] {
            for driver in ["525.60.13", "470.57.02", "<=525", "525", "550.54.15"] {
                let asked = torch("2.5.1", &format!("gpu = \"{gpu}\"\ndriver = \"{driver}\""));
                let Outcome::Solution(answer, _) = asked else { continue };
                let target = &answer.targets[0];
                let (minimum, judged) = (target.minimum.as_ref().unwrap(), &target.driver.as_ref().unwrap().version);
                assert!(minimum <= judged, "{gpu} {driver}: {minimum} > {judged}");
            }
        }
        assert_eq!(torch("2.5.1", "gpu = \"H100 NVL\"\ndriver = \"525.116.03\"").target().minimum(), "525.60.13");
    }

    #[test]
    fn a_family_does_not_ask_for_the_driver_of_its_rarest_member() {
        assert_eq!(torch("2.5.1+cu118", "gpu = \"A100\"").target().minimum(), "450.80.02");
        assert_eq!(torch("2.5.1+cu124", "gpu = \"H100\"").target().minimum(), "525.60.13");
    }

    #[test]
    fn the_cuda_version_of_nvidia_smi_is_the_oldest_branch_that_shows_it() {
        let on = |cuda: &str| torch("2.5.1", &format!("gpu = \"RTX 3090\"\ndriver-cuda = \"{cuda}\""));
        assert_eq!(on("12.2").target().has("torch"), "2.5.1+cu124");
        assert_eq!(on("12.0").target().has("torch"), "2.5.1+cu124");
        assert_eq!(on("11.8").target().has("torch"), "2.5.1+cu118");
        assert_eq!(on("11.9").target().has("torch"), "2.5.1+cu118", "no branch shows 11.9: never rounded up");
        assert_eq!(on("99.0").remarks(), ["newer-than-catalog"]);
        assert!(on("10.2").is_conflict());
    }

    #[test]
    fn a_branch_that_dropped_the_gpu_is_no_driver_for_it() {
        let spec = |driver: &str| one("torch = \"2.5.1\"", &format!("gpu = \"V100\"\ndriver = \"{driver}\""));
        assert_eq!(lock(&spec("580.65.06")).target().mode().as_str(), "native");
        assert!(lock(&spec("590.48.01")).is_conflict());
        assert_eq!(culprits(&spec("590.48.01")), ["target.t.gpu", "target.t.driver"]);
    }

    #[test]
    fn a_driver_that_does_not_know_the_generation_yet_is_none() {
        for (gpu, driver) in [("RTX 5090", "565.77"), ("H100 PCIe", "510.108.03"), ("RTX 4090", "515.105.01")] {
            let spec = one("torch = \"*\"", &format!("gpu = \"{gpu}\"\ndriver = \"{driver}\""));
            assert!(lock(&spec).is_conflict(), "{gpu} {driver}");
            assert_eq!(culprits(&spec), ["target.t.gpu", "target.t.driver"], "{gpu} {driver}");
        }
    }

    #[test]
    fn the_mode_is_the_weakest_mechanism_that_suffices() {
        for (version, driver, mode) in [
            ("2.5.1+cu124", "550.54.15", "native"),
            ("2.5.1+cu124", "535.183.01", "minor-version"),
            ("2.5.1+cu118", "535.183.01", "native"),
            ("2.5.1+cu118", "470.57.02", "minor-version"),
            ("1.12.1+cu113", "450.80.02", "minor-version"),
        ] {
            assert_eq!(torch_on(version, driver).2, mode, "{version} on {driver}");
        }
    }

    #[test]
    fn before_cuda_11_minors_are_not_compatible() {
        let on = |driver: &str| {
            torch("1.8.1+cu102", &format!("gpu = \"V100\"\ndriver = \"{driver}\"\nforward-compat = \"never\""))
        };
        assert!(on("418.226.00").is_conflict());
        assert_eq!(on("440.33.01").target().mode().as_str(), "native");
    }
}

mod lines {
    use super::*;

    fn line(cuda: &str, build: bool) -> Outcome {
        let stack = format!("torch = \"2.5.1\"\ncuda = \"{cuda}\"");
        lock(&if build { built(&stack, "", A100) } else { one(&stack, A100) })
    }

    #[test]
    fn two_components_constrain_the_wheels_line() {
        for (cuda, torch) in [
            ("12", "2.5.1+cu124"),
            ("12.1", "2.5.1+cu121"),
            ("11", "2.5.1+cu118"),
            ("<=12.1", "2.5.1+cu121"),
            ("11.8 || 12.1", "2.5.1+cu121"),
            (">=12.1,<12.4", "2.5.1+cu121"),
        ] {
            assert_eq!(line(cuda, false).target().has("torch"), torch, "{cuda}");
        }
        assert!(line("12.6", false).is_conflict());
    }

    #[test]
    fn a_third_component_constrains_toolkit_and_image_only() {
        // The cu121 wheels carry 12.1.1.
        let plain = line("12.1.0", false).target();
        assert_eq!((plain.has("torch").as_str(), plain.has("cuda").as_str()), ("2.5.1+cu121", "12.1.1"));
        let compiled = line("12.1.0", true).target();
        assert_eq!((compiled.has("torch").as_str(), compiled.has("cuda").as_str()), ("2.5.1+cu121", "12.1.0"));
        let image = lock(&one("torch = \"2.5.1\"\ncuda = \"12.4.0\"", &format!("{A100}\nimage = \"nvidia/cuda\"")));
        let image = image.target();
        assert_eq!((image.tag().as_str(), image.has("cuda").as_str()), ("12.4.0-base-ubuntu22.04", "12.4.0"));
        // Of what is left open too: this jax asks for cuBLAS of 12.6.3 or newer, which is of the line.
        for (cuda, pieces) in [("12.6.1", "12.6.3"), ("12.6", "12.6.3"), ("12.8.0", "12.8.0"), ("12.8", "12.8.2")] {
            let open = lock(&one(&format!("jax = \"0.7.0\"\ncuda = \"{cuda}\""), A100)).target();
            assert_eq!(open.has("cuda"), pieces, "{cuda}");
        }
    }

    #[test]
    fn without_build_the_line_says_nothing_of_toolkits() {
        assert!(line("12.4", false).target().toolkit.is_none());
        assert_eq!(line("12.4", true).target().toolkit.unwrap().version.as_str(), "12.4.1");
        let off = built("torch = \"2.5.1\"", "cuda-extensions = false", A100);
        assert!(lock(&off).target().toolkit.is_none());
    }

    #[test]
    fn a_line_without_any_wheel_is_a_toolkit_of_its_own() {
        let target = lock(&one("cuda = \"12.4\"\ncudnn = \">=9\"\nnccl = \"*\"", A100)).target();
        assert_eq!(target.has("cuda"), "12.4.1");
        assert!(target.has("cudnn").starts_with("9.") && !target.has("nccl").is_empty());
        assert_eq!(target.minimum(), "525.60.13");
    }

    #[test]
    fn without_wheels_libraries_are_those_that_are_there_and_those_that_packages_name() {
        let with = |cudnn: &str| {
            let target = format!("{A100}\ncudnn = \"{cudnn}\"");
            lock(&one("cuda = \"12.4\"\ncudnn = \"*\"", &target)).target().has("cudnn")
        };
        assert_eq!((with("9.1.0").as_str(), with("8.9.7").as_str()), ("9.1.0.70", "8.9.7.29"));
        // What is written of a piece of CUDA binds the line; of the line it is the newest release.
        let beside = |cuda: &str, piece: &str| {
            let packages = format!("[packages]\nnvidia-cublas-cu12 = \"{piece}\"\n");
            lock(&(one(&format!("cuda = \"{cuda}\""), A100) + &packages))
        };
        assert_eq!(beside("*", "==12.4.5.8").target().has("cuda"), "12.4.1");
        assert!(beside("12.6", "==12.4.5.8").is_conflict());
    }

    #[test]
    fn frameworks_that_share_a_cudnn_have_the_one_that_is_pinned() {
        // This torch pins cuDNN 9.1.0, and jax takes any from some release on.
        let both =
            |cudnn: &str| lock(&one(&format!("torch = \"2.5.1+cu124\"\njax = \"*\"\ncudnn = \"{cudnn}\""), A100));
        let target = both("9.1.0").target();
        assert_eq!((target.has("torch").as_str(), target.has("cudnn").as_str()), ("2.5.1+cu124", "9.1.0.70"));
        assert!(both(">=9.2").is_conflict());
    }

    #[test]
    fn cuda_13_has_no_code_for_volta() {
        let spec = one("torch = \"*\"\ncuda = \"13\"", "gpu = \"V100\"");
        assert!(lock(&spec).is_conflict());
        assert_eq!(culprits(&spec), ["stack.cuda", "target.t.gpu"]);
    }

    #[test]
    fn libraries_know_a_generation_from_some_line_on() {
        // Machine code alone would load in each of these.
        for (version, gpu) in [
            ("1.1.0+cu90", "RTX 2080 Ti"),
            ("1.5.1+cu101", "RTX 3090"),
            ("1.13.1+cu117", "H100 PCIe"),
            ("2.6.0+cu126", "RTX 5090"),
        ] {
            let spec = one(&format!("torch = \"{version}\""), &format!("gpu = \"{gpu}\""));
            assert!(lock(&spec).is_conflict(), "{version} on {gpu}");
            assert_eq!(culprits(&spec), ["stack.torch", "target.t.gpu"], "{version} on {gpu}");
        }
        assert_eq!(torch("1.13.1+cu117", "gpu = \"RTX 4090\"").target().coverage(), "native");
    }

    #[test]
    fn cudnn_ends_where_its_code_ends() {
        assert_eq!(torch("2", "gpu = \"Tesla K80\"").target().has("torch"), "2.3.1+cu118");
        assert!(torch("2.4.1+cu118", "gpu = \"Tesla K80\"").is_conflict());
    }
}

mod images {
    use super::*;

    fn image(version: &str, target: &str) -> Outcome {
        torch(version, target)
    }

    #[test]
    fn a_repository_gets_the_smallest_flavour_of_the_stacks_line() {
        let tag = |target: &str| image("2.5.1", &format!("{target}\nimage = \"nvidia/cuda\"")).target().tag();
        assert_eq!(tag(A100), "12.4.1-base-ubuntu22.04");
        assert_eq!(tag(&format!("{A100}\nos = \"rocky8\"")), "12.4.1-base-rockylinux8");
        assert_eq!(tag("gpu = \"GH200 480GB\""), "12.4.1-base-ubuntu22.04");
    }

    #[test]
    fn the_newest_older_image_where_driver_or_brand_refuse() {
        let tag = |driver: &str, gpu: &str| {
            image("2.5.1+cu124", &format!("gpu = \"{gpu}\"\ndriver = \"{driver}\"\nimage = \"nvidia/cuda\""))
                .target()
                .tag()
        };
        assert_eq!(tag("530.41.03", "RTX 3090"), "12.1.1-base-ubuntu22.04");
        assert_eq!(tag("550.54.15", "RTX 3090"), "12.4.1-base-ubuntu22.04");
        let compiled = |gpu: &str| {
            let target = format!("gpu = \"{gpu}\"\ndriver = \"530.41.03\"\nimage = \"nvidia/cuda\"");
            lock(&built("torch = \"2.5.1+cu124\"", "", &target)).target().tag()
        };
        assert_eq!(compiled("RTX 3090"), "12.1.1-devel-ubuntu22.04");
        // Of those that a driver starts by its brand it is the nearest to the wheels, be it of a CUDA that the driver does not know.
        let target = "gpu = \"H100 NVL\"\ndriver = \"525.60.13\"\nimage = \"nvidia/cuda\"";
        assert_eq!(image("2.6.0+cu126", target).target().tag(), "12.4.1-base-ubuntu22.04");
        // Beside wheels that leave their libraries open it is of the CUDA that the driver knows.
        let target = "gpu = \"H100 NVL\"\ndriver = \"550.54.14\"\nimage = \"nvidia/cuda\"";
        assert_eq!(lock(&one("jax = \"0.4.30\"", target)).target().tag(), "12.4.1-base-ubuntu22.04");
    }

    #[test]
    fn a_chosen_image_is_never_newer_than_the_line_without_build() {
        let target = image("*", &format!("{A100}\nimage = \"nvidia/cuda\"\nos = \"ubuntu20.04\"")).target();
        assert_eq!((target.has("torch").as_str(), target.tag().as_str()), ("2.15.0+cu132", "12.9.1-base-ubuntu20.04"));
        let bounded = lock(&one("torch = \"2.5.1+cu118\"", &format!("{A100}\nimage = \"nvidia/cuda\""))).target();
        assert_eq!(bounded.tag(), "11.8.0-base-ubuntu22.04");
    }

    #[test]
    fn requirements_except_data_centre_drivers_by_brand() {
        let on = |gpu: &str, driver: &str, tag: &str| {
            one(
                "torch = \"2.5.1+cu118\"",
                &format!("gpu = \"{gpu}\"\ndriver = \"{driver}\"\nimage = \"nvidia/cuda:{tag}\""),
            )
        };
        let newer = "12.8.1-base-ubuntu22.04";
        assert!(!lock(&on("A100-PCIE-40GB", "535.54.03", newer)).is_conflict());
        for (gpu, driver) in [("RTX 3090", "535.54.03"), ("sm_86", "535.54.03"), ("A100-PCIE-40GB", "530.41.03")] {
            let spec = on(gpu, driver, newer);
            assert!(lock(&spec).is_conflict(), "{gpu} {driver}");
            let blamed = culprits(&spec);
            assert!(
                blamed.contains(&"target.t.image".into()) && blamed.contains(&"target.t.driver".into()),
                "{blamed:?}"
            );
        }
        assert!(!lock(&on("RTX 3090", "570.86.16", newer)).is_conflict());
    }

    #[test]
    fn of_an_unsaid_gpu_the_brand_is_not_checked() {
        let target = image("1.13.1", "driver = \"470.256.02\"\nimage = \"nvidia/cuda:12.1.1-base-ubuntu22.04\"");
        assert_eq!(target.remarks(), ["gpu-not-checked"]);
        assert_eq!(target.target().has("torch"), "1.13.1+cu117");
        let chosen = image("2.5.1", "driver = \"525.116.03\"\nimage = \"nvidia/cuda\"").target();
        assert_eq!(chosen.tag(), "12.4.1-base-ubuntu22.04");
    }

    #[test]
    fn a_tag_that_does_not_exist_is_a_conflict_and_an_unknown_repository_a_remark() {
        let spec = one("torch = \"2.5.1\"", &format!("{A100}\nimage = \"nvidia/cuda:12.4.9-base-ubuntu22.04\""));
        assert_eq!(culprits(&spec), ["target.t.image"]);
        let unknown = image("2.5.1", &format!("{A100}\nimage = \"registry.example.org/team/torch:7\""));
        assert_eq!(unknown.remarks(), ["image-not-checked"]);
        assert_eq!(unknown.target().has("torch"), "2.5.1+cu124");
    }

    #[test]
    fn a_pinned_image_is_refused_only_for_what_stops_it() {
        let pinned = |tag: &str, more: &str| format!("{A100}\nimage = \"nvidia/cuda:{tag}\"\n{more}");
        // Another runtime than the wheel's is no reason.
        assert!(!image("2.5.1+cu124", &pinned("11.8.0-base-ubuntu22.04", "")).is_conflict());
        assert!(!image("2.5.1+cu118", &pinned("12.9.1-cudnn-devel-ubuntu22.04", "")).is_conflict());
        for (spec, blamed) in [
            (
                one("torch = \"2.5.1\"", &pinned("12.4.1-base-ubuntu22.04", "os = \"ubuntu20.04\"")),
                vec!["target.t.image", "target.t.os"],
            ),
            (
                one("torch = \"2.5.1\"", "gpu = \"GH200 480GB\"\nimage = \"nvidia/cuda:12.4.0-base-centos7\""),
                vec!["target.t.gpu", "target.t.image"],
            ),
            (built("torch = \"2.5.1\"", "", &pinned("12.4.1-runtime-ubuntu22.04", "")), vec!["target.t.image"]),
        ] {
            assert!(lock(&spec).is_conflict(), "{spec}");
            assert_eq!(culprits(&spec), blamed, "{spec}");
        }
    }

    #[test]
    fn an_image_whose_os_is_too_old_for_the_wheel_is_refused() {
        let spec = one("torch = \"2.7.1\"", &format!("{A100}\nimage = \"nvidia/cuda:11.8.0-base-centos7\""));
        assert!(lock(&spec).is_conflict());
        assert_eq!(culprits(&spec), ["stack.torch", "target.t.image"], "an implied glibc blames the image");
    }

    #[test]
    fn of_images_with_a_torch_inside_the_one_that_holds_the_stacks_is_chosen() {
        let chosen = image("2.8.0", &format!("{A100}\nimage = \"pytorch/pytorch\""));
        assert_eq!(chosen.remarks(), Vec::<&str>::new());
        assert_eq!(chosen.target().tag(), "2.8.0-cuda12.8-cudnn9-runtime");
        let built = lock(&built("torch = \"2.8.0\"", "", &format!("{A100}\nimage = \"pytorch/pytorch\""))).target();
        assert_eq!(built.tag(), "2.8.0-cuda12.8-cudnn9-devel");
        assert_eq!(&*built.runtime_image.unwrap().tag, "2.8.0-cuda12.8-cudnn9-runtime");
    }

    #[test]
    fn a_published_torch_inside_the_image_is_the_one_that_runs() {
        let in_image =
            |torch: &str, tag: &str| one(&format!("torch = \"{torch}\""), &format!("{A100}\nimage = \"{tag}\""));
        let published = "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime";
        assert_eq!(culprits(&in_image("2.6.0+cu124", published)), ["stack.torch", "target.t.image"]);
        assert_eq!(lock(&in_image("*", published)).target().has("torch"), "2.8.0+cu128");
        let nvidias = "nvcr.io/nvidia/pytorch:25.03-py3";
        assert_eq!(culprits(&in_image("2.6.0+cu124", nvidias)), ["stack.torch", "target.t.image"]);
        assert_eq!(lock(&in_image("2.7", nvidias)).target().has("torch"), "2.7.0a0");
        let beside = "[[override]]\nrule = \"torch-of-image\"\nreason = \"measured\"\n";
        let both = warned(&format!("{}{beside}", in_image("2.6.0+cu124", nvidias)));
        assert!(both.contains(&"two-torches"), "{both:?}");
        let own = |gpu: &str, driver: &str| {
            let target = format!(
                "gpu = \"{gpu}\"\ndriver = \"{driver}\"\nimage = \"pytorch/pytorch:2.5.1-cuda12.1-cudnn9-runtime\""
            );
            warned(&one("python = \"3.12\"", &target)).contains(&"image-torch")
        };
        assert!(own("RTX 5090", "570.133.07"), "no code for it");
        assert!(own("RTX 3090", "470.256.02"), "a driver that is too old");
        assert!(!own("RTX 3090", "535.183.01"));
    }

    #[test]
    fn the_torch_of_a_repository_is_that_of_an_image_or_none() {
        // No wheel of 2.12.1+cu132 is known, so that image is not chosen for another torch.
        let any = |driver: &str| {
            lock(&one("torch = \"*\"", &format!("{A100}\ndriver = \"{driver}\"\nimage = \"pytorch/pytorch\"")))
        };
        for driver in ["535", "570", "580"] {
            let target = any(driver).target();
            let build = target.builds[0];
            assert!(target.tag().starts_with(&format!("{}-cuda", build.version)), "{driver}: {}", target.tag());
        }
        // What stands in images alone is installed on no machine, whatever system it has.
        let nano = one("torch = \"*\"", "gpu = \"Jetson Nano\"") + "[target.x]\ngpu = \"RTX 4090\"\n";
        assert!(lock(&nano).is_conflict());
        // Of the months that hold a release rather one of which it is known what it has code for.
        let month = one("torch = \"*\"", &format!("{A100}\ndriver = \"580\"\nimage = \"nvcr.io/nvidia/pytorch\""));
        assert_eq!(lock(&month).target().tag(), "26.07-py3");
    }

    #[test]
    fn where_not_all_tags_are_known_nobody_can_tell_of_an_unlisted_one() {
        let spec = |tag: &str| one("torch = \"2.8.0\"", &format!("{A100}\nimage = \"pytorch/pytorch:{tag}\""));
        let unseen = spec("2.99.0-cuda14.0-cudnn9-runtime");
        assert!(lock(&unseen).is_undetermined());
        // What the image asks for is written, so it was seen.
        let described = unseen.replace("[target.t]\n", "[target.t]\nimage-requires = \"cuda>=12.0\"\n");
        assert_eq!(lock(&described).remarks(), ["image-not-checked"]);
        assert!(lock(&spec("2.8.0-cuda12.4-cudnn9-runtime")).is_undetermined(), "no list of its tags was read");
    }

    #[test]
    fn a_jetpack_takes_what_was_made_for_it_and_nothing_else() {
        let on = |stack: &str, os: &str| one(stack, &format!("gpu = \"Jetson AGX Orin\"{os}"));
        let jetpack = "\nos = \"jetpack6.2\"";
        let target = lock(&on("torch = \"2.8.0\"\ntorchvision = \"*\"", jetpack)).target();
        assert_eq!((target.has("torch").as_str(), target.has("python").as_str()), ("2.8.0+cu126", "3.10"));
        assert!(target.wheels().iter().all(|wheel| wheel.index.is_none() && wheel.url.is_some()), "by address");
        assert!(lock(&on("torch = \"2.8.0+cu129\"", jetpack)).is_undetermined(), "nobody lists all labels");
        assert!(
            lock(&on("torch = \"2.8.0\"\nvllm = \"*\"", jetpack)).is_undetermined(),
            "its wheels were not all read"
        );
        let server = lock(&one("torch = \"2.8.0+cu126\"", "gpu = \"H100 PCIe\"")).target();
        assert!(server.wheels().iter().all(|wheel| wheel.url.is_none()), "and this is not for them");
        assert!(warned(&on("torch = \"2.5\"", jetpack)).contains(&"snapshot-build"));
        assert!(warned(&on("torch = \"2.8\"", jetpack)).contains(&"library-missing"));
        let unsaid = |os: &str| warned(&on("torch = \"2.8\"\ntorchvision = \"*\"", os)).contains(&"system-unsaid");
        assert!(unsaid("") && !unsaid(jetpack));
        let cpu = lock(&one("torch = \"2.8.0\"", "gpu = \"none\"\nos = \"jetpack6.2\"")).target();
        assert_eq!(cpu.has("torch"), "2.8.0+cpu", "a processor takes what other processors do");
        let image = "\nimage = \"nvcr.io/nvidia/l4t-jetpack\"";
        assert_eq!(lock(&on("torch = \"2.8\"", &format!("{jetpack}{image}"))).target().tag(), "r36.4.0");
    }

    #[test]
    fn a_jetson_runs_images_of_its_jetpack_and_earlier_ones() {
        let on = |os: &str| {
            let image = "nvcr.io/nvidia/l4t-jetpack:r36.3.0";
            lock(&one("cuda = \"12.2\"", &format!("gpu = \"Jetson AGX Orin\"\nos = \"{os}\"\nimage = \"{image}\"")))
        };
        assert!(!on("jetpack6.2").is_conflict() && !on("jetpack6.0").is_conflict() && on("jetpack5.1").is_conflict());
    }

    #[test]
    fn compiling_takes_devel_and_runs_in_the_smallest() {
        let target = lock(&built("torch = \"2.5.1\"", "", &format!("{A100}\nimage = \"nvidia/cuda\""))).target();
        assert_eq!(target.tag(), "12.4.1-devel-ubuntu22.04");
        assert_eq!(&*target.runtime_image.unwrap().tag, "12.4.1-base-ubuntu22.04");
        let bare = lock(&built("cuda = \"12.4\"", "", &format!("{A100}\nimage = \"nvidia/cuda\""))).target();
        assert_eq!(&*bare.runtime_image.unwrap().tag, "12.4.1-runtime-ubuntu22.04", "no wheel brings the libraries");
    }

    #[test]
    fn without_wheels_cudnn_is_the_images() {
        let target =
            lock(&one("cuda = \"12.4\"\ncudnn = \">=9\"", &format!("{A100}\nimage = \"nvidia/cuda\""))).target();
        assert_eq!(target.tag(), "12.4.1-cudnn-runtime-ubuntu22.04");
    }

    #[test]
    fn a_framework_loads_any_later_cudnn_of_the_same_major_from_the_system() {
        let with = |cudnn: &str| lock(&one(&format!("tensorflow = \"2.8.0\"\ncudnn = \"{cudnn}\""), A100));
        assert_eq!(with("8.2.1").target().has("cudnn"), "8.2.1.32");
        assert!(with("8.2.1").target().wheels().iter().all(|wheel| !wheel.package.contains("cudnn")), "it is there");
        assert!(with("7.6").is_conflict() && with("8.0").is_conflict() && with("9.1").is_conflict());
        let inside = format!("{A100}\nimage = \"nvidia/cuda\"");
        let target = lock(&one("tensorflow = \"2.13\"\ncudnn = \"8.9\"", &inside)).target();
        assert!(target.has("cudnn").starts_with("8.9") && target.tag().contains("cudnn8"), "{}", target.tag());
    }

    #[test]
    fn an_image_that_counts_on_cuda_compat_is_none_for_boards_that_it_refuses() {
        let on = |gpu: &str, image: &str| {
            let target = format!("gpu = \"{gpu}\"\ndriver = \"525.125.06\"\nimage = \"{image}\"");
            one("torch = \"2.5.1+cu121\"", &target)
        };
        let refused = |gpu: &str, image: &str| warned(&on(gpu, image)).contains(&"image-compat");
        let chosen = on("RTX 3090", "nvidia/cuda");
        assert!(lock(&chosen).target().tag().starts_with("12.0"), "CUDA 12.0 is what the driver knows");
        assert!(!refused("RTX 3090", "nvidia/cuda"));
        let pinned = "nvidia/cuda:12.1.1-base-ubuntu22.04";
        assert!(refused("RTX 3090", pinned) && !refused("A100-PCIE-40GB", pinned));
    }

    #[test]
    fn a_framework_that_needs_the_systems_cudnn_gets_an_image_with_it() {
        let target = lock(&one("tensorflow = \"2.13\"", &format!("{A100}\nimage = \"nvidia/cuda\""))).target();
        assert!(target.tag().contains("cudnn"), "{}", target.tag());
    }

    #[test]
    fn a_third_component_binds_a_pinned_image_too() {
        let target = format!("{A100}\nimage = \"nvidia/cuda:12.2.2-base-ubuntu22.04\"");
        assert!(lock(&one("torch = \"2.5.1\"\ncuda = \"12.4.1\"", &target)).is_conflict());
    }
}

mod building {
    use super::*;

    fn toolkit(stack: &str, target: &str) -> String {
        lock(&built(stack, "", target)).target().toolkit.map(|row| row.version.to_string()).unwrap_or_default()
    }

    #[test]
    fn an_equal_minor_is_preferred_another_accepted_another_major_refused() {
        let with = |installed: &str| format!("{A100}\nos = \"ubuntu20.04\"\ntoolkit = {installed}");
        assert_eq!(toolkit("torch = \"2.5.1+cu118\"", &with("[\"11.7\", \"11.8\", \"12.4\"]")), "11.8.0");
        assert_eq!(toolkit("torch = \"2.5.1+cu124\"", &with("[\"11.8\", \"12.1\"]")), "12.1.1");
        let other = built("torch = \"2.5.1+cu118\"", "", &with("[\"12.1\"]"));
        assert!(lock(&other).is_conflict());
        assert_eq!(culprits(&other), ["stack.torch", "target.t.toolkit"]);
        // From 1.10 on the builder checks; what 1.9 lets pass fails when it runs.
        assert!(lock(&built("torch = \"1.9.1+cu111\"", "", &format!("{A100}\ntoolkit = \"12.1\""))).is_conflict());
    }

    #[test]
    fn the_host_compiler_is_within_nvccs_limits() {
        assert_eq!(toolkit("torch = \"2.5.1\"", &format!("{A100}\nos = \"ubuntu22.04\"")), "12.4.1");
        assert_eq!(toolkit("torch = \"2.5.1\"", &format!("{A100}\ngcc = \"14.2\"")), "12.9.2");
        // None of torch's own line compiles with this gcc: of the others what the driver knows by itself.
        for (driver, newest) in [("550.54.14", "12.4.1"), ("560.28.03", "12.6.3"), ("535.54.03", "12.9.2")] {
            let target = format!("{A100}\ngcc = \"13.2\"\ndriver = \"{driver}\"");
            assert_eq!(toolkit("torch = \"2.2.0+cu121\"", &target), newest, "{driver}");
        }
        let pinned = built("torch = \"2.5.1\"\ncuda = \"12.4\"", "", &format!("{A100}\ngcc = \"14.2\""));
        assert_eq!(culprits(&pinned), ["stack.cuda", "target.t.gcc"]);
    }

    #[test]
    fn glibc_cuts_both_ways() {
        assert_eq!(torch("*", &format!("{A100}\nos = \"centos7\"")).target().has("torch"), "2.6.0+cu124");
        assert_eq!(
            culprits(&one("torch = \"2.7.1\"", &format!("{A100}\nos = \"centos7\""))),
            ["stack.torch", "target.t.os"]
        );
        assert!(!torch("2.7.1", &format!("{A100}\nos = \"centos7\"\nglibc = \"2.28\"")).is_conflict());
        let newest = |target: &str| built("torch = \"2.5.1\"", "", target);
        assert!(lock(&newest(&format!("{A100}\nos = \"debian13\""))).is_conflict(), "nvcc 12 against glibc 2.41");
        assert!(!torch("2.5.1", &format!("{A100}\nos = \"debian13\"")).is_conflict(), "nothing is compiled");
    }

    #[test]
    fn the_arch_list_holds_what_each_gpu_is_or_the_highest_both_accept() {
        for (version, gpu, list) in [
            ("2.5.1", "\"A100-PCIE-40GB\", \"RTX 3090\", \"H100 PCIe\"", "8.0;8.6;9.0"),
            ("2.5.1", "\"RTX 4090\"", "8.9"),
            ("1.13.1+cu117", "\"RTX 4090\"", "8.6"),
            ("2.5.1+cu118", "\"V100\", \"T4\"", "7.0;7.5"),
            ("2.7.1+cu128", "\"B200\", \"RTX 5090\"", "10.0;12.0"),
            ("2.7.1+cu128", "\"GB10\"", "12.0"),
        ] {
            let target = lock(&built(&format!("torch = \"{version}\""), "", &format!("gpu = [{gpu}]"))).target();
            assert_eq!(target.archs(), list, "{version} {gpu}");
        }
        assert_eq!(torch("2.5.1", "gpu = \"RTX 4090\"").target().archs(), "8.9", "without [build] too");
    }

    #[test]
    fn jetson_modules_need_their_own_code() {
        let list = |cuda: &str, gpu: &str| {
            let target = format!("gpu = \"{gpu}\"\narch = \"aarch64\"");
            lock(&built(&format!("cuda = \"{cuda}\""), "", &target)).target().archs()
        };
        assert_eq!(list("12.4", "sm_87"), "8.7");
        assert_eq!(list("12.8", "sm_110"), "10.1");
        assert_eq!(list("13.0", "sm_101"), "11.0");
        let wheel = one("torch = \"2.5.1\"", "gpu = \"sm_87\"\narch = \"aarch64\"");
        assert!(lock(&wheel).is_conflict(), "8.0 and 8.6 code does not load on 8.7");
    }

    #[test]
    fn ptx_is_of_the_highest_and_raises_no_minimum() {
        let with = |build: &str| {
            lock(&built("torch = \"2.5.1\"", build, "gpu = [\"A100-PCIE-40GB\", \"H100 PCIe\"]")).target()
        };
        assert_eq!(with("ptx = true").archs(), "8.0;9.0+PTX");
        assert_eq!(with("ptx = true").minimum(), with("").minimum());
    }

    #[test]
    fn an_insisted_list_is_kept_and_judged() {
        let spec = |list: &str, gpu: &str| {
            built("torch = \"2.5.1\"", &format!("arch-list = \"{list}\""), &format!("gpu = \"{gpu}\""))
        };
        assert_eq!(lock(&spec("8.0+PTX;9.0", "H100 PCIe")).target().archs(), "8.0+PTX;9.0");
        assert_eq!(lock(&spec("9.0a", "H100 PCIe")).target().archs(), "9.0a");
        assert_eq!(culprits(&spec("8.0", "H100 PCIe")), ["target.t.gpu", "build.arch-list"]);
        assert_eq!(culprits(&spec("9.0;12.0", "H100 PCIe")), ["stack.torch", "build.arch-list"]);
        assert!(lock(&spec("9.0a", "RTX 4090")).is_conflict());
    }

    #[test]
    fn a_list_reached_only_by_ptx_needs_a_driver_that_knows_the_isa() {
        let spec = |driver: &str| {
            let target = format!("gpu = \"H100 PCIe\"\n{driver}\ntoolkit = \"12.4\"\nforward-compat = \"never\"");
            built("torch = \"2.5.1+cu124\"", "arch-list = \"8.0+PTX\"", &target)
        };
        assert!(lock(&spec("driver = \"535.183.01\"")).is_conflict(), "12.4 writes PTX 8.4, which came with R550");
        assert!(lock(&spec("")).target().minimum().starts_with("550."));
    }
}

mod coverage {
    use super::*;

    #[test]
    fn ptx_alone_is_jit() {
        // 1.3.1 holds machine code for 7.0, which 7.2 does not load, and PTX for 3.7. Every board of 7.2 is an Arm one.
        assert_eq!(torch("1.3.1+cu100", "gpu = \"sm_72\"\narch = \"x86_64\"").target().coverage(), "jit");
        assert_eq!(torch("1.3.1+cu100", "gpu = \"sm_70\"").target().coverage(), "native");
    }

    #[test]
    fn a_gpu_without_code_is_a_conflict_of_torch_and_gpu() {
        for (version, gpu) in [("2.7.1+cu126", "RTX 5090"), ("2.11.0+cu128", "V100"), ("2.7.1+cu128", "V100")] {
            let spec = one(&format!("torch = \"{version}\""), &format!("gpu = \"{gpu}\""));
            assert!(lock(&spec).is_conflict(), "{spec}");
            assert_eq!(culprits(&spec), ["stack.torch", "target.t.gpu"]);
        }
        assert_eq!(torch("2.10.0+cu128", "gpu = \"V100\"").target().coverage(), "native");
    }

    #[test]
    fn every_gpu_of_a_list_must_work_alone() {
        let spec = one("torch = \"2.7.1+cu126\"", "gpu = [\"A100-PCIE-40GB\", \"RTX 5090\"]");
        assert!(lock(&spec).is_conflict());
        // Of capabilities alone too: drivers know 12.0 from R570 on, be it the first or the last that is named.
        for gpus in ["[\"8.6\", \"12.0\"]", "[\"12.0\", \"8.6\"]"] {
            let on = |driver: &str| torch("*", &format!("gpu = {gpus}\ndriver = \"{driver}\""));
            assert!(on("535.54.03").is_conflict() && !on("570.26").is_conflict(), "{gpus}");
        }
    }
}

mod cpu {
    use super::*;

    #[test]
    fn a_gpu_target_never_gets_a_cpu_build() {
        let spec = one("torch = \"2.5+cpu\"", A100);
        assert_eq!(culprits(&spec), ["stack.torch", "target.t.gpu"]);
        assert!(lock(&spec).is_conflict());
        // Nothing but a CPU build was published for this platform then.
        assert!(torch("1.13.1", "gpu = \"A100-PCIE-40GB\"\narch = \"aarch64\"").is_conflict());
        assert!(torch("1.13.1", "arch = \"aarch64\"").is_conflict(), "an omitted gpu admits none either");
        assert_eq!(torch("2.5.1", "runtime = \"bare-metal\"").target().has("torch"), "2.5.1+cu124");
    }

    #[test]
    fn without_any_gpu_it_is_the_cpu_build() {
        let target = torch("2.5.1", "gpu = \"none\"").target();
        assert_eq!(target.has("torch"), "2.5.1+cpu");
        assert!(target.driver.is_none() && target.has("cuda").is_empty());
        assert_eq!(torch("2.5.1+cu124", "gpu = \"none\"").target().has("torch"), "2.5.1+cu124", "named");
        assert_eq!(torch("2.9.1+cu128 || 2.8.0", "gpu = \"none\"").target().has("torch"), "2.9.1+cu128", "named");
    }

    #[test]
    fn beside_a_cpu_build_nothing_is_compiled() {
        let spec = format!(
            "{}[target.ci]\ngpu = \"none\"\ngcc = \"17\"\n[resolve]\nshare = \"versions\"\n",
            built("torch = \"2.5.1\"", "", A100)
        );
        let targets = lock(&spec).targets();
        assert!(targets[0].toolkit.is_none() && targets[1].toolkit.is_some());
    }

    #[test]
    fn a_mixed_spec_shares_the_cuda_wheel_unless_variants_may_differ() {
        let spec = |share: &str, version: &str| {
            format!(
                "{}[target.ci]\ngpu = \"none\"\n[resolve]\nshare = \"{share}\"\n",
                one(&format!("torch = \"{version}\""), A100)
            )
        };
        for (share, version, ci, gpu) in [
            ("stack", "2.5.1", "2.5.1+cu124", "2.5.1+cu124"),
            ("versions", "2.5.1", "2.5.1+cpu", "2.5.1+cu124"),
            ("none", "2.5.1", "2.5.1+cpu", "2.5.1+cu124"),
            ("versions", "2.5.1+cu118", "2.5.1+cu118", "2.5.1+cu118"),
        ] {
            let targets = lock(&spec(share, version)).targets();
            assert_eq!([targets[0].has("torch"), targets[1].has("torch")], [ci, gpu], "{share} {version}");
            assert!(targets[0].driver.is_none());
        }
    }
}

mod variants {
    use super::*;

    #[test]
    fn an_experimental_variant_waits_until_nothing_else_fits() {
        for (stack, target, expected) in [
            ("torch = \"2.6.0\"", A100, "2.6.0+cu124"),
            ("torch = \"2.6.0+cu126\"", A100, "2.6.0+cu126"),
            ("torch = \"2.6.0\"\ncuda = \"12.6\"", A100, "2.6.0+cu126"),
            ("torch = \"2.7.1\"", "gpu = \"RTX 5090\"", "2.7.1+cu128"),
            // Called experimental, yet what the index gives by default.
            ("torch = \"2.1.2\"", A100, "2.1.2+cu121"),
            ("torch = \"1.13.1\"", A100, "1.13.1+cu117"),
            // Another stable release is preferred to an experimental build of a newer one.
            ("torch = \">=2.6,<2.8\"\ncuda = \"12.6\"", A100, "2.7.1+cu126"),
            // One that is named among others is as good as they are.
            ("torch = \"2.9.1+cu129 || 2.8.0\"", A100, "2.9.1+cu129"),
            ("torch = \"2.9.1 || 2.8.0+cu129\"", A100, "2.9.1+cu128"),
        ] {
            assert_eq!(lock(&one(stack, target)).target().has("torch"), expected, "{stack} {target}");
        }
    }

    #[test]
    fn the_default_if_it_fits_else_the_newest_stable() {
        assert_eq!(torch("2.5.1", A100).target().has("torch"), "2.5.1+cu124");
        assert_eq!(torch("1.12.1", A100).target().has("torch"), "1.12.1+cu113", "the default cu102 does not fit");
        assert_eq!(torch("2.4.1", A100).target().has("torch"), "2.4.1+cu121", "not the experimental cu124");
    }

    #[test]
    fn forward_compatibility_comes_after_experimental_builds() {
        let target = torch(">=2.0,<2.1", &format!("{A100}\ndriver = \"470.57.02\"")).target();
        assert_ne!(target.mode().as_str(), "forward-compat");
    }
}

mod gpus {
    use super::*;

    #[test]
    fn names_that_disagree_or_mean_nothing_are_errors() {
        for (name, code) in [("RTX 5000", "ambiguous-gpu"), ("GTX 750", "ambiguous-gpu"), ("RTX 9999", "unknown-gpu")] {
            let Outcome::Refused(codes) = torch("*", &format!("gpu = \"{name}\"")) else { panic!("{name}") };
            assert_eq!(codes, [code]);
        }
        assert!(torch("2.5.1", "gpu = \"A100\"").target().gpus.len() > 3);
        assert_eq!(torch("2.5.1", "gpu = \"9.0\"").target().gpus[0].name, "sm_90");
    }

    #[test]
    fn a_product_is_sold_with_its_cpu() {
        assert_eq!(torch("2.5.1", "gpu = \"GH200 480GB\"").target().arch.as_str(), "aarch64");
        let spec = one("torch = \"2.5.1\"", "gpu = \"GH200 480GB\"\narch = \"x86_64\"");
        assert!(lock(&spec).is_conflict());
        assert_eq!(culprits(&spec), ["target.t.gpu", "target.t.arch"]);
    }
}

mod forward_compat {
    use super::*;

    fn on(gpu: &str, driver: &str, more: &str) -> Outcome {
        torch("2.5.1+cu124", &format!("gpu = \"{gpu}\"\ndriver = \"{driver}\"\n{more}"))
    }

    #[test]
    fn only_data_centre_gpus_and_listed_branches() {
        let target = on("A100-PCIE-40GB", "470.57.02", "").target();
        assert_eq!(target.mode().as_str(), "forward-compat");
        assert_eq!(target.driver.as_ref().unwrap().compat.unwrap().cuda.as_str(), "12.4");
        for (gpu, driver, more) in [
            ("RTX 3090", "470.57.02", ""),
            ("sm_80", "470.57.02", ""),
            ("A100-PCIE-40GB", "465.19.01", ""),
            ("A100-PCIE-40GB", "460.32.03", ""),
            ("A100-PCIE-40GB", "470.57.02", "forward-compat = \"never\""),
        ] {
            assert!(on(gpu, driver, more).is_conflict(), "{gpu} {driver} {more}");
        }
    }

    #[test]
    fn only_where_the_whole_spec_needs_it_and_for_the_fewest() {
        assert_eq!(torch("2.5.1", &format!("{A100}\ndriver = \"470.57.02\"")).target().has("torch"), "2.5.1+cu118");
        let spec = format!(
            "[stack]\ntorch = \"2.5.1+cu124\"\n[target.a]\n{A100}\ndriver = \"470.57.02\"\n[target.b]\n{A100}\ndriver = \"525.60.13\"\n"
        );
        let modes: Vec<&str> = lock(&spec).targets().iter().map(|target| target.mode().as_str()).collect();
        assert_eq!(modes, ["forward-compat", "minor-version"]);
    }
}

mod optimum {
    use super::*;

    #[test]
    fn newest_torch_before_newest_python() {
        let target = lock(&one("torch = \"*\"\npython = \"<=3.12\"", A100)).target();
        assert_eq!(target.has("torch").split('+').next(), torch("*", A100).target().has("torch").split('+').next());
        assert_eq!(lock(&one("torch = \"*\"\npython = \"3.8\"", A100)).target().has("torch"), "2.4.1+cu121");
    }

    #[test]
    fn a_list_of_pythons_that_may_lack_some_is_filled_up_by_the_releases_other_builds_only() {
        let spec = one("torch = \">=2.0\"\npython = \"3.7\"", "gpu = \"T4\"");
        assert_eq!(culprits(&spec), ["stack.torch", "stack.python"], "no torch 2 had wheels for it");
        let target = lock(&one("torch = \"2.9.1+cu126\"\npython = \"3.12\"", "gpu = \"GH200 480GB\"")).target();
        assert_eq!(target.has("python"), "3.12", "seen in its siblings, hence expected");
    }

    #[test]
    fn companions_follow_the_framework() {
        let target = lock(&one("torch = \"2.5.1\"\ntorchvision = \"*\"\ntorchaudio = \"*\"", A100)).target();
        assert_eq!((target.has("torchvision").as_str(), target.has("torchaudio").as_str()), ("0.20.1", "2.5.1"));
        assert_eq!(lock(&one("torchvision = \"0.19.1\"", A100)).target().has("torch"), "2.4.1+cu121");
        assert_eq!(
            culprits(&one("torch = \"2.6\"\ntorchvision = \"0.20\"", A100)),
            ["stack.torch", "stack.torchvision"]
        );
    }

    #[test]
    fn the_oldest_driver_may_come_first() {
        let prefer =
            |target: &str| format!("{}[resolve]\nprefer = \"oldest-driver\"\n", one("torch = \">=2\"", target));
        let target = lock(&prefer(A100)).target();
        assert_eq!((target.minimum().as_str(), target.has("torch").as_str()), ("450.80.02", "2.7.1+cu118"));
    }

    #[test]
    fn the_oldest_driver_counts_where_hosts_are_pinned_too() {
        let spec = format!(
            "{}[resolve]\nprefer = \"oldest-driver\"\n",
            one("torch = \">=2\"", &format!("{A100}\ndriver = \"580.95.05\""))
        );
        assert_eq!(lock(&spec).target().minimum(), "450.80.02");
    }

    #[test]
    fn nothing_that_fits_is_named_by_its_key_alone() {
        for stack in ["torch = \">=2.99\"", "torch = \"2.5.9\"", "python = \"2.6\"\ntorch = \"*\""] {
            let spec = one(stack, A100);
            assert!(lock(&spec).is_conflict(), "{stack}");
            assert_eq!(culprits(&spec).len(), 1, "{stack}");
        }
    }
}

mod sharing {
    use super::*;

    fn volta_and_blackwell(share: &str, version: &str) -> Outcome {
        lock(&format!(
            "[stack]\ntorch = \"{version}\"\n[target.b]\ngpu = \"B200\"\n[target.v]\ngpu = \"V100\"\n[resolve]\nshare = \"{share}\"\n"
        ))
    }

    #[test]
    fn one_wheel_the_same_versions_or_nothing() {
        for (share, version, expected) in [
            ("stack", "*", Some(["2.10.0+cu128", "2.10.0+cu128"])),
            ("stack", "2.7.1", None),
            ("versions", "2.7.1", Some(["2.7.1+cu128", "2.7.1+cu126"])),
            ("none", "*", Some(["2.15.0+cu132", "2.14.1+cu126"])),
        ] {
            let got = volta_and_blackwell(share, version);
            match expected {
                None => assert!(got.is_conflict(), "{share} {version}"),
                Some(torch) => {
                    let targets = got.targets();
                    assert_eq!([targets[0].has("torch"), targets[1].has("torch")], torch, "{share} {version}");
                }
            }
        }
        assert_eq!(volta_and_blackwell("stack", "*").targets()[0].archs(), "7.0;10.0");
    }

    #[test]
    fn a_shared_wheel_must_be_published_for_every_platform() {
        let both =
            "[stack]\ntorch = \"2.8\"\n[target.g]\ngpu = \"GH200 480GB\"\n[target.x]\ngpu = \"A100-PCIE-40GB\"\n";
        let targets = lock(both).targets();
        assert_eq!([targets[0].has("torch"), targets[1].has("torch")], ["2.8.0+cu129", "2.8.0+cu129"]);
        let clash = both.replace("\"2.8\"", "\"2.7.1+cu126\"");
        assert!(lock(&clash).is_conflict());
    }
}

mod overrides {
    use super::*;

    #[test]
    fn an_overridden_rule_refuses_nothing() {
        let target = format!("{A100}\ndriver = \"470.57.02\"\nforward-compat = \"never\"");
        let spec = |rule: &str| {
            format!("{}[[override]]\n{rule}\nreason = \"measured\"\n", one("torch = \"2.5.1+cu124\"", &target))
        };
        assert_eq!(lock(&spec("rule = \"cuda-12-driver\"")).target().has("torch"), "2.5.1+cu124");
        assert_eq!(lock(&spec("rule = \"cuda-12-driver\"\ntarget = \"t\"")).target().has("torch"), "2.5.1+cu124");
        assert!(lock(&spec("rule = \"cuda-13-driver\"")).is_conflict());
        let Outcome::Refused(codes) = lock(&spec("rule = \"cuda-12-drivers\"")) else { panic!("accepted") };
        assert_eq!(codes, ["unknown-rule"]);
    }
}

mod frameworks_together {
    use super::*;

    #[test]
    fn they_are_of_one_cuda_major_and_agree_on_libraries() {
        let target = lock(&one("torch = \"*\"\ntensorflow = \"*\"", "gpu = \"L4\"\ndriver = \"580\"")).target();
        let majors = |package: &str| target.has(package).split_once("+cu").unwrap().1[..2].to_string();
        assert_eq!(majors("torch"), majors("tensorflow"));
        let asked = |torch: &str, other: &str| lock(&one(&format!("torch = \"{torch}\"\n{other}"), A100));
        // Exact pins on both sides; a pin that is too old for a lower bound; one that is not.
        assert!(asked("2.5.1", "tensorflow = \"2.16\"").is_conflict());
        assert!(asked("2.8.0", "tensorflow = \"2.21\"").is_conflict());
        assert!(!asked("2.8.0", "tensorflow = \"2.20\"").is_conflict());
        assert!(!asked("2.8.0", "jax = \"0.7.2\"").is_conflict());
    }

    #[test]
    fn triton_comes_along_for_the_pythons_that_it_has_wheels_for() {
        let on = |python: &str| {
            let spec = one(&format!("torch = \"2.5.1+cu124\"\npython = \"{python}\""), "gpu = \"A100-PCIE-40GB\"");
            (lock(&spec).target().stack().get("triton").cloned(), warned(&spec).contains(&"triton-python"))
        };
        assert_eq!(on("3.12"), (Some("3.1.0".into()), false));
        assert_eq!(on("3.13"), (None, true));
    }

    #[test]
    fn a_package_that_loads_cudnn_needs_the_one_it_was_built_with() {
        let warned = |stack: &str, target: &str| {
            let target = format!("gpu = \"A100-PCIE-40GB\"\n{target}");
            warned(&one(stack, &target)).contains(&"cudnn-missing")
        };
        let beside = |torch: &str, release: &str| format!("torch = \"{torch}\"\nonnxruntime-gpu = \"{release}\"");
        // torch 2.3 brings cuDNN 8, torch 2.5 cuDNN 9.
        assert!(!warned(&beside("2.3.1+cu118", "1.18.1"), ""));
        assert!(warned(&beside("2.5.1+cu118", "1.18.1"), ""));
        assert!(!warned(&beside("2.5.1+cu118", "1.18.1"), "cudnn = \"8.9.7\""));
        assert!(warned(&beside("2.3.1+cu121", "1.19.2"), ""));
        assert!(!warned(&beside("2.5.1+cu124", "1.19.2"), ""));
        assert!(warned("onnxruntime-gpu = \"1.22.0\"", ""));
        assert!(!warned("onnxruntime-gpu = \"1.22.0\"", "image = \"nvidia/cuda:12.6.3-cudnn-runtime-ubuntu22.04\""));
    }

    #[test]
    fn cuda_libraries_left_open_are_those_of_one_toolkit() {
        let cublas = |stack: &str, target: &str| {
            let target = lock(&one(stack, target)).target();
            let pinned = target.wheels().into_iter().find(|wheel| wheel.package.starts_with("nvidia-cublas"));
            (target.has("cuda"), target.mode().as_str(), pinned.map(|wheel| wheel.version))
        };
        let pinned = |cuda: &str, mode: &'static str, cublas: &str| (cuda.to_string(), mode, Some(cublas.to_string()));
        // The newest that the hosts' driver knows; with any driver the newest of all.
        let on = |driver: &str| format!("gpu = \"H100 PCIe\"\ndriver = \"{driver}\"");
        assert_eq!(cublas("jax = \"0.11\"", &on("580")), pinned("13.0.3", "native", "13.1.1.3"));
        assert_eq!(cublas("tensorflow = \"2.20\"", &on("570")), pinned("12.8.2", "native", "12.8.5.5"));
        // TensorFlow needs those of 12.5 and later: an older driver runs them as a minor version.
        let a100 = "gpu = \"A100-PCIE-40GB\"\ndriver = \"535\"";
        assert_eq!(cublas("tensorflow = \"2.20\"", a100).1, "minor-version");
        // A GPU that older ones do not know.
        let (cuda, mode, _) = cublas("jax = \"0.11\"\ncuda = \"12\"", "gpu = \"RTX 5090\"\ndriver = \"570\"");
        assert_eq!((&cuda[..4], mode), ("12.8", "native"));
        // What torch pins comes in with torch.
        let (cuda, _, pinned) = cublas("torch = \"2.5.1+cu124\"\njax = \"0.5.3\"", &on("570"));
        assert_eq!((cuda.as_str(), pinned), ("12.4.1", None), "that of the runtime, whatever nvcc JAX needs");
        let (cuda, _, pinned) = cublas("torch = \"2.7.1+cu126\"\njax = \"0.5.3\"", &on("570"));
        assert_eq!((cuda.as_str(), pinned), ("12.6.3", None));
    }

    #[test]
    fn a_cudnn_that_serves_is_installed_where_the_newest_does_not() {
        let cudnn = |gpu: &str, clause: &str| {
            let target = lock(&one(&format!("jax = \"0.11\"\n{clause}"), &format!("gpu = \"{gpu}\""))).target();
            target.wheels().into_iter().find(|wheel| wheel.package.contains("cudnn")).map(|wheel| wheel.version)
        };
        assert_eq!(cudnn("V100", "").as_deref(), Some("9.10.2.21"));
        let newest = gpuenv::catalog::BUILTIN
            .cudnns
            .iter()
            .filter(|row| row.cuda.as_str() == "13")
            .map(|row| row.version.to_string())
            .next_back();
        assert_eq!(cudnn("H100 PCIe", ""), newest, "what pip would take is locked");
        assert_eq!(cudnn("H100 PCIe", "cudnn = \"9.14\"").as_deref(), Some("9.14.0.64"));
        assert!(lock(&one("jax = \"0.11\"\ncudnn = \">=9.11\"", "gpu = \"V100\"")).is_conflict());
    }
}

mod fixes_offered {
    use super::*;

    #[test]
    fn a_driver_that_is_too_new_is_not_written_as_a_minimum() {
        let offered = fixes(&one("torch = \"2.12.1+cu132\"", "gpu = \"V100\"\ndriver = \"595\""));
        assert_eq!(offered[0], ["stack.torch -> 2.12.1+cu126", "target.t.driver -> 580"]);
        let offered = fixes(&one("torch = \"2.7.1+cu126\"", "gpu = \"GTX 1080 Ti\"\ndriver = \"590.48.01\""));
        assert_eq!(offered[0], ["target.t.driver -> 580"]);
    }

    #[test]
    fn in_wsl2_a_driver_is_one_of_windows() {
        let wsl2 = |driver: &str, image: &str| {
            let image = format!("gpu = \"RTX 3060\"\nplatform = \"wsl2\"\ndriver = \"{driver}\"\n{image}");
            fixes(&one("torch = \"2.8.0+cu128\"", &image))
        };
        let image = "image = \"nvidia/cuda:12.8.1-runtime-ubuntu24.04\"";
        assert!(wsl2("551.86", image).contains(&vec!["target.t.driver -> >=570".to_string()]));
        assert!(wsl2("511.65", "").contains(&vec!["target.t.driver -> >=528.33".to_string()]));
    }

    /// Before June 2020 none had CUDA there, whichever CUDA it has in Windows.
    #[test]
    fn in_wsl2_a_driver_is_one_that_has_cuda_there() {
        let wsl2 = |torch: &str, driver: &str| {
            one(torch, &format!("gpu = \"RTX 2080 Ti\"\nplatform = \"wsl2\"\ndriver = \"{driver}\""))
        };
        for (torch, driver) in [("torch = \"1.8.1+cu101\"", "432.08"), ("torch = \"1.11.0+cu113\"", "426.78")] {
            assert_eq!(fixes(&wsl2(torch, driver))[0], ["target.t.driver -> >=495"], "{driver}");
        }
        assert!(warned(&wsl2("torch = \"1.8.1+cu111\"", "461.72")).contains(&"wsl2"));
    }

    /// github.com/iot-salzburg/gpu-jupyter/issues/58: the lines of a Dockerfile are for its distribution.
    #[test]
    fn an_image_of_the_same_distribution_comes_first() {
        let image = "image = \"nvidia/cuda:10.1-cudnn7-devel-ubuntu18.04\"";
        let offered = fixes(&one("tensorflow = \"2.4.1\"", &format!("gpu = \"Quadro RTX 6000\"\n{image}")));
        assert_eq!(offered[0], ["target.t.image -> nvidia/cuda:11.0.3-cudnn8-devel-ubuntu20.04"]);
    }

    /// github.com/NVIDIA-NeMo/Speech/issues/13996 needs what NCCL 2.27.3 has.
    #[test]
    fn a_least_release_that_is_written_is_kept_first() {
        let offered = fixes(&one("torch = \"2.7.0\"\nnccl = \">=2.27.3\"", "gpu = \"A100\""));
        assert_eq!(offered[0], ["stack.torch -> 2.8.0+cu128"]);
        assert_eq!(offered[1], ["stack.nccl -> 2.26.2"]);
    }

    #[test]
    fn an_image_of_torch_is_offered_where_torch_is_asked_for() {
        let host = "gpu = \"RTX 4090\"\ndriver = \"535.183.01\"\nimage = \"nvidia/cuda:12.8.1-base-ubuntu24.04\"";
        let offered = fixes(&one("cuda = \"*\"", host));
        assert!(!offered.iter().flatten().any(|change| change.contains("pytorch")), "{offered:?}");
        let at = |start: &str| offered.iter().position(|fix| fix[0].starts_with(start));
        assert!(at("target.t.driver -> >=") < at("target.t.image -> -"), "{offered:?}");
    }
}
