"""Who asks: chances, what has been heard so far, and the parts of which requests are made."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.simulation.texts import AVRO, NOTED, OUTER, TOY, noted
from treaty.core.messages.groups import ANY_FORMAT
from treaty.core.messages.request import Visible
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import Subject
from treaty.core.policy import Level, VersionRange
from treaty.core.schema import VERSION_PROPERTY, Draft, Metadata, Pairs, Reference, Rule, RuleSet, TaggedPath

SUBJECTS = (Subject(".", "s"), Subject(".", "t"), Subject(".x", "s"), Subject(".", "a"), Subject(".y", "s"))
"""The fourth is mostly an alias, the context of the fifth is made and deleted again and again."""
ALIASES = ("s", "t", ":.x:s", "a", "nowhere")
"""What an alias may lead to: itself, another alias and nothing at all among them."""
MOST_IDS = 6
OPAQUE = (b"<a/>", b"<b/>", b"\xff\x00", b"data:;base64,AAAA", b"")
"""Bytes that nobody can read."""
TAGGED: Mapping[str, tuple[TaggedPath, ...]] = {
    "inner": (TaggedPath("R.a", "sr_field", ("T",)),),
    "outer": (TaggedPath("O.r", "sr_field", ("T", "U")),),
    "whole": (TaggedPath("R", "sr_record", ("W",)),),
}
"""Tags by what they are given to."""


@dataclass(slots=True)
class Asker:
    """Chances, and what has been heard so far."""

    chance: random.Random
    guids: list[str] = field(default_factory=list)
    command_ids: list[str] = field(default_factory=list)
    toy: float = 0.7
    """How many drafts are of the toy format."""
    referring: float = 0.12
    """How many drafts refer to another subject."""
    aside: random.Random = field(default_factory=lambda: random.Random("aside"))
    """Chances of their own for spellings and extras, so that all else of a life stays as it is without them."""

    def often(self, probability: float) -> bool:
        return self.chance.random() < probability

    def subject(self) -> Subject:
        return self.chance.choices(SUBJECTS, (12, 6, 2, 2, 0.5))[0]

    def alias(self) -> str:
        """What an alias leads to: mostly a subject that is there."""
        return self.chance.choices(ALIASES, (6, 4, 2, 1, 1))[0]

    def scope(self) -> Scope:
        wide = [Scope(), Scope(".x"), Scope("*")]
        return self.chance.choice(wide) if self.often(0.25) else Scope(*self.subject())

    def draft(self) -> Draft:
        if self.often(self.referring):
            text, kind, name = OUTER
            target = self.chance.choice([Subject(".", "t"), Subject(".", "s")])
            return Draft(text, kind, (Reference(name, target.name, self.chance.choice([-1, 1, 2])),))
        toy = self.often(self.toy)
        metadata = Metadata(properties=(("major", self.chance.choice("12")),)) if self.often(0.1) else None
        draft = Draft(self.chance.choice(TOY if toy else AVRO), "TOY" if toy else "AVRO", metadata=metadata)
        return self.varied(self.grouped(draft) if self.often(0.1) else draft)

    def varied(self, draft: Draft) -> Draft:
        """At times the draft with properties in some order, or with metadata that say a version."""
        if draft.format == "AVRO" and self.aside.random() < 0.2:
            draft = replace(draft, text=noted(draft.text, self.aside.randrange(len(NOTED))))
        if self.aside.random() < 0.1:
            number = (VERSION_PROPERTY, self.aside.choice(["1", "1", "2", "3", "-1", "02", "none"]))
            properties = () if draft.metadata is None else draft.metadata.properties
            draft = replace(draft, metadata=Metadata(properties=(number, *properties)))
        return replace(draft, metadata=Metadata()) if self.aside.random() < 0.02 else draft

    def wanted_number(self, number: int) -> int:
        """At times the latest, or a number that no version can have, where none was wanted."""
        return self.aside.choice([-1, -1, -1, 1, 2, -2]) if number == 0 and self.aside.random() < 0.1 else number

    def completing(self) -> Config | None:
        """At times what a config gives every new version."""
        if self.aside.random() >= 0.4:
            return None
        metadata = Metadata(properties=(("owner", self.aside.choice("de")),))
        rules = RuleSet(domain=(Rule("r", mode="WRITE", type="CEL", expr=self.aside.choice("de")),))
        return self.aside.choice(
            [
                Config(default_metadata=metadata),
                Config(override_metadata=metadata),
                Config(default_rules=rules),
                Config(override_rules=rules),
            ]
        )

    def grouped(self, draft: Draft) -> Draft:
        """A draft as doors of groups send it: in another spelling, with bytes, of a type; at times of a format that nobody can
        read.
        """
        if self.often(0.15):
            data = self.chance.choice(OPAQUE)
            return Draft("", self.chance.choice(["THRIFT", ANY_FORMAT]), type_name=self.type_name(), data=data)
        if self.often(0.4):
            draft = replace(draft, text=draft.text.replace(" ", "") if self.often(0.5) else f" {draft.text}")
        if self.often(0.2):
            draft = replace(draft, data=self.chance.choice([b"bytes", b"\xff", draft.text.encode()]))
        return replace(draft, type_name=self.type_name()) if self.often(0.6) else draft

    def type_name(self) -> str:
        """The name of a type: labels, and those in the texts."""
        return self.chance.choice(["", "T", "U", "R", "R", "E"])

    def record(self) -> Draft:
        """A draft that others refer to."""
        return Draft(self.chance.choice(AVRO[:3]), "AVRO")

    def properties(self) -> Pairs:
        return (("team", self.chance.choice("ab")),) if self.often(0.5) else ()

    def tags(self) -> tuple[TaggedPath, ...]:
        """Mostly none."""
        return TAGGED[self.chance.choice(list(TAGGED))] if self.often(0.06) else ()

    def sought_tags(self) -> tuple[str, ...]:
        return (self.chance.choice(["T", "U", "*"]),) if self.often(0.1) else ()

    def number(self) -> int:
        return self.chance.choice([-1, 1, 1, 2, 2, 3, 4])

    def visible(self) -> Visible:
        return self.chance.choice(("live", "all", "deleted"))

    def codec_name(self) -> str:
        """At times one that nobody added, or none."""
        return self.chance.choice(("", "", "gzip", "snappy"))

    def normalize(self) -> bool | None:
        return self.chance.choice([None, None, True])


def level(ask: Asker) -> Level:
    """A level that mostly has no word: each direction has a range of its own, or all is denied; at times it can't be."""
    if ask.often(0.1):
        return Level(deny=True)
    if ask.often(0.1):
        last = VersionRange("latest")
        return ask.chance.choice(
            [Level(VersionRange("sideways")), Level(last, VersionRange("all", 2)), Level(last, deny=True)]
        )
    ranges = [
        VersionRange("none"),
        VersionRange("latest"),
        VersionRange("all"),
        VersionRange("till", ask.chance.choice([0, 1, 1, 2, 5])),
    ]
    return Level(ask.chance.choice(ranges), ask.chance.choice(ranges))
