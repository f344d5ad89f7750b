"""Random folders of SQL: types, sources over topics of their own or of others, columns written down or taken from a schema."""

import random

from treaty.metastore.project.files import ProjectFile

SCALARS = ("INT", "BIGINT", "STRING", "BOOLEAN", "DOUBLE", "BINARY", "DATE", "TIMESTAMP", "DECIMAL(10, 2)")
FORMATS = ("AVRO", "JSON", "PROTOBUF")
NAMES = ("flights", "Carriers", "`odd name`", "gates", "`ä`", "x_1", "`from`", "Log", "t9", "delays")
COLUMNS = ("id", "Name", "at", "`select`", "total", "home")
COMMENTS = ("", "", " COMMENT 'it''s ${x} \\n or not'")


class FolderDraw:
    """Draws the files of one folder."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.types: list[str] = []
        self.files: list[str] = []
        self.subjects: list[str] = []

    def files_of_folder(self) -> list[str]:
        """The texts of the files, each after those that it needs."""
        for place in range(self.random.randrange(3)):
            self._add_type(f"Type{place}")
        names = self.random.sample(NAMES, self.random.randint(1, 5))
        for place, name in enumerate(names):
            self._add_source(name, f"topic{place}")
        return self.files

    def _add_type(self, name: str) -> None:
        fields = ", ".join(f"{name} {self._type(1)}" for name in ("a", "b")[: self.random.randint(1, 2)])
        exists = self.random.choice(("", "IF NOT EXISTS "))
        self.files.append(f"CREATE TYPE {exists}{name} AS STRUCT<{fields}>{self._comment()};")
        self.types.append(name)

    def _type(self, depth: int = 0, *, solid: bool = False) -> str:
        kind = self.random.random()
        if kind < 0.2 and self.types:
            return self.random.choice(self.types)
        if kind < 0.3 and depth < 2 and not solid:
            return f"ARRAY<{self._type(depth + 1, solid=True)}>"
        if kind < 0.4 and depth < 2:
            return f"STRUCT<p {self._type(depth + 1, solid=solid)}, q INT>"
        return self.random.choice(SCALARS)

    def _comment(self) -> str:
        return self.random.choice(COMMENTS).replace("${", "$${")

    def _add_source(self, name: str, topic: str) -> None:
        draw = self.random
        kind = draw.choice(("STREAM", "STREAM", "TABLE"))
        more = self._properties(kind)
        if draw.random() < 0.1:
            column = f"{draw.choice(COLUMNS)} {self._type()}"
            key = "k STRING PRIMARY KEY, " * (kind == "TABLE")
            self.files.append(f"CREATE {kind} {name} ({key}{column}) WITH (CONNECTOR = 'delta', PATH = '{topic}');")
            return
        create = f"CREATE {draw.choice(('', 'OR REPLACE '))}{kind} {name}"
        if self.subjects and kind == "STREAM" and draw.random() < 0.3:
            subject = draw.choice(self.subjects)
            place = draw.choice((subject.removesuffix("-value"), topic))
            named = "" if subject == f"{place}-value" else f", SUBJECT = '{subject}'"
            text = f"{create}{self._comment()} WITH (KAFKA_TOPIC = '{place}'{named}{more})"
        else:
            format_ = draw.choice(FORMATS)
            key = draw.choice(("", f"k BIGINT {'PRIMARY ' * (kind == 'TABLE')}KEY")) or (
                "k STRING PRIMARY KEY" if kind == "TABLE" else ""
            )
            columns = draw.sample(COLUMNS, draw.randint(1, 3))
            heads = [f"{column} {self._type()}{draw.choice(('', ' NOT NULL'))}{self._comment()}" for column in columns]
            if draw.random() < 0.2:
                heads.append(draw.choice(("h ARRAY<STRUCT<key STRING, value BINARY>> HEADERS", "h BINARY HEADER('x')")))
            if key and draw.random() < 0.3:
                more += ", KEY_FORMAT = 'AVRO'"
            listed = ",\n  ".join([*heads[:1], *[key] * bool(key), *heads[1:]])
            text = f"{create} (\n  {listed}\n){self._comment()} WITH (KAFKA_TOPIC = '{topic}', VALUE_FORMAT = '{format_}'{more})"
            self.subjects.append(f"{topic}-value")
        protect = f"\nALTER {kind} {name} SET PROTECTED = true;" if draw.random() < 0.2 else ""
        self.files.append(f"{text};{protect}")

    def _properties(self, kind: str) -> str:
        drawn = []
        if self.random.random() < 0.2:
            drawn.append("PARTITIONS = 3, RETENTION_MS = 1000")
        if self.random.random() < 0.2 and kind == "STREAM":
            drawn.append("BAD_ROWS = true")
        if self.random.random() < 0.2:
            drawn.append("FRAMING = 'header', TIMESTAMP_FORMAT = 'yyyy'")
        return "".join(f", {option}" for option in drawn)


def draw_folder(seed: int) -> list[ProjectFile]:
    """The files of a folder, with paths whose order says nothing."""
    texts = FolderDraw(seed).files_of_folder()
    return place_files(texts, seed)


def place_files(texts: list[str], seed: int) -> list[ProjectFile]:
    """Files with these texts, and paths that another seed orders otherwise."""
    numbers = random.Random(seed).sample(range(1_000), len(texts))
    return [ProjectFile(f"{number:03}.sql", text) for number, text in zip(numbers, texts, strict=True)]
