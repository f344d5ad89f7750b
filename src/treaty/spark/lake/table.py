"""`Table`: where rows of a stream end up, and `Batch`: whose turn it is to write there."""

from dataclasses import dataclass

FORMATS = ("delta", "iceberg", "parquet")


@dataclass(frozen=True, slots=True)
class Table:
    """A lake table: its format, and a path or (Delta, Iceberg) a name with dots; `partitions` count when it is made."""

    place: str
    format: str = "delta"
    partitions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a format that is none, and a Parquet table without a path."""
        if self.format not in FORMATS:
            message = f"{self.format!r} is no format of a table; there are {', '.join(FORMATS)}"
            raise ValueError(message)
        if self.format == "parquet" and not self.is_path:
            message = f"{self.place!r} is no path; a Parquet table is a folder, and has a slash in its name"
            raise ValueError(message)

    @property
    def is_path(self) -> bool:
        """Whether the place is a folder and not a name in a catalog."""
        return "/" in self.place

    @property
    def folder(self) -> str:
        """The folder, without a slash at its end."""
        return self.place.rstrip("/")


@dataclass(frozen=True, slots=True)
class Batch:
    """Who writes, and which turn it is: a turn that a table has seen from the same writer is not written again."""

    writer: str
    number: int

    def __str__(self) -> str:
        return f"{self.writer}/{self.number}"
