"""Drafts by the names of their fields, in the format of a test: toys or Avro records, and texts that two formats share."""

import json
from collections.abc import Callable

from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet

Drafts = Callable[..., Draft]
"""Makes a draft of names of fields; one that ends in ``?`` has a default."""
OPAQUE = "ECHO"
"""A format that no test has a plug-in for."""


def toys(*names: str) -> Draft:
    """A draft of the toy format."""
    return Draft(json.dumps(names), "TOY")


def records(*names: str) -> Draft:
    """A draft of Avro: a record of integers."""
    fields: list[object] = [
        {"name": name[:-1], "type": ["null", "int"], "default": None}
        if name.endswith("?")
        else {"name": name, "type": "int"}
        for name in names
    ]
    return Draft(json.dumps({"type": "record", "name": "Neighbour", "fields": fields}), "AVRO")


def printed_alike(draft: Draft) -> Draft:
    """A draft of another format that prints the same text, so that both have one guid."""
    return Draft(json.dumps(json.loads(draft.text), separators=(",", ":")), OPAQUE)


def referring(draft: Draft, subject: str, version: int) -> Draft:
    """The same text, with a reference to a version."""
    name = "n" if draft.format == "TOY" else "Neighbour"
    text = draft.text
    if draft.format == "AVRO":
        text = json.dumps(
            {"type": "record", "name": "User", "fields": [{"name": "of", "type": ["null", name], "default": None}]}
        )
    return Draft(text, draft.format, (Reference(name, subject, version),))


def described(draft: Draft, word: str) -> Draft:
    """The same text with metadata and rules, and so another schema."""
    metadata = Metadata(properties=(("major", word), ("owner", word)), sensitive=("owner",))
    rules = RuleSet(domain=(Rule(f"rule-{word}", mode="WRITE", type="CEL", expr="true"),))
    return Draft(draft.text, draft.format, draft.references, metadata, rules)
