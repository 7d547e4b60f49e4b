# What an interpreter is and which packages it would import, without importing any. Runs under every Python since 2.7;
# names are read from the directories that installers leave behind, because a broken package must not matter here.
import json
import os
import re
import struct
import sys

sites = []
packages = {}
for folder in sys.path:
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
            packages.setdefault(key, match.group(2))
    if found or os.path.basename(folder) in ("site-packages", "dist-packages"):
        sites.append(folder)

version = "%d.%d.%d" % tuple(sys.version_info[:3])
if sys.version_info[3] != "final":
    version += {"alpha": "a", "beta": "b"}.get(sys.version_info[3], "rc") + str(sys.version_info[4])
answer = {"version": version, "bits": struct.calcsize("P") * 8, "sites": sites, "packages": packages}
sys.stdout.write("\ngpuenv=" + json.dumps(answer) + "\n")
