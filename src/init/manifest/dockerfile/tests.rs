//! Dockerfiles as projects write them, and what is read of each.

use super::*;

fn read(text: &str) -> Result<Found, (usize, String)> {
    super::read(text, None)
}

#[test]
fn arguments_made_of_arguments_are_filled_in_up_to_a_bound() {
    let doubled: String = (1..60).map(|at| format!("ARG A{at}=${{A{0}}}${{A{0}}}\n", at - 1)).collect();
    let found = read(&format!("ARG A0=xxxxxxxx\n{doubled}FROM nvidia/cuda:${{A59}}\n")).unwrap();
    assert_eq!(found.image, None);
    assert!(found.left.iter().any(|(line, ..)| *line == 61), "{:?}", found.left);
    // What an argument is asked for more often than that is no better than what it is made of.
    let asked = "RUN pip install $A $A $A $A\n".repeat(1 << 10);
    let found = read(&format!("FROM x\nARG A={}\n{asked}", "a".repeat(1 << 10))).unwrap();
    let kept: usize = found.wanted.iter().map(|one| one.name.len()).sum();
    assert!(kept <= FILLED_CAP, "{kept}");
    assert!(found.left.iter().any(|(.., why)| why.contains("more than 1 MiB")), "{:?}", found.left.len());
}

#[test]
fn what_the_system_installs_is_taken_or_told_where_it_bears_on_a_stack() {
    let found = read(
        "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN apt-get update && apt-get install -y git python3.9 python3.9-dev\n\
         RUN apt install libcudnn8=8.9.7.29-1+cuda12.2 python3.11 python3-pip cuda-toolkit-12-4\nRUN pip install torch\n",
    )
    .unwrap();
    let wanted: Vec<_> = found.wanted.iter().map(|one| (one.name.as_str(), one.version.as_str())).collect();
    assert_eq!(wanted, [("python", "3.9"), ("torch", "")]);
    let left: Vec<&str> = found.left.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(left, ["libcudnn8=8.9.7.29-1+cuda12.2", "python3.11", "cuda-toolkit-12-4"]);
    let found = read("FROM python:3.10\nRUN apt-get install python3.11 python3.10-venv\n").unwrap();
    let wanted: Vec<&str> = found.wanted.iter().map(|one| one.version.as_str()).collect();
    assert_eq!((wanted, found.left.len()), (vec!["3.10"], 2), "{:?}", found.left);
}

#[test]
fn an_environment_that_is_copied_counts() {
    let found = read(
        "FROM nvidia/cuda:12.1.0-devel-ubuntu22.04 AS build\nRUN pip install torch==2.2.0 vllm\n\
         FROM ubuntu:22.04 AS docs\nRUN pip install sphinx\n\
         FROM nvidia/cuda:12.1.0-base-ubuntu22.04\nCOPY --from=build /opt/venv /opt/venv\n",
    )
    .unwrap();
    assert_eq!(found.image, Some(("nvidia/cuda:12.1.0-base-ubuntu22.04".to_string(), 5)));
    let wanted: Vec<&str> = found.wanted.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(wanted, ["torch", "vllm"]);
    assert_eq!(found.left.len(), 2, "{:?}", found.left);
}

#[test]
fn every_form_of_a_command_is_read_or_told() {
    let found = read(
        "FROM --platform=linux/arm64 ubuntu:22.04\nRUN <<EOF\nset -e\npip install torch==2.5.1\nEOF\nRUN cat <<EOF > x\npip install jax\nEOF\n\
         RUN [\"pip\", \"install\", \"xformers==0.0.28.post3\"]\nRUN [\"bash\", \"-lc\", \"pip install vllm\"]\n\
         RUN uv sync --frozen --extra cu129\nRUN /opt/conda/bin/conda env update -f env.yml && poetry install\n",
    ).unwrap();
    let wanted: Vec<_> = found.wanted.iter().map(|one| (one.name.as_str(), one.line)).collect();
    assert_eq!(wanted, [("torch", 4), ("xformers", 9), ("vllm", 10)]);
    let left: Vec<&str> = found.left.iter().map(|(_, text, _)| text.as_str()).collect();
    let told = ["uv sync --frozen --extra cu129", "/opt/conda/bin/conda env update -f env.yml", "poetry install"];
    assert_eq!(left, [&["--platform=linux/arm64"][..], &told].concat());
}

#[test]
fn what_stands_behind_a_hash_is_a_comment_of_the_shell() {
    let found = read("FROM x\nRUN pip install cmake  # that of apt is too old\nRUN pip install 'a#b' c#d\n").unwrap();
    let wanted: Vec<&str> = found.wanted.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(wanted[0], "cmake");
    assert!(!wanted.contains(&"that") && !wanted.contains(&"old"), "{wanted:?}");
}

#[test]
fn the_last_stage_counts_and_arguments_are_filled_in() {
    let found = read(
        "ARG CUDA=12.1.0\nFROM nvidia/cuda:${CUDA}-devel-ubuntu22.04 AS build\nRUN nvcc x.cu\n\
         FROM --platform=linux/amd64 nvidia/cuda:${CUDA}-base-ubuntu22.04 as base\nARG TORCH=2.1.0\n\
         RUN apt-get update && pip3 install --no-cache-dir torch==$TORCH \\\n    # why\n    \"transformers>=4.30\" \\\n\
         \x20   --index-url https://download.pytorch.org/whl/cu121 && rm -rf /x\n\
         FROM base\nRUN python -m pip install -r requirements.txt $EXTRA\n",
    )
    .unwrap();
    assert_eq!(found.image, Some(("nvidia/cuda:12.1.0-base-ubuntu22.04".to_string(), 4)));
    let wanted: Vec<_> = found.wanted.iter().map(|one| (one.name.as_str(), one.version.as_str(), one.line)).collect();
    assert_eq!(wanted, [("torch", "==2.1.0", 6), ("transformers", ">=4.30", 6)]);
    assert_eq!((found.variant, found.wanted[0].variant.as_deref()), (None, Some("cu121")));
    let left: Vec<&str> = found.left.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(left, ["$EXTRA", "-r requirements.txt", "FROM nvidia/cuda:12.1.0-devel-ubuntu22.04"]);
}

#[test]
fn each_word_is_taken_or_left() {
    let found = read(
        "FROM x\nRUN V=$(nvcc --version) && pip install --index-url $URL torch==2.1.2+cu${V} torchvision==0.16.2+cu${V} \\\n\
         --extra-index-url https://download.pytorch.org/whl/cu${V}\n",
    );
    let found = found.unwrap();
    let wanted: Vec<_> = found.wanted.iter().map(|one| (one.name.as_str(), one.version.as_str())).collect();
    assert_eq!(wanted, [("torch", "==2.1.2"), ("torchvision", "==0.16.2")]);
    let left: Vec<&str> = found.left.iter().map(|(_, text, _)| text.as_str()).collect();
    let index = "https://download.pytorch.org/whl/cu${V}";
    assert_eq!(left, ["$URL", "torch==2.1.2+cu${V}", "torchvision==0.16.2+cu${V}", index]);
    assert!(found.left[1].2.starts_with("taken without its build"), "{:?}", found.left);
}
