"""What ordinary packages and packages that are solved with need of each other, read from the index: `asks.toml`.

Of an ordinary package (transformers, accelerate, numpy …) what its releases need of torch, TensorFlow, JAX and Python; of a
package of the catalog what its releases need of ordinary ones. Releases that follow each other and need the same are one
row. Where `found_in` is `metadata`, installers see it too; `code` is a check when it is imported, `wheels` are the Pythons
that there are wheels for, `only-wheels` the same where there is no source to compile: then processors and glibc bind as well.
"""

import re
import sys
from functools import lru_cache
from itertools import groupby

from catalog import Catalog, asks_id, filled, inline, row_of, spare
from companions import admits
from remote import InvalidRequirement, Requirement, Source, SpecifierSet, Version, applies, canonicalize_name, extra_of, parsed, reading
from remote import asked_by as installed_with, requirements

FILE = "asks.toml"

# What people install beside a framework or a package that is solved with, and what of their metadata is read.
BESIDE = """
    accelerate adapters allennlp anomalib aphrodite-engine apollo-torch asteroid audiocraft auto-round autoawq autoawq-kernels
    autogluon-multimodal autogluon-timeseries autokeras autotrain-advanced axolotl basic-pitch bert-score bertopic bitblas blackjax
    botorch braindecode brax captum catboost chatterbox-tts chex chronos-forecasting colossalai compel controlnet-aux coqui-tts
    ctgan cucim-cu12 cuequivariance-jax cuequivariance-ops-torch-cu12 cuequivariance-torch cumm-cu118 cumm-cu120
    cuquantum-python-cu12 curated-transformers cuvs-cu12 d3rlpy
    darts deepchem demucs dgl diffusers distrax dm-haiku docling-ibm-models e3nn easyocr eetq encodec entmax equinox evotorch
    executorch exllamav2 f5-tts facenet-pytorch fairscale farm-haystack faster-whisper fastai fla-core flair flash-linear-attention flax funasr
    galore-torch gliner gptqmodel gpytorch heavyball hqq imagen-pytorch invisible-watermark iopaint k-diffusion k2 keras-nlp kokoro
    kornia kt-kernel ktransformers lerobot liger-kernel lightly lightning lightning-fabric linear-operator lineax lion-pytorch
    litdata litgpt llm-foundry llmcompressor lycoris-lora mace-torch marker-pdf matgl megablocks megatron-core minference monai
    mosaicml nemo-toolkit nequip nerfacc nerfstudio neural-compressor neuralforecast neuraloperator nnunetv2 numpyro nvidia-modelopt
    nvidia-pytriton onnxruntime-training opacus open-clip-torch open-flamingo openai-whisper optax optimistix optimum optimum-intel
    optimum-quanto orbax-checkpoint ott-jax peft pyannote-audio pykeen pynvvideocodec pyro-ppl python-doctr pytorch-fid
    pytorch-forecasting pytorch-ignite pytorch-lightning pytorch-optimizer pytorch-tabnet pytorch-transformers pytorch3d rfdetr
    rotary-embedding-torch sae-lens sbi schedulefree scvi-tools sdv segmentation-models-pytorch sentence-transformers setfit
    sgl-deep-gemm skorch spacy-transformers spconv-cu118 spconv-cu120 speechbrain spleeter stable-baselines3 stable-ts stanza
    surya-ocr tabpfn tensordict tensorflow-addons tensorflow-data-validation tensorflow-decision-forests tensorflow-hub
    tensorflow-probability tensorflow-ranking tensorflow-recommenders tensorflow-text tensorflow-transform tensorflowjs terratorch
    tf-keras tf2onnx tfx tianshou timm torch-audiomentations torch-geometric torch-harmonics torch-npu torch-optimizer
    torch-ort-infer torch-pruning torchani torchdata torchdiffeq torchgeo torchio torchmetrics torchrl torchsde torchtune
    totalsegmentator transformer-lens trl tsai txtai ultralytics unsloth unsloth-zoo vector-quantize-pytorch vit-pytorch
    vllm-flash-attn vocos warp-lang whisperx
""".split()
# These require no framework, so their listing tells enough.
LISTED = """
    addict aiofiles aiohttp albumentations anthropic antlr4-python3-runtime apache-tvm-ffi appdirs ase attrs av awscli biopython
    black blis blosc2 bokeh bottleneck build certifi cffi chardet click cmake colorama comet-ml confection contourpy coverage
    cryptography cutensor-cu12 cvxpy cycler cyclopts cymem cython dask datasets
    decorator decord dill distributed dm-control docutils duckdb easydict editdistance einops einops-exts evaluate faiss-cpu
    faker fastapi fastparquet filelock fiona fire flake8 frozenlist fsspec ftfy furo future fuzzywuzzy gdown
    gensim geopandas gitpython google gradio gradio-client greenlet grpcio grpcio-tools gymnasium gymnasium-robotics h5py
    hdbscan hf-transfer hf-xet hjson httptools huggingface-hub hydra-core hyperopt idna imageio imageio-ffmpeg immutabledict
    importlib-metadata inflect iopath ipykernel ipython ipywidgets isort jedi jinja2 jiwer joblib jsonargparse jsonlines
    jsonschema jupyter keras kernels kiwisolver langdetect latex2sympy2-extended levenshtein librosa lightgbm llvmlite lm-eval
    lmdb loguru loralib lxml markdown2 markupsafe math-verify matplotlib mediapipe mlflow mmengine mmsegmentation modelscope
    moviepy mpi4py msgpack mujoco multidict murmurhash mypy myst-parser nanobind nbconvert nbformat nbsphinx netcdf4 networkx
    nibabel ninja nltk num2words numba numcodecs numexpr numpy nvidia-cutlass nvidia-ml-py nvidia-nvcomp-cu12
    nvidia-nvimgcodec-cu12 nvitop nvtx omegaconf onnx onnxruntime openai opencv-python opencv-python-headless openmm-cuda-12
    openpyxl opentelemetry-api optuna orjson ortools osqp outlines-core packaging pandas pandoc parso pexpect pillow plotly
    polars pre-commit preshed prometheus-client prompt-toolkit propcache prophet protobuf psutil ptyprocess pudb pulp py-cpuinfo
    pyahocorasick pyarrow pybind11 pycocoevalcap pycocotools pycuda pydantic pydantic-core pydicom pydub pygments pylatexenc
    pylint pymatgen pymupdf pynvml pyparsing pypinyin pyproj pyrsistent pytest pytest-cov pytest-timeout pytest-xdist
    python-dateutil python-dotenv pytz pyyaml pyzmq rapidfuzz rasterio ray rdkit recommonmark regex rembg requests rich
    rocksdict rouge rpds-py ruff sacrebleu safetensors scikit-image scikit-learn scipy seaborn sentencepiece setuptools shapely
    shortuuid simpleitk six sktime sounddevice soundfile spacy sphinx sphinx-argparse sphinx-autodoc-typehints sphinx-copybutton
    sphinx-markdown-tables sphinx-rtd-theme sphinx-togglebutton sqlalchemy srsly sse-starlette statsmodels streamlit sympy
    tables tabulate tensorboard tensorboardx termcolor thinc tiktoken tokenizers tomli torch-memory-saver tqdm trackio traitlets
    transformers trimesh tritonclient tslearn twine typing-extensions tyro ujson umap-learn unidecode urllib3 uvicorn uvloop
    wandb watchfiles wcwidth webdataset websockets wheel xarray xxhash yapf yarl zarr zhon zstandard
""".split()
# What several packages of the catalog pin or bound, each otherwise: two of them need not go together.
SHARED = """
    apache-tvm-ffi compressed-tensors cuda-toolkit dask-cuda flashinfer-cubin grpcio grpcio-reflection humming-kernels
    llguidance ml-dtypes nvidia-cublas-cu11 nvidia-cublas-cu12 nvidia-cuda-runtime-cu11 nvidia-cuda-runtime-cu12
    nvidia-cudnn-frontend nvidia-curand-cu12 nvidia-cutlass-dsl nvidia-nvjitlink nvidia-nvjitlink-cu12 openai outlines
    outlines-core pydantic pylibcudf-cu12 pylibcudf-cu13 pylibraft-cu12 pylibraft-cu13 quack-kernels raft-dask-cu12
    raft-dask-cu13 six tilelang tokenspeed-mla treelite typing-extensions xgrammar
""".split()
# Of these it matters that there are wheels for a Python: their code is compiled for it.
COMPILED = """
    apache-tvm-ffi contourpy grpcio grpcio-tools h5py kiwisolver markupsafe matplotlib msgpack numba numpy onnxruntime
    orjson outlines-core pandas pillow pyarrow pyyaml ray regex scikit-image scikit-learn scipy sentencepiece spacy tiktoken uvloop
    xxhash zstandard
""".split()

# Extras that bring packages of the catalog along, and are asked for.
EXTRAS = {
    "accelerate": ["deepspeed"],
    "datasets": ["audio"],
    "diffusers": ["bitsandbytes", "torch", "torchao"],
    "optimum": ["onnxruntime-gpu"],
    "spacy": ["cuda11x", "cuda12x"],
    "tensorflow-datasets": ["tensorflow"],
    "thinc": ["cuda11x", "cuda12x", "tensorflow", "torch"],
    "transformers": ["tf", "torch"],
}

# What setuptools has no more from 82 on.
NO_PKG_RESOURCES = "It fails to import (\"No module named 'pkg_resources'\")."

# What only the code of a release says: in which file of its wheel, by what pattern, what that needs, and how it shows.
CHECKS = {
    "peft": [
        (
            "peft/import_utils.py",
            r'TORCHAO_MINIMUM_VERSION = packaging\.version\.parse\("([\d.]+)"\)',
            "torchao",
            ">={0}",
            'It adds no LoRA layers where an older torchao is installed ("Found an incompatible version of torchao").',
        ),
    ],
    "torchtune": [
        (
            "torchtune/__init__.py",
            r"(torchao) not installed",
            "torchao",
            "*",
            'It fails to import ("torchao not installed").',
        ),
    ],
    "transformers": [
        (
            "transformers/utils/import_utils.py",
            r"Disabling PyTorch because PyTorch >= ?([\d.]+) is required",
            "torch",
            ">={0}",
            'It runs without torch ("Disabling PyTorch because PyTorch >= {0} is required").',
        ),
        (
            "transformers/integrations/flex_attention.py",
            r"(?m)^@(torch\.compiler)\.",
            "torch",
            ">=2.1",
            "It fails to import (\"module 'torch' has no attribute 'compiler'\").",
        ),
    ],
    "tensorflow-addons": [
        (
            "tensorflow_addons/utils/types.py",
            r"from keras\.src\.(engine) import keras_tensor",
            "tensorflow",
            "<2.16",
            "It fails to import beside Keras 3, which TensorFlow 2.16 and newer bring (\"No module named 'keras.src.engine'\").",
        ),
        (
            "tensorflow_addons/utils/types.py",
            r"(?s)\A(?!.*keras\.src).*from keras\.(engine) import keras_tensor",
            "tensorflow",
            "<2.13",
            "It fails to import beside Keras 2.13 and newer, which TensorFlow 2.13 and newer bring (\"No module named 'keras.engine'\").",
        ),
    ],
    "flax": [
        (
            "flax/core/meta.py",
            r"(?m)^from jax\.experimental import (maps)",
            "jax",
            "<0.4.31",
            "It fails to import (\"cannot import name 'maps' from 'jax.experimental'\").",
        ),
    ],
    "numpyro": [
        (
            "numpyro/ops/provenance.py",
            r"(?m)^from jax\.(?:interpreters\.pxla|extend\.core\.primitives) import .*\b(xla_pmap_p)",
            "jax",
            "<0.10",
            'It fails to import ("cannot import name \'xla_pmap_p\'").',
        ),
    ],
    "tensorflow-probability": [
        *(
            (
                f"{folder}/__init__.py",
                r"(?m)^ *required_tensorflow_version = [\'\"]([\d.]+)[\'\"]",
                "tensorflow",
                ">={0}",
                'It fails to import ("requires TensorFlow version >= {0}").',
            )
            for folder in ["tensorflow_probability", "tensorflow_probability/python"]
        ),
        (
            "tensorflow_probability/python/layers/distribution_layer.py",
            r"tf\.keras\.(__internal__)",
            "tensorflow",
            "<2.16",
            "Its layers fail to import beside Keras 3, which TensorFlow 2.16 and newer bring (\"has no attribute '__internal__'\").",
        ),
    ],
    "timm": [
        (
            "timm/models/layers/helpers.py",
            r"(?m)^from torch\._six import (container_abcs)",
            "torch",
            "<1.9",
            "It fails to import (\"cannot import name 'container_abcs' from 'torch._six'\").",
        ),
    ],
    **{
        package: [(member, r"(?m)^ *(?:import|from|__import__\([\'\"])\s*(pkg_resources)\b", "setuptools", "<82", says)]
        for package, member, says in [
            ("lightning", "lightning/pytorch/__init__.py", NO_PKG_RESOURCES),
            ("pytorch-lightning", "pytorch_lightning/__init__.py", NO_PKG_RESOURCES),
            ("tensorboard", "tensorboard/default.py", NO_PKG_RESOURCES.replace("It fails to import", "Its command fails")),
            ("torchmetrics", "torchmetrics/utilities/imports.py", NO_PKG_RESOURCES),
        ]
    },
    "vllm": [
        (
            "vllm/transformers_utils/tokenizer.py",
            r"tokenizer\.(all_special_tokens_extended)",
            "transformers",
            "<5",
            'It reads what tokenizers of transformers 5 lack ("has no attribute all_special_tokens_extended").',
        ),
    ],
}

# What the code does not start without though the metadata does not ask for it.
IMPORTS = {
    ("lightning", "setuptools"),
    ("pytorch-lightning", "setuptools"),
    ("tensorboard", "setuptools"),
    ("torchmetrics", "setuptools"),
    ("torchtune", "torchao"),
}

# Made for each torch and pinned with it: they are held to it wherever they come in.
OF_TORCH = {"torchvision", "torchaudio", "triton"}
# NVIDIA's libraries that toolkits have as components, and NCCL: what a lock pins wherever they are left open.
KIT = "cuda-toolkit"
NCCL = re.compile(r"nvidia-nccl-cu\d+")
OF_NVIDIA = re.compile(r"nvidia-(?!ml-py)|cuda-toolkit")
# Requirements as setuptools once wrote them, `torch (>=1.9.*)`: since 24.1 pip passes such releases over.
OLD_STAR = re.compile(r"(?<![=!])(?:[<>]=?|~=)\s*[\w.]+\.\*")
SOURCES = {
    "metadata": "ordinary-metadata",
    "code": "ordinary-code",
    "wheels": "ordinary-wheels",
    "only-wheels": "ordinary-wheels",
    "pip": "ordinary-pip",
}
# Processors of Linux that the catalog tells apart, and the newest glibc that every system of it has.
ARCHES = ["x86_64", "aarch64"]
EVERY_GLIBC = Version("2.17")
# What is asked for by what a release brings along. A resolver sees it as it sees what the release itself asks for.
BROUGHT = "brought"
# How it is known what an extra asks for: this and its name.
EXTRA = "extra "
# How it is known what is asked for on some Pythons alone: this and which.
ON = "on "
OF_BROUGHT = "ordinary-brought"
# Lines of Python that a row can be about; a range that holds the last of them has no end. Nobody asks which release of an
# ordinary package was the last for older ones.
FIRST_LINE = "3.6"
LINES = [row["version"] for row in Catalog().rows("python")]
LINES = LINES[LINES.index(FIRST_LINE) :]


def ordinary(catalog, index, write, only):
    """Every row anew; with `write` the file holds these, and those that were written by hand. Where a package could not be read
    its rows stay, and the exit says so."""
    unread = {}
    rows = renew(catalog, index, only, unread, with_brought=True)
    path = catalog.root / "catalog" / FILE
    for package, why in unread.items():
        print(f"# could not be read: {package}: {why}: its rows stay as they are", file=sys.stderr)
    print(f"# {len(rows)} rows of {len({row['package'] for row in rows})} packages", file=sys.stderr)
    if write:
        catalog.write()
        return 1 if unread else 0
    sys.stdout.write(catalog.patch())
    return 1 if unread or catalog.changed[path] != catalog.files[path] else 0


def renew(catalog, index, only, unread, with_brought=False):
    """Puts the rows of these packages into the file anew, of all where none is named; the rows. What the releases bring along is
    read if it is asked for: else the rows of it stay as they are. So do those of a package that cannot be read: it is put into
    `unread`."""
    solved = {row["package"] for row in catalog.rows("build") + catalog.rows("companion")}
    rows, asked = [], [one for one in sorted({*BESIDE, *LISTED, *solved}) if not only or one in only]
    for package in asked:
        needs = of_solved if package in solved else of_ordinary
        with reading(unread, package):
            found = needs(catalog, index, package, solved)
            if with_brought and package in solved:
                add_brought(catalog, index, package, found)
            told = [row for row in ranges(package, found) if tells(catalog, row)]
            # That it was read is known all the same: it takes any Python, and nothing of what is solved with is against it.
            takes_all = {version: {("python", "metadata"): ("*", None)} for version in found}
            rows += told or package not in solved and ranges(package, takes_all) or []
    written = {*SOURCES.values(), *([OF_BROUGHT] if with_brought else [])}
    by_hand = [row for row in catalog.rows("asks") if row["source"] not in written]
    rows = [row for row in rows if not any(says_so(one, row) for one in by_hand)]
    path = catalog.root / "catalog" / FILE
    lines = catalog.files[path].splitlines(keepends=True)
    mine = [line for line in lines if line.startswith("  {") and whole(row_of(line))["source"] in {*written, OF_BROUGHT}]
    stays = lambda row: row["package"] in unread or only and row["package"] not in only or row["source"] == OF_BROUGHT and not with_brought
    kept = [line for line in mine if stays(whole(row_of(line)))]
    new = sorted(kept + [f"  {inline(spare('asks', row))},\n" for row in rows], key=place)
    head = [line for line in lines if line not in mine and line.strip() != "]"]
    catalog.changed[path] = "".join([*head, *new, "]\n"])
    return rows


def behind(catalog, index, package, versions):
    """Whether some of these releases of a package that is solved with need something else than the rows say."""
    rows = [row for row in catalog.rows("asks") if row["package"] == package]
    for version, needs in of_solved(catalog, index, package, None, versions).items():
        told = {kind: spec for kind, (spec, _) in needs.items() if tells(catalog, {"of": kind[0], "needs": spec})}
        said = {(row["of"], how(row)): row for row in rows if admits(row["range"], version)}
        read = {kind for kind, row in said.items() if row["source"] in SOURCES.values()}
        if read - told.keys() or any(kind not in said or said[kind]["needs"] != spec for kind, spec in told.items()):
            return True
    return False


def how(row):
    """How it is known what a row of a package that is solved with says."""
    return f"{ON}{row['python']}" if row.get("python") else row["found_in"]


def says_so(by_hand, row):
    """Whether a row that was written by hand says the same, of older releases, too."""
    alike = all(by_hand.get(key) == row.get(key) for key in ("package", "of", "needs", "found_in", "extra", "python"))
    return alike and admits(by_hand["range"], row["read"])


def place(line):
    """Rows of one package about one other stand together, oldest first."""
    row = whole(row_of(line))
    return row["package"], row["of"], row["found_in"], row.get("extra", ""), Version(row["read"]), row.get("python", "")


def whole(row):
    """A row as `Catalog.rows` has it."""
    return filled("asks", row)


def tells(catalog, row):
    """Whether a need leaves out anything that the catalog has of the other; of ordinary packages each does."""
    known = [one["version"] for one in catalog.rows("build") + catalog.rows("companion") if one["package"] == row["of"]]
    known = LINES if row["of"] == "python" else known
    if row["of"] == "pip":
        return True
    # What follows a framework or CUDA may not go with the stack, whichever release of it is asked for: that it comes along tells.
    if row["of"] in followers(catalog) - OF_TORCH and row.get("package") not in followers(catalog):
        return True
    if row["needs"] == "*":
        return not known or any(row.get(place) for place in ("arches", "glibc", "arm_glibc"))
    asked = SpecifierSet(row["needs"])
    return not known or not all(asked.contains(version.split("+")[0], prereleases=True) for version in known)


def followers(catalog):
    """The packages that follow a framework, or CUDA alone."""
    return {row["package"] for row in catalog.rows("companion")}


def of_ordinary(catalog, index, package, solved):
    """Release → {(what, how it is known): (the need, how it shows)} of an ordinary package: of what is solved with, and of
    those whose code is checked, for they come along."""
    found, names = {}, {*solved, *CHECKS} - {package}
    for version, files in sorted((sources_between(index, package) | releases(index, package)).items()):
        needs = found[version] = {}
        if not files:
            continue
        wheels, best = files, files[-1]
        for kind, spec in told(index, best, names, "*", wheels).items() if package in BESIDE else ():
            needs[kind] = spec, None
        for extra in EXTRAS.get(package, ()):
            for name, spec in of_extra(index, best, solved, extra).items():
                needs[name, f"{EXTRA}{extra}"] = spec, None
        if package in BESIDE and is_refused(index, best):
            needs["pip", "metadata"] = "<24.1", None
        if declared := lines_of(best.requires_python):
            needs["python", "metadata"] = declared, None
        if isinstance(best, Source):
            pass  # It is compiled for whatever Python it admits.
        elif version not in with_source(index, package):
            if only := only_wheels(index, package, version, declared):
                needs["python", "only-wheels"] = only
        elif package in COMPILED and (built := built_for(wheels)) and not within(declared, built):
            needs["python", "wheels"] = built, None
        needs.update(checked(index, package, best))
    return found


def of_solved(catalog, index, package, _solved, only=None):
    """The same of a package that is solved with, for the releases that the catalog has, or these of them: what it needs of
    ordinary ones."""
    rows = [row for row in catalog.rows("build") + catalog.rows("companion") if row["package"] == package]
    known = {Version(row["version"].split("+")[0]) for row in rows}
    # What a framework pins of CUDA differs from variant to variant, and stands with its builds.
    frameworks = {row["package"] for row in catalog.rows("build")}
    found = {}
    for version, wheels in releases(index, package).items():
        if version not in known or only is not None and version not in only:
            continue
        needs = told(index, wheels[-1], {*BESIDE, *LISTED, *SHARED}, None, wheels)
        if package in frameworks:
            needs = {kind: spec for kind, spec in needs.items() if not OF_NVIDIA.match(kind[0])}
        found[version] = {kind: (spec, None) for kind, spec in needs.items()}
        for (of, how), need in checked(index, package, wheels[-1]).items():
            # What its metadata says already every installer knows.
            if "<" not in needs.get((of, "metadata"), ""):
                found[version][of, how] = need
    if only is not None:
        return found
    # Older ones have no wheel to read: what the first of these asks for is not told of them.
    unread = {version: {} for version in known if version < min(found, default=version)}
    return unread | found


def add_brought(catalog, index, package, found):
    """Adds what the releases bring along of CUDA's libraries: what they ask for themselves stands in `requires` or is there."""
    frameworks = {row["package"] for row in catalog.rows("build")}
    if package in frameworks:
        return
    components = {name for row in catalog.rows("libraries") if row["package"] == KIT for name in re.findall(r"[^ =<>~!,]+(?=[=<>~!])", row["pins"])}
    # Of libraries of NVIDIA's that are listed it is told what they bring in turn.
    stop = {*BESIDE, *(name for name in LISTED if not OF_NVIDIA.match(name)), *frameworks, KIT}
    required = {}
    for row in catalog.rows("companion"):
        if row["package"] == package:
            names = {re.match(r"[\w.-]+", line)[0] for line in row.get("requires", [])}
            required.setdefault(Version(row["version"].split("+")[0]), set()).update(names)
    read = releases(index, package)
    for version, needs in found.items():
        wheel = read[version][-1] if version in read else None
        if wheel is None or isinstance(wheel, Source):
            continue
        extras, python = {extra_of(package, index.needs(wheel)) or ""}, newest_line(wheel)
        newest = follow(index, wheel, extras, python, -1, stop)
        # Of other libraries of NVIDIA's a pin alone can be at odds with that of another package.
        is_told = lambda name: name in components or NCCL.fullmatch(name) or any(one.startswith("==") for one in newest[name])
        is_open = {
            name for name in newest if is_told(name) and (name, "metadata") not in needs and name not in required[version]
        }
        # What an older one that may be taken does not ask for leaves nothing out.
        oldest = follow(index, wheel, extras, python, 0, stop) if is_open else {}
        for name in sorted(is_open):
            needs[name, BROUGHT] = narrowed(newest[name] & oldest.get(name, set())) or "*", None


def follow(index, wheel, extras, python, pick, stop, asked=None, seen=None):
    """What a wheel and what it brings along ask for of NVIDIA's packages: of a range the newest release that fits, or the
    oldest."""
    asked, seen = {} if asked is None else asked, set() if seen is None else seen
    for line in index.needs(wheel).get_all("Requires-Dist") or []:
        try:
            one = Requirement(line)
        except InvalidRequirement:
            continue
        name = canonicalize_name(one.name)
        if name in stop or not any(applies(one.marker, "x86_64", extra, python) for extra in {"", *extras}):
            continue
        if name == wheel.package:
            # An extra may name others of its own package.
            if more := set(one.extras) - extras:
                follow(index, wheel, extras | more, python, pick, stop, asked, seen)
            continue
        if name.startswith("nvidia-"):
            asked.setdefault(name, set()).update(str(one.specifier).split(","))
        key = name, str(one.specifier), frozenset(one.extras)
        if key in seen:
            continue
        seen.add(key)
        fitting = [files for version, files in releases(index, name).items() if one.specifier.contains(version)]
        if fitting and not isinstance(fitting[pick][-1], Source):
            follow(index, fitting[pick][-1], set(one.extras), python, pick, stop, asked, seen)
    return asked


def newest_line(wheel):
    """The newest line of Python that a wheel is for."""
    lines = [line for line in LINES if wheel.requires_python is None or on(wheel.requires_python, line)]
    built = {f"{tag[2]}.{tag[3:]}" for tag in wheel.pythons if tag.startswith("cp")}
    return ([line for line in lines if line in built] or lines or LINES)[-1]


def narrowed(parts):
    """Several bounds as one range; nothing where it holds what has no order."""
    parts = sorted(part for part in parts if part)
    spec = plain(",".join(parts)) if parts else None
    if not spec:
        return None
    kept = {}
    for part in spec.split(","):
        operator = re.match(r"[<>=!~]+", part)[0]
        number = Version(part[len(operator):].removesuffix(".*"))
        low, high = operator in (">", ">="), operator in ("<", "<=")
        key = "low" if low else "high" if high else part
        if key not in kept or (low and number > kept[key][0]) or (high and number < kept[key][0]):
            kept[key] = number, part
    return ",".join(part for _, part in kept.values())


def checked(index, package, wheel):
    """What the code of a release needs: of each other package the first check of a lower and of an upper end."""
    ends = {}
    for member, pattern, of, needs, says in CHECKS.get(package, []):
        if (of, needs[0]) not in ends and (told := index.searched(wheel, member, pattern)):
            ends[of, needs[0]] = needs.format(told), says.format(told)
    found = {}
    for (of, _), (needs, says) in ends.items():
        before = found.get((of, "code"))
        found[of, "code"] = (f"{before[0]},{needs}", f"{before[1]} {says}") if before else (needs, says)
    return found


def releases(index, package):
    """The final releases with a wheel for Linux, oldest first, each with its wheels for x86_64, newest Python last.

    Of a package that never had a wheel, its source distributions.
    """
    found = {}
    for file in [one for one in index.wheels(package) if one.arch in ("x86_64", "any")] or index.sources(package):
        if re.fullmatch(r"\d+(\.\d+)*(\.post\d+)?", str(file.version)) and not file.yanked:
            found.setdefault(file.version, []).append(file)
    return {version: sorted(files, key=lambda file: (len(file.name), file.name)) for version, files in found.items()}


def sources_between(index, package):
    """The releases after the first wheel that came as source only, each with its source distribution; with nothing where that
    does not say what it asks for: its build does."""
    first, found = min((file.version for file in index.wheels(package) if file.arch in ("x86_64", "any")), default=None), {}
    for file in index.sources(package) if first is not None else ():
        if file.version > first and re.fullmatch(r"\d+(\.\d+)*(\.post\d+)?", str(file.version)) and not file.yanked:
            found[file.version] = [file]
    for version in found.keys() - releases(index, package).keys() if package in BESIDE else ():
        metadata, lines = index.described(found[version][0])
        if not lines or "requires-dist" in map(str.lower, metadata.get_all("Dynamic") or []):
            found[version] = []
    return found


def asked_by(index, file):
    """The requirements of a wheel, or of a source distribution as it was packed."""
    if isinstance(file, Source):
        return parsed(index.described(file)[1])
    return installed_with(index.needs(file), file.package)


def told(index, wheel, names, bare=None, wheels=()):
    """(name, how it is known) → what a wheel's metadata asks for of these: on every Python that the release has wheels for, and
    on some of them what is asked for there alone. What takes any release is left out, or told as `bare`."""
    tags = {tag for one in wheels if not isinstance(one, Source) for tag in one.pythons}
    built = {f"{tag[2]}.{tag[3:]}" for tag in tags if all(tag.startswith("cp") for tag in tags)}
    lines = [line for line in LINES if wheel.requires_python is None or on(wheel.requires_python, line)]
    pythons = [line for line in lines if line in built] or lines
    asked = {}
    for name, spec, marker in asked_by(index, wheel):
        if name not in names or "extra" in str(marker or ""):
            continue
        for python in pythons:
            if applies(marker, "x86_64", "", python):
                asked.setdefault(name, {}).setdefault(python, set()).update(part for part in str(spec).split(",") if part)
    found = {}
    for name, by_python in asked.items():
        is_everywhere = len(by_python) == len(pythons)
        common = set.intersection(*by_python.values()) if is_everywhere else set()
        if is_everywhere and (spec := plain(",".join(sorted(common))) if common else bare):
            found[name, "metadata"] = spec
        for parts, run in groupby(pythons, lambda python: by_python.get(python, common) - common):
            if parts and (spec := plain(",".join(sorted(parts)))):
                found[name, f"{ON}{as_range(list(run), pythons)}"] = spec
    return found


def of_extra(index, wheel, names, extra):
    """What an extra of a wheel asks for of these, on the newest Python that the wheel is for."""
    if isinstance(wheel, Source):
        return {}
    found, plainly = {}, told(index, wheel, names)
    for name, spec, marker in requirements(index.needs(wheel)):
        if name in names and "extra" in str(marker) and applies(marker, "x86_64", extra, newest_line(wheel)):
            found.setdefault(name, set()).update(part for part in str(spec).split(",") if part)
    specs = {name: plain(",".join(sorted(parts))) if parts else None for name, parts in found.items()}
    return {name: spec for name, spec in specs.items() if spec and spec != plainly.get((name, "metadata"))}


def is_refused(index, wheel):
    """Whether pip refuses what a wheel asks for, wherever it is asked for."""
    lines = [] if isinstance(wheel, Source) else index.needs(wheel).get_all("Requires-Dist") or []
    return any(OLD_STAR.search(line.split(";")[0]) for line in lines)


def plain(spec):
    """A specifier as the catalog writes it, `>=` before `<`; nothing where it holds what has no order or is no release."""
    spec = re.sub(r"([<>]=?[\d.]+?)\.\*", r"\1", spec)
    # Rows are about releases: `<3a0` and `<3.dev0` leave out what `<3` does, and `>=0.0.0a0` nothing.
    spec = re.sub(r"(<|>=)([\d.]*\d)\.?(?:a|b|rc|dev)\d*", r"\1\2", spec)
    spec = ",".join(part for part in spec.split(",") if not re.fullmatch(r">=0(\.0)*", part))
    parts = sorted(set(spec.split(",")), key=lambda part: (part[0] == "<", part[0] == "!", part))
    if any("+" in part or "===" in part or not re.fullmatch(r"[<>=!~]+\d+(\.\d+)*(\.post\d+|\.\*)?", part) for part in parts):
        return None
    return ",".join(parts)


def on(requires_python, line):
    """Whether a line of Python has a release that is asked for."""
    asked = SpecifierSet(requires_python)
    return any(asked.contains(f"{line}.{micro}") for micro in range(40))


def lines_of(requires_python):
    """`>=3.8`, `>=3.7,<3.11`: the lines of Python that are asked for; nothing where that is all or not one range."""
    if not requires_python:
        return None
    asked = [line for line in LINES if on(requires_python, line)]
    return as_range(asked)


def as_range(lines, of=LINES):
    """Lines that follow each other as a range; one that holds the newest of those that there are has no end."""
    if not lines or lines == of:
        return None
    first, last = of.index(lines[0]), of.index(lines[-1])
    if lines != of[first : last + 1]:
        return None
    begin = [f">={lines[0]}"] if first else []
    end = [f"<{of[last + 1]}"] if last + 1 < len(of) else []
    return ",".join(begin + end)


def built_for(wheels):
    """The lines of Python that a release has wheels for."""
    lines = set()
    for tag in {tag for wheel in wheels for tag in wheel.pythons}:
        if tag == "abi3" or tag.startswith("py"):
            return None
        lines.add(f"{tag[2]}.{tag[3:]}")
    return as_range(sorted(lines & set(LINES), key=LINES.index))


@lru_cache(maxsize=None)
def with_source(index, package):
    """The releases that have anything but wheels: what has no wheel can be compiled."""
    names = [re.sub(r"\.(zip|tgz|tar\.\w+)$", "", link["name"]) for link in index.links(package)]
    others = [name.rsplit("-", 1)[-1] for name in names if not re.search(r"\.(whl|egg|exe|msi|rpm|dmg)$", name)]
    return {Version(one) for one in others if re.fullmatch(r"\d+(\.\d+)*((a|b|rc|\.?post|\.?dev)\d+)?", one)}


def only_wheels(index, package, version, declared):
    """What the wheels of a release are for, where there is nothing but wheels: Pythons, processors, glibc; nothing where that
    leaves nobody out."""
    wheels = [one for one in index.wheels(package) if one.version == version and not one.yanked and (one.glibc or one.arch == "any")]
    if not wheels:
        return None
    built = built_for(wheels)
    built = built if built and not within(declared, built) else "*"
    arches, glibc, of_arm = None, None, None
    if all(one.glibc for one in wheels):
        by_arch = {arch: [Version(one.glibc) for one in wheels if one.arch == arch] for arch in ARCHES}
        oldest = {arch: min(versions) for arch, versions in by_arch.items() if versions}
        arches = list(oldest)
        general, of_arm = next(iter(oldest.values())), oldest.get("aarch64")
        glibc = general if general > EVERY_GLIBC else None
        of_arm = of_arm if of_arm and of_arm != general and (glibc or of_arm > EVERY_GLIBC) else None
    told = arches if arches != ARCHES else None, *(one and str(one) for one in (glibc, of_arm))
    return (built, None, *told) if built != "*" or any(told) else None


def within(declared, built):
    """Whether the metadata refuses each Python already that there is no wheel for."""
    admitted = [line for line in LINES if declared is None or on(declared, line)]
    return all(on(built, line) for line in admitted)


def ranges(package, found):
    """Releases that follow each other and need the same, as one row each."""
    rows = []
    versions = list(found)
    for kind in sorted({kind for needs in found.values() for kind in needs}):
        at = 0
        while at < len(versions):
            need = found[versions[at]].get(kind)
            end = at
            while end < len(versions) and found[versions[end]].get(kind) == need:
                end += 1
            if need:
                rows.append(one_row(package, kind, need, versions, at, end))
            at = end
    return rows


def begin(versions, at):
    """Where a release begins: with its minor line, if it is the first of it that is there."""
    line = versions[at].release[:2]
    return ".".join(map(str, line)) if len(line) == 2 and line != versions[at - 1].release[:2] else versions[at]


def one_row(package, kind, need, versions, at, end):
    """One row; the first releases of all have no lower bound, the newest no upper one where later ones cannot need less. Of what
    the metadata asks of Python the newest has one all the same: up to there all releases were read."""
    (of, how), (needs, says, *place) = kind, need
    arches, glibc, arm_glibc = place or (None, None, None)
    extra = how.removeprefix(EXTRA) if how.startswith(EXTRA) else None
    python = how.removeprefix(ON) if how.startswith(ON) else None
    how = "metadata" if extra or python else how
    bounds = [f">={begin(versions, at)}"] if at else []
    if end < len(versions):
        bounds.append(f"<{begin(versions, end)}")
    elif (of, how) == ("python", "metadata") or not re.fullmatch(r">=[\d.]+", needs):
        bounds.append(f"<={versions[-1]}")
    row = {
        "package": package,
        "range": ",".join(bounds) or "*",
        "of": of,
        "needs": needs,
        "found_in": "metadata" if how == BROUGHT else how,
        "imports": how == "code" and (package, of) in IMPORTS,
        "says": says,
        "extra": extra,
        "arches": arches,
        "glibc": glibc,
        "arm_glibc": arm_glibc,
        "python": python,
        "read": versions[at],
        "source": OF_BROUGHT if how == BROUGHT else SOURCES["pip" if of == "pip" else how],
    }
    return {"id": asks_id(row), **row}
