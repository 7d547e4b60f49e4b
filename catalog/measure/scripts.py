"""How a source distribution builds itself, read out of its scripts without running them."""

import ast
import re
import sys
import tomllib

# What a build without isolation finds installed: the framework it is built beside, of which some have scripts for several,
# and CUDA.
BESIDE = re.compile(r"torch|paddle|nvidia-.*")
# What a build asks for that names nothing, as installers take it (PEP 518).
UNSAID = ["setuptools", "wheel"]


def tools(members):
    """What a build imports or asks for, by name, in order; the framework and CUDA aside."""
    asked = tomllib.loads(members.get("pyproject.toml", "")).get("build-system", {}).get("requires", UNSAID)
    setup = ast.parse(members["setup.py"])
    lists = {target.id: one.value for one in setup.body if isinstance(one, ast.Assign) for target in one.targets if isinstance(target, ast.Name)}
    for call in ast.walk(setup):
        if isinstance(call, ast.keyword) and call.arg == "setup_requires":
            named = lists.get(call.value.id) if isinstance(call.value, ast.Name) else call.value
            asked = asked + (ast.literal_eval(named) if isinstance(named, ast.List) else [])
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
    return any("torch" in needed(node) for node in ast.parse(members.get("setup.py", "")).body)


def needed(node):
    """The outermost modules without which a statement ends the script, be it with words of its own."""
    if isinstance(node, ast.Try) and all(isinstance(one.body[-1], ast.Raise) for one in node.handlers):
        return set().union(*map(needed, node.body))
    return imports(node)


def required(lines, version):
    """What a build asks for once it is installed, in order, extras aside; `{version}` is its own, and `{cuda}` the major of
    the CUDA that the torch it is built beside is for: what is packed says that of the machine that packed it."""
    said = set()
    for line in (line for line in lines if "extra ==" not in line):
        name, rest = re.fullmatch(r"([\w.-]+)(.*)", line.replace(" ", "")).groups()
        name = re.sub(r"[-_.]+", "-", name).lower()
        if rest == f"=={version}":
            name, rest = re.sub(r"-cu\d+$", "-cu{cuda}", name), "=={version}"
        said.add(name + rest)
    return sorted(said)


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


def switch(members):
    """What has the build compile for CUDA where it sees no GPU: `FORCE_CUDA=1`."""
    told = re.search(r"""getenv\(['"](FORCE_CUDA)['"]""", members["setup.py"])
    return told and f"{told[1]}=1"
