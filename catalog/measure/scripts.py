"""How a source distribution builds itself, read out of its scripts without running them."""

import ast
import re
import sys
import tomllib

# What a build without isolation finds installed: the framework it is built beside, and CUDA.
BESIDE = re.compile(r"torch|nvidia-.*")
# What a build asks for that names nothing, as installers take it (PEP 518).
UNSAID = ["setuptools", "wheel"]


def tools(members):
    """What a build imports or asks for, by name, in order; the framework and CUDA aside."""
    asked = tomllib.loads(members.get("pyproject.toml", "")).get("build-system", {}).get("requires", UNSAID)
    setup = ast.parse(members["setup.py"])
    for call in ast.walk(setup):
        if isinstance(call, ast.keyword) and call.arg == "setup_requires" and isinstance(call.value, ast.List):
            asked = asked + ast.literal_eval(call.value)
    description = members.get("README.md") or members["PKG-INFO"]
    asked = asked + re.findall(r"Make sure that `([a-z]+)` is installed", description)
    found = {re.match(r"[\w.-]+", one)[0].lower().replace("_", "-") for one in asked}
    for node in ast.walk(setup):
        found |= imports(node)
    for name, text in members.items():
        if name.startswith("build_tools/"):
            # What they import within functions or under a condition is for other frameworks.
            found |= set().union(*map(imports, ast.parse(text).body))
    own = {name.split("/")[0].removesuffix(".py") for name in members}
    known = own | sys.stdlib_module_names | {"distutils"}
    return sorted(name for name in found if name not in known and not BESIDE.fullmatch(name))


def imports_framework(members):
    """Whether setup.py imports torch whatever else there is: isolated, it finds none, or another than the one installed."""
    return any("torch" in imports(node) for node in ast.parse(members.get("setup.py", "")).body)


def imports(node):
    """The outermost modules that a statement imports."""
    if isinstance(node, ast.Import):
        return {name.name.split(".")[0] for name in node.names}
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return {node.module.split(".")[0]}
    return set()


def archs(members):
    """The variable that says for which GPUs to compile, with what it stands at: `FLASH_ATTN_CUDA_ARCHS=80;90`."""
    told = re.search(r'getenv\("(\w+_ARCHS)", "([\d;]+)"\)', members["setup.py"])
    return told and f"{told[1]}={told[2]}"
