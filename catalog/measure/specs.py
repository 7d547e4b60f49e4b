"""Random specs: what somebody might ask of gpuenv, drawn from what its catalog can name. The same seed draws the same."""

from catalog import numbers

FRAMEWORKS = ("torch", "tensorflow", "jax")
# How often each set of frameworks is asked for, of a hundred.
MIXES = {
    ("torch",): 60,
    (): 4,
    ("jax",): 10,
    ("tensorflow",): 10,
    ("torch", "tensorflow"): 6,
    ("torch", "jax"): 6,
    ("tensorflow", "jax"): 2,
    ("torch", "tensorflow", "jax"): 2,
}
DRIVERS = ("450", "470", "510", "515", "525", "535", "545", "550", "560", "570", "575", "580", "590", "595")
SYSTEMS = ("ubuntu20.04", "ubuntu22.04", "ubuntu24.04", "debian11", "debian12", "rhel8", "rhel9", "amzn2023")
PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
CUDAS = ("11.8", "12", "12.1", "12.4", "12.6", "12.8", "12.9", "13", "13.0")
# Cards that nobody starts a project on: their locks are of releases whose wheels asked for nothing.
OLDEST_CAPABILITY = (5, 0)


class Specs:
    """Draws specs; `chance` is a random.Random."""

    def __init__(self, catalog, chance):
        self.chance = chance
        self.versions, self.followers = {}, {}
        for row in catalog.rows("build"):
            self.versions.setdefault(row["package"], set()).add(row["version"])
        for row in catalog.rows("companion"):
            self.versions.setdefault(row["package"], set()).add(row["version"])
            self.followers.setdefault(row["framework"], set()).add(row["package"])
        self.variants = {(row["package"], row["version"]): set() for row in catalog.rows("build")}
        for row in catalog.rows("build"):
            self.variants[row["package"], row["version"]].add(row["variant"])
        self.gpus = {}
        for row in catalog.rows("gpu"):
            if numbers(row["cc"]) >= OLDEST_CAPABILITY and row["class"] != "jetson":
                self.gpus.setdefault(row["cc"], []).append(row)

    def draw(self):
        """The text of one gpuenv.toml."""
        lines = ["[stack]"]
        for package, constraint in self.stack().items():
            lines.append(f'{package} = "{constraint}"')
        for name in ("a", "b") if self.happens(0.08) else ("a",):
            lines += ["", f"[target.{name}]", *self.target()]
        return "\n".join(lines) + "\n"

    def stack(self):
        mix = self.chance.choices(list(MIXES), list(MIXES.values()))[0]
        stack = {package: self.constraint(package, len(mix) == 1) for package in mix}
        if len(mix) == 1 and self.happens(0.3):
            # Somebody wants a release of what follows a framework, and whatever framework goes with it.
            stack = {mix[0]: "*"}
        for framework in mix:
            near = sorted(self.followers.get(framework, ()))
            count = self.chance.choices((0, 1, 2, 3), (25, 40, 25, 10) if framework == "torch" else (70, 30, 0, 0))[0]
            for package in self.chance.sample(near, min(count, len(near))):
                # Two releases named side by side seldom go together.
                exact = stack[framework] == "*" and self.happens(0.5)
                stack[package] = self.constraint(package, True) if exact else "*"
        # What follows a CUDA major and no framework.
        if not mix or self.happens(0.1):
            for package in self.chance.sample(sorted(self.followers["cuda"]), self.chance.choice((1, 1, 2))):
                stack[package] = self.constraint(package, False) if self.happens(0.4) else "*"
        if self.happens(0.5):
            stack["python"] = self.chance.choice(PYTHONS)
        if self.happens(0.12):
            stack["cuda"] = self.chance.choice(CUDAS)
        return stack

    def constraint(self, package, alone):
        releases = sorted(self.versions[package], key=numbers)
        # The newer half is asked for twice as often.
        weights = [1 if at < len(releases) / 2 else 2 for at in range(len(releases))]
        version = self.chance.choices(releases, weights)[0]
        minor = ".".join(version.split(".")[:2])
        kind = self.chance.choices(("any", "minor", "exact", "up to", "build"), (25, 35, 25, 10, 5 if alone else 0))[0]
        variants = sorted(self.variants.get((package, version), ()))
        if kind == "build" and variants:
            return f"{version}+{self.chance.choice(variants)}"
        return {"any": "*", "minor": minor, "exact": f"=={version}", "up to": f"<={minor}", "build": minor}[kind]

    def target(self):
        if self.happens(0.07):
            lines = ['gpu = "none"']
            if self.happens(0.4):
                lines.append('arch = "aarch64"')
        else:
            capability = self.chance.choice(sorted(self.gpus, key=numbers))
            gpu = self.chance.choice(self.gpus[capability])
            lines = [f'gpu = "{gpu["name"]}"']
            if gpu["class"] == "datacenter" and "cpu" not in gpu and self.happens(0.12):
                lines.append('arch = "aarch64"')
            if self.happens(0.5):
                lines.append(f'driver = "{self.chance.choice(DRIVERS)}"')
        if self.happens(0.4):
            lines.append(f'os = "{self.chance.choice(SYSTEMS)}"')
        return lines

    def happens(self, probability):
        return self.chance.random() < probability
