"""Ends of support of systems, by the data of endoflife.date."""

NAME = "endoflife"
FILES = "os.toml"
ADDRESS = "https://endoflife.date/api/{product}.json"
# A system's family → the product there, and the field that is the end of standard support: of Debian `eol` is that of
# the long-term support, which others give.
PRODUCTS = {
    "ubuntu": ("ubuntu", "eol"),
    "debian": ("debian", "support"),
    "rhel": ("rhel", "eol"),
    "centos-stream": ("centos-stream", "eol"),
    "amzn": ("amazon-linux", "eol"),
    "fedora": ("fedora", "eol"),
    "opensuse-leap": ("opensuse", "eol"),
    "sles": ("sles", "eol"),
    "nixos": ("nixos", "eol"),
}
# These publish their dates themselves, as data (pkg:deb/debian/distro-info-data): a row is filled in, never changed.
OWN_DATES = ("ubuntu", "debian")


def read(feed):
    for family, (product, field) in PRODUCTS.items():
        said = {one["cycle"]: one for one in feed.json(ADDRESS.format(product=product))}
        for row in feed.rows("os"):
            cycle = row["id"].removeprefix(family)
            if not row["id"].startswith(family) or cycle not in said:
                continue
            # `false`: no end is announced. `true`: it has ended, nobody says when.
            day = said[cycle].get(field)
            if not isinstance(day, str) or row.get("eol") == day:
                continue
            if "eol" in row and family in OWN_DATES:
                feed.differs(f"{row['id']}: standard support ends on {row['eol']} by the distribution's own data, on {day} by endoflife.date")
            else:
                feed.amends(FILES, row, {"eol": day})
        unknown(feed, family, said, field)


def unknown(feed, family, said, field):
    """Releases of a system that are newer than every row and still supported: what they hold is written by hand."""
    known = [row["id"].removeprefix(family) for row in feed.rows("os") if row["id"].startswith(family)]
    started = [said[one]["releaseDate"] for one in known if one in said]
    for cycle, one in said.items():
        if started and one["releaseDate"] > max(started) and one.get(field) is not True:
            feed.note(f"{family}{cycle} ({one['releaseDate']}) has no row: its glibc and gcc are on no list that is read here")
