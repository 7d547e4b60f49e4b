# What an interpreter is and which packages it would import, without importing any. Runs under every Python since 2.7;
# names are read from the directories that installers leave behind, because a broken package must not matter here.
import io
import json
import os
import re
import struct
import sys

sites = []
packages = {}
origins = {}


def origin(folder):
    """Whence a package was installed if that was no index: what the note beside it says (PEP 610). Never the address
    itself, which may hold a password."""
    note = os.path.join(folder, "direct_url.json")
    try:
        if not os.path.isfile(note):
            return None
        with io.open(note, encoding="utf-8") as file:
            told = json.loads(file.read(1 << 16))
        if "vcs_info" in told:
            return "repository"
        if "dir_info" in told:
            return "folder"
        archive = told["archive_info"]
        digest = (archive.get("hashes") or {}).get("sha256") or archive.get("hash") or ""
        digest = digest.lower().replace("sha256=", "", 1)
        return "sha256:" + digest if re.match("^[0-9a-f]{64}$", digest) else "file"
    except Exception:
        # Whatever is wrong with a note, the package is there.
        return None


# What is named to this script are the folders of PYTHONPATH.
for folder in sys.argv[1:] + sys.path:
    if not folder.startswith("/") or not os.path.isdir(folder):
        continue
    found = False
    try:
        folder.encode("utf-8")
        names = sorted(os.listdir(folder))
    except (OSError, UnicodeError):
        # What cannot be read, or not be written as text, cannot be told.
        continue
    for name in names:
        match = re.match(r"^([A-Za-z0-9_.]+?)-([^-]+)(-py[0-9.]+[^.]*)?\.(?:dist-info|egg-info|egg)$", name)
        if match:
            found = True
            key = re.sub(r"[-_.]+", "-", match.group(1)).lower()
            if key not in packages:
                packages[key] = match.group(2)
                whence = origin(os.path.join(folder, name))
                if whence:
                    origins[key] = whence
    if found or os.path.basename(folder) in ("site-packages", "dist-packages"):
        sites.append(folder)

version = "%d.%d.%d" % tuple(sys.version_info[:3])
if sys.version_info[3] != "final":
    version += {"alpha": "a", "beta": "b"}.get(sys.version_info[3], "rc") + str(sys.version_info[4])
answer = {"version": version, "bits": struct.calcsize("P") * 8, "sites": sites, "packages": packages, "origins": origins}
sys.stdout.write("\ngpuenv=" + json.dumps(answer) + "\n")
