"""Edge values of members, by what they are: names of subjects, versions, ids, texts, pages and drafts."""

from dataclasses import replace

from tests.answers.shop import CLICK, GROUP, IMPORT, INTS, JSONS, MESSAGE, ORDERS, PLAN, PROTO, TAGGED
from tests.worlds.drafts import described, records, referring
from treaty.core.limits import COUNTER, NAME_LENGTH
from treaty.core.names import Subject, subject_of
from treaty.core.schema import Draft, Metadata, Pairs, Reference, Rule, RuleSet, TaggedPath

LONG = "n" * (NAME_LENGTH + 1)
BAD_WORDS = ("", " ", "a b", "a\u200bb", "a\x07b", "ä", LONG)
"""Texts that names may not be, or that are unusual in them."""

FAR, SECRETS = Subject(".far", "orders"), subject_of("secrets")
SUBJECTS = (
    ORDERS, FAR, GROUP, CLICK, PLAN, IMPORT, SECRETS,
    *(subject_of(name) for name in ("missing", "deleted", "empty", "bare", "echo", "documents", "lines", "single", "followers", "pinned")),
    *(subject_of(name) for name in ("alias-orders", "alias-far", "alias-missing", "alias-secret", "topic-keys", "order-users")),
    Subject(".away", "w-purged"), Subject(".away", "w-imported"), Subject(".away", "w-group"), Subject(".away", "w-hidden"),
    Subject(".import", "removed"), Subject(".still", "readonly"), Subject(".still", "override"), Subject(".hollow", "new"),
    Subject(".new", "new"), Subject(".", ""), Subject("*", "orders"), Subject(".", "__GLOBAL"), Subject(".", "a\x07b"),
    Subject(".", "a\u200bb"), Subject(".", LONG), Subject(f".{LONG}", "a"), Subject(".a b", "x"),
)  # fmt: skip
"""Subjects of all kinds, deleted and private ones, aliases, those of other contexts, and names that no subject has."""
USUAL = tuple(
    subject
    for subject in SUBJECTS
    if len(str(subject)) < 40 and subject.name.isprintable() and subject.context not in {"*", ".new", ".hollow"}
)
"""Those whose names are names."""
HOMES = (ORDERS, GROUP, FAR, subject_of("deleted"), subject_of("missing"), subject_of("alias-orders"), PLAN, IMPORT, CLICK,
         Subject(".away", "w-group"), subject_of("empty"), Subject(".away", "w-imported"))  # fmt: skip
"""Fewer of them, for what meets other members."""
CONTEXTS = (".", ".far", ".away", ".import", ".hollow", ".still", ".new", "*", "", "far", ".b c", ".a\x07", f".{LONG}")
VERSIONS = (1, 2, 3, 4, 5, 6, 7, 0, -1, -2, COUNTER, COUNTER + 1)
ORDINALS = (0, 1, 2, 3, 4, 5, 6, -1, COUNTER, COUNTER + 1)
IDS = (0, 1, 2, 3, 5, 7, 8, 12, 20, 35, 40, 41, -1, -2, COUNTER, COUNTER + 1)
LIMITS = (0, 1, 2, 3, 4, -1, 1_000, COUNTER)
OFFSETS = (0, 1, 2, 5, -1, 1_000)
VISIBLE = ("live", "all", "deleted")
FLAGS = (False, True)
MAYBE = (None, False, True)
WORDS = ("", "legacy", "treaty", "sequence", "md5", "schemaver", LONG)
PAIRS: tuple[Pairs, ...] = (
    (),
    (("a", "b"),),
    (("a", "b"), ("c", "d")),
    (("team", "ab"),),
    (("", "x"),),
    ((LONG, "y"),),
    (("a\x07", "b"),),
    (("a", "b"), ("a", "c")),
)
PATHS = (
    (), (TaggedPath("shop.Order.id", "sr_field", ("PII",)),), (TaggedPath("Neighbour.a", "sr_field", ("A", "B")),),
    (TaggedPath("Neighbour", "sr_record", ("T",)),), (TaggedPath("shop.Order.missing", "sr_field", ("PII",)),),
    (TaggedPath("shop.Order", "sr_record", ("A",)), TaggedPath("shop.Order.note", "sr_field", ("PII",))),
    (TaggedPath("shop.Order.id", "other", ("PII",)),), (TaggedPath("shop.Order.id", "sr_field", ()),),
)  # fmt: skip
METADATA = (
    None, Metadata(), Metadata(properties=(("major", "2"),)), TAGGED.metadata, Metadata(tags=(("a", ("x", "y")),)),
    Metadata(properties=(("owner", "bob"), ("confluent:version", "7"))), Metadata(sensitive=("owner",)),
)  # fmt: skip
RULES = (
    None, RuleSet(), TAGGED.rules, RuleSet(domain=(Rule("a"), Rule("b"))), RuleSet(domain=(Rule("a"), Rule("a"))),
    RuleSet(migration=(Rule("", mode="UPGRADE"),)), RuleSet(encoding=(Rule("x" * 257, mode="WRITEREAD"),)),
    RuleSet(domain=(Rule("1a", mode="WRITE", type="CEL"),)), RuleSet(domain=(Rule("a b", mode="READ", type="CEL"),)),
    RuleSet(domain=(Rule("a", mode="UPGRADE", type="CEL"),)), RuleSet(migration=(Rule("a", mode="WRITE", type="CEL"),)),
    RuleSet(domain=(Rule("n", "TRANSFORM", "WRITEREAD", "CEL_FIELD", on_success="NONE,ERROR", disabled=True),)),
    RuleSet(domain=(Rule("n", "OTHER", "EVER", "CEL"),), enable_at="x"), RuleSet(domain=tuple(Rule(f"r{n}") for n in range(201))),
    RuleSet(domain=(Rule("y" * 256, mode="WRITE", type="T"),)), RuleSet(domain=(Rule("n", mode="WRITE"),)), RuleSet(domain=(Rule("n", type="CEL"),)),
)  # fmt: skip
DRAFTS = (
    INTS[0], INTS[1], INTS[2], INTS[3], INTS[4], INTS[5], TAGGED, described(INTS[4], "2"), described(INTS[0], "1"),
    replace(TAGGED, metadata=None, rules=None), replace(TAGGED, rules=None), records("b"), records("a", "b"), records("b?", "a"),
    *JSONS, PROTO, MESSAGE, replace(PROTO, type_name="shop.Line"), replace(INTS[0], type_name="Neighbour"), replace(INTS[0], type_name="Other"),
    referring(INTS[0], "orders", 3), referring(INTS[0], "orders", 2), referring(INTS[0], "orders", 5), referring(INTS[0], "orders", -1),
    referring(INTS[0], ":.far:orders", 1), referring(INTS[0], "alias-orders", 3), referring(INTS[0], "secrets", 1),
    referring(INTS[0], "topic-keys", 1), referring(INTS[0], "missing", 1), referring(INTS[0], "", 1), referring(INTS[0], "orders", 0),
    replace(MESSAGE, references=(*MESSAGE.references, *MESSAGE.references)), replace(MESSAGE, references=(), imports=(("line.proto", PROTO.text),)),
    Draft(MESSAGE.text, "PROTOBUF", (Reference("line.proto", "lines", 1), Reference("b", "orders", 1))),
    Draft(""), Draft("{"), Draft('"int"'), Draft(' "int" '), Draft("[]", "JSON"), Draft("", "JSON"), Draft("x", "ECHO"), Draft("x", ""), Draft("x", "avro"),
    Draft("data:;base64,AAH/", "ECHO", data=b"\0\1\xff"), Draft("other", "ECHO", data=b"\0\1\xff"), Draft('"int"', "any"), Draft("text", "any"),
    Draft('"\ud800"'), replace(INTS[0], data=b"x"), replace(INTS[0], metadata=METADATA[5]), replace(INTS[0], rules=RULES[4]),
)  # fmt: skip
"""Schemas of all formats: what the world has already, what follows it or does not, references to all kinds, and what is no schema."""
FEW_DRAFTS = (
    INTS[0],
    INTS[4],
    INTS[5],
    TAGGED,
    records("b"),
    JSONS[0],
    PROTO,
    MESSAGE,
    referring(INTS[0], "orders", 3),
    Draft(""),
    Draft("{"),
    Draft("x", "ECHO"),
)
