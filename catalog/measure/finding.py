"""What a check finds out."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One fact compared: `read` is what the artifact says, or nothing where it says nothing."""

    row: str
    field: str
    said: object
    read: object
    artifact: str

    @property
    def verdict(self):
        if self.said == self.read:
            return "agrees"
        return "unread" if self.read is None else "DIFFERS"
