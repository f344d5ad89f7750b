"""What is asked in the world of what is rare."""

from collections.abc import Mapping
from itertools import product

from tests.answers.asks import Table
from tests.answers.odd import FORCE, NEW_DRAFTS, SUBJECTS, VIEW
from tests.answers.shop import INTS, LABELLED
from tests.answers.tables.values import FLAGS, VERSIONS
from treaty.core.limits import COUNTER
from treaty.core.messages import api_keys as k
from treaty.core.messages import associations as t
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages import schemaver as s
from treaty.core.messages import settings as c
from treaty.core.messages import transfers as x
from treaty.core.messages.compatibility import Check
from treaty.core.messages.differences import CompareVersions, ComparisonSide
from treaty.core.messages.names import GetNamedVersion, GetPin
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Derive, Register, SubjectCreation
from treaty.core.messages.schemas import GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion, Lookup
from treaty.core.names import Subject, subject_of
from treaty.core.operations import OPERATIONS
from treaty.core.schema import Metadata, TaggedPath

PINNED, ORDERED, IMPORTED = subject_of("pinned"), subject_of("ordered"), Subject(".import", "labels")
LABELS = ("1-0-0", "1-0-1", "1-0-2", "1-0-3", "1-0-4", "1-1-0", "2-0-0", "2-0-1", "2-1-0", "2-2-0", "3-0-0", "4-0-0")
CHECKED = [Check(subject, draft) for subject, draft in product(SUBJECTS[:20], NEW_DRAFTS[:14])]
REGISTERED = [Register(subject, draft) for subject, draft in product(SUBJECTS, NEW_DRAFTS)]
LISTED = [
    Table(Register(subject_of("watched"), INTS[3]), {
        "subject": SUBJECTS, "draft": NEW_DRAFTS, "require_subject": FLAGS, "normalize": (None, True), "force": (None, FORCE), "number": (0, -1, 1, 2, 3), "names": ((), (("schemaver", "1-0-2"),), (("schemaver", "1-1-0"),), (("schemaver", "x"),), (("legacy", "1"),)),
        "create_with": (SubjectCreation(), SubjectCreation(private=True), SubjectCreation(schemes=("crc-64-avro",))), "schema_id": (-1, 2, COUNTER),
    }, drawn=25, places=("create_with",), more=tuple(REGISTERED[::11]), bases=(
        Register(ORDERED, LABELLED[3], names=(("schemaver", "1-0-2"),)), Register(subject_of("exact"), NEW_DRAFTS[15], require_subject=True), Register(subject_of("checked"), NEW_DRAFTS[9]), Register(subject_of("unchecked"), NEW_DRAFTS[19]),
        Register(subject_of("normal"), INTS[0]), Register(subject_of("typed"), INTS[2], require_subject=True), Register(subject_of("documented"), NEW_DRAFTS[2]), Register(subject_of("schemed"), INTS[2]), Register(Subject(".spared", "c"), INTS[2]),
    )),
    Table(Check(subject_of("watched"), INTS[3]), {"subject": SUBJECTS, "draft": NEW_DRAFTS, "version": (None, 1, 2, -1)}, more=tuple(CHECKED[::6]), bases=(Check(subject_of("checked"), NEW_DRAFTS[9]), Check(subject_of("unchecked"), NEW_DRAFTS[19]), Check(subject_of("typed"), INTS[2]))),
    Table(Lookup(subject_of("exact"), INTS[0]), {"subject": SUBJECTS[:16], "draft": NEW_DRAFTS, "normalize": (None, True), "deleted": FLAGS}, drawn=10, more=tuple(Lookup(subject_of(name), draft, normalize) for name in ("checked", "unchecked", "exact", "normal", "typed") for draft in NEW_DRAFTS[::2] for normalize in (None, True))),
    Table(g.FindSameVersion(subject_of("exact"), INTS[0]), {"subject": SUBJECTS[4:16], "draft": NEW_DRAFTS[::2]}, drawn=20),
    Table(g.CheckReading(subject_of("watched"), INTS[3]), {"subject": SUBJECTS[:16], "draft": NEW_DRAFTS[::2]}, drawn=10),
    Table(Derive(subject_of("ordered"), 1), {
        "subject": SUBJECTS[:14], "version": (1, 2, -1), "metadata": (None, Metadata(properties=(("owner", "x"),))), "number": (0, 3), "add_tags": ((), (TaggedPath("Neighbour.a", "sr_field", ("A",)),)),
    }, drawn=15),
    Table(CompareVersions(ComparisonSide(draft=INTS[2]), subject=PINNED), {
        "subject": (None, *SUBJECTS[7:23:2]), "new": tuple(ComparisonSide(draft=draft) for draft in NEW_DRAFTS[:13:2]), "old": (None, ComparisonSide(PINNED, 1), ComparisonSide(guid="x"), ComparisonSide(subject_of("opaque"))),
    }, drawn=6),
    Table(s.Publish(VIEW, "1-0-3", LABELLED[1]), {
        "subject": (VIEW, *SUBJECTS[24:26], ORDERED, subject_of("com.acme/new/jsonschema"), subject_of("exact")), "label": LABELS, "draft": NEW_DRAFTS[7:], "private": (None, True, False), "supersedes": ((), ("1-0-1",), ("1-0-2", "2-0-0")), "patch": FLAGS,
    }, (("label", "patch"), ("draft", "patch")), 25, ("private",), bases=(s.Publish(VIEW, "1-0-1", LABELLED[0], patch=True), s.Publish(SUBJECTS[24], "1-0-4", LABELLED[2]), s.Publish(ORDERED, "1-1-0", LABELLED[3]))),
    Table(s.DeletePublished(VIEW, "1-0-1"), {"subject": (VIEW, SUBJECTS[24], ORDERED), "label": LABELS}, (("subject", "label"),), 0),
    Table(s.GetPublished(VIEW, "1-0-0"), {"subject": (VIEW, SUBJECTS[24], ORDERED, SUBJECTS[25]), "label": LABELS}, (("subject", "label"),), 0),
    Table(s.ListPublished(), {"vendor": ("", "com.acme"), "name": ("", "view", "gap"), "model": (0, 1, 2), "limit": (1, 4, 9), "after": (None, ("com.acme/view/jsonschema", "1-0-1"), ("ordered", "1-0-0"))}, places=("vendor",)),
    Table(s.PutDraft(VIEW, 2, "{}"), {"subject": (VIEW, subject_of("com.secret/a/jsonschema"), subject_of("com.acme/x/jsonschema")), "private": FLAGS}, (("subject", "private"),), 0, ("subject", "private")),
    Table(DeleteVersion(PINNED, 2), {"subject": SUBJECTS, "version": VERSIONS[:4], "permanent": FLAGS, "force": FLAGS}, (("permanent", "version"), ("version", "force")), others=range(200),
          more=tuple(DeleteVersion(subject, 1, permanent=permanent, force=force) for subject in SUBJECTS[9:22] for permanent in FLAGS for force in FLAGS)),
    Table(DeleteSubject(PINNED), {"subject": SUBJECTS, "permanent": FLAGS, "force": FLAGS}, (("subject", "permanent"),)),
    Table(g.RemoveSubject(PINNED), {"subject": SUBJECTS}),
    Table(g.DeleteOrdinal(PINNED, 1), {"subject": SUBJECTS, "ordinal": (0, 1, 2, 3)}),
    Table(c.SetMode(c.Scope(), "IMPORT"), {"scope": (*(c.Scope(*subject) for subject in SUBJECTS), c.Scope(".import"), c.Scope("*")), "force": FLAGS}, (("scope", "force"),), 0, ("scope",)),
    Table(g.ChangeSubject(VIEW), {
        "subject": SUBJECTS, "properties": (None, ((g.FORMAT, "JSON"),), ((g.FORMAT, "AVRO"),)), "label_policy": (None, "warn", "refuse"), "validators": (None, ("ghost-check",), ("policy:nested",)), "follows": (None, "till", "all"),
    }, drawn=40),
    Table(c.SetConfig(c.Scope(".", "haunted"), c.Config(normalize=True)), {
        "scope": tuple(c.Scope(*subject) for subject in SUBJECTS), "change": (c.Config(validators=("ghost-check",)), c.Config(level="NONE"), c.Config(alias="hidden-user"), c.Config(follows="all"), c.Config(follows="till")), "clear": ((), ("validators",), ("follows",)),
    }, drawn=30, places=("scope", "change")),
    Table(c.GetConfig(c.Scope(".", "haunted"), resolve=True), {"scope": (*(c.Scope(*subject) for subject in SUBJECTS), c.Scope(".odd"), c.Scope(".odd", "x")), "resolve": FLAGS}, places=("scope",)),
    Table(e.AssignEncoding(subject_of("normal"), 1), {"subject": SUBJECTS, "ordinal": (0, 1, 2, 3, 4), "codec": ("", "gzip")}),
    Table(e.GetEncoding(VIEW, 0), {"subject": (VIEW, subject_of("exact"), subject_of("normal")), "encoding_id": (0, 1, 2)}, (("subject", "encoding_id"),), 0),
    Table(g.GetSubject(VIEW), {"subject": SUBJECTS}),
    Table(g.GetHistory(VIEW), {"subject": SUBJECTS[:9] + SUBJECTS[23:26]}),
    Table(g.GetOrdinal(VIEW, 0), {"subject": (VIEW, IMPORTED, subject_of("exact")), "ordinal": (0, 1, 2, 3, 4, 5)}, (("subject", "ordinal"),), 0),
    Table(GetNamedVersion(subject_of("schemed"), "1"), {
        "subject": SUBJECTS[9:20], "name": ("1", "2", "1-0-0", "0f12fbfbbbbb3b64", "x"), "scheme": ("", "md5", "crc-64-avro", "sha-256", "schemaver", "ghost"),
    }, drawn=30),
    Table(GetVersion(PINNED, 2), {"subject": SUBJECTS, "version": VERSIONS[:4], "deleted": FLAGS}),
    Table(GetPin(PINNED), {"subject": SUBJECTS[8:22], "version": (1, 2, -1), "schema_id": (0, 2, 6)}, drawn=10),
    Table(GetSchema(2), {"schema_id": tuple(range(14)), "subject": (None, VIEW, Subject(".spared", "")), "max_id": FLAGS}, drawn=10, places=("schema_id",)),
    Table(UsesOf(2), {"schema_id": tuple(range(0, 14, 2)), "visible": ("live", "all", "deleted")}, (("schema_id", "visible"),), 0, ("schema_id",)),
    Table(ReferencedBy(PINNED, 2), {"subject": SUBJECTS[15:22], "version": (1, 2)}),
    Table(GetOutcome("odd-0"), {"command_id": ("odd-0", "odd-1", "odd-2", "odd-gone", "odd-other", "odd-short", "odd-hidden"), "principal": (None, "user:ann", "user:bob")}, (("command_id", "principal"),), 0, ("command_id",)),
    Table(t.Associate(t.Resource("tied", "n", "id-t"), (t.AssociationSpec("value", subject_of("tied")),)), {
        "resource": (t.Resource("tied", "n", "id-t"), t.Resource("other", "n", "id-o"), t.Resource("tied", "n"), t.Resource("moved", "n", "id-m")), "update": FLAGS, "dry_run": FLAGS,
        "wishes": tuple((t.AssociationSpec("value", subject_of(name), lifecycle, frozen),) for name in ("tied", "pinned", "hidden-user", "exact") for lifecycle, frozen in (("", None), ("STRONG", None), ("STRONG", False), ("WEAK", False))),
    }, (("wishes", "update"), ("resource", "update")), 15, ("wishes", "resource"), bases=(t.Associate(t.Resource("tied", "n", "id-t"), (t.AssociationSpec("value", subject_of("tied"), frozen=False),), update=True),)),
    Table(t.Dissociate("id-t"), {"resource_id": ("id-t", "id-m", "x"), "cascade": FLAGS, "dry_run": FLAGS}, (("resource_id", "cascade"),), 0, ("resource_id",)),
    Table(x.ImportVersion(IMPORTED, LABELLED[2], 5, 6), {
        "ordinal": (0, 1, 2, 3, 4, 5, 8), "number": (1, 2, 3, 4, 6), "names": ((), (("schemaver", "1-0-9"),), (("schemaver", "1-0-0"),)), "state": ("live", "soft", "hidden"), "superseded_by": (-1, 0, 1, 2, 3), "revision_of": (-1, 0, 3), "draft": tuple(LABELLED),
    }, drawn=50, places=()),
    Table(x.ExportVersions(), {"prefix": (Subject(".", ""), Subject(".import", ""), Subject(".", "com."), Subject(".", "e")), "limit": (4, 9)}, drawn=0, places=("prefix",)),
    Table(x.ExportSubjects(), {"prefix": (Subject(".", ""), Subject(".import", ""), Subject(".spared", "")), "limit": (4, 100)}, drawn=0, places=("prefix",)),
    Table(k.AddApiKeys("com.secret", (k.NewApiKey("0a" * 32, "READ"),)), {"vendor": ("com.secret", "*", "com.secret.a")}, places=("vendor",), drawn=0),
]  # fmt: skip
ODD_TABLES: Mapping[str, Table] = {OPERATIONS[type(table.default)].name: table for table in LISTED}
"""By name of the operation."""
