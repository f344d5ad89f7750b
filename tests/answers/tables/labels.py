"""What is asked of operations on labels, drafts and associations."""

from dataclasses import replace

from tests.answers.asks import Table
from tests.answers.shop import CLICK, INTS, JSONS, LABELLED, ORDERS, PLAN, PROTO, TOPIC
from tests.answers.tables import values as v
from tests.worlds.drafts import records
from treaty.core.limits import COUNTER
from treaty.core.messages import associations as t
from treaty.core.messages import schemaver as s
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.names import Subject, subject_of
from treaty.core.schema import Draft

LABELS = (
    "1-0-0",
    "1-0-1",
    "1-0-2",
    "1-0-3",
    "1-1-0",
    "1-1-1",
    "1-2-0",
    "2-0-0",
    "2-0-1",
    "2-1-0",
    "3-0-0",
    "4-0-0",
    "0-0-0",
    "1-0",
    "01-0-0",
    "a",
    "",
    "1-0-2147483648",
    "-1-0-0",
    v.LONG,
)
PUBLISHED = (
    CLICK, PLAN, *(subject_of(name) for name in (
        "com.acme/view/avro", "com.acme/new/jsonschema", "com.acme/new/avro", "com.acme/new/other", "com.secret/new/jsonschema", "com.acme/new", "a b/c/jsonschema", "orders", "a/b/c/d", "alias-orders", "",
        "/n/jsonschema", "com.acme//jsonschema", "v/n/", "v/a.b/jsonschema",
    )), Subject(".far", "com.acme/click/jsonschema"), Subject(".far", "group"),
)  # fmt: skip
SELF = '{"self":{"vendor":"com.acme","name":"click","format":"jsonschema","version":"%s"},"type":"object"}'
TEXTS = (*LABELLED, *JSONS, INTS[0], INTS[1], PROTO, Draft("x", "OTHER"), Draft("{", "JSON"), Draft("", "JSON"), Draft("[]", "JSON"), Draft("true", "JSON"), *(Draft(SELF % label, "JSON") for label in ("1-0-2", "9-0-0")),
         Draft(SELF.replace("acme", "x") % "1-0-2", "JSON"), Draft(SELF.replace('"self"', '"$schema":"http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/schema/jsonschema/1-0-0#","self"') % "1-0-2", "JSON"),
         Draft('{"$schema":"http://x"}', "JSON"), Draft('{"self":1}', "JSON"), Draft('{"type":"nothing"}', "JSON"), replace(JSONS[0], type_name="T"), Draft('{"$supersedes":["1-0-0"]}', "JSON"))  # fmt: skip
OTHER, KEYS = t.Resource("new", "lkc-1", "id-9"), subject_of("topic-keys")
RESOURCES = (TOPIC, OTHER, t.Resource("carts", "lkc-1", "id-2"), replace(OTHER, id=""), replace(OTHER, name=""), replace(OTHER, namespace=""), replace(TOPIC, id="id-8"), replace(TOPIC, name="other"), replace(OTHER, type="x"),
             replace(OTHER, name="a b"), replace(OTHER, name=v.LONG), replace(OTHER, namespace="-"), replace(OTHER, name="-"), replace(OTHER, id="a\x07"), replace(TOPIC, namespace="lkc-9"))  # fmt: skip
SPEC = t.AssociationSpec("value", ORDERS)
SPECS = (
    SPEC, *(replace(SPEC, subject=subject) for subject in (None, *v.HOMES, KEYS, subject_of("lines"), Subject(".lkc-1", "carts-value"), subject_of("a\x07"), subject_of("order-users"))),
    *(replace(SPEC, kind=kind) for kind in ("key", "header", "")), *(replace(SPEC, lifecycle=lifecycle) for lifecycle in ("STRONG", "WEAK", "strong")), *(replace(SPEC, frozen=frozen) for frozen in v.FLAGS),
    replace(SPEC, lifecycle="STRONG", frozen=True), replace(SPEC, lifecycle="WEAK", frozen=True), *(replace(SPEC, schema=Register(ORDERS, draft)) for draft in (INTS[1], INTS[5], records("b"), Draft("{"), Draft("x", "ECHO"))),
    replace(SPEC, schema=Register(ORDERS, INTS[5], force=ForceReason("x", "y"))), replace(SPEC, schema=Register(ORDERS, INTS[5], schema_id=77)),
    *(replace(SPEC, given=given) for given in (t.ImportedAssociation("g"), t.ImportedAssociation("a" * 8 + "-1111-2222-3333-444444444444", 5, 6), t.ImportedAssociation(""), t.ImportedAssociation("x", -1, 2**60))),
    replace(SPEC, subject=KEYS, kind="key", lifecycle="STRONG"), replace(SPEC, subject=KEYS, kind="key", frozen=False), replace(SPEC, subject=KEYS, kind="key"), replace(SPEC, subject=subject_of("topic-new"), lifecycle="STRONG", schema=Register(ORDERS, INTS[0])),
    replace(SPEC, subject=Subject(".import", "topic"), given=t.ImportedAssociation("a" * 8 + "-1111-2222-3333-444444444444", 5, 6), schema=Register(ORDERS, INTS[0])),
)  # fmt: skip
WISHES = (
    *((spec,) for spec in SPECS),
    (),
    (SPECS[0], SPECS[0]),
    (SPECS[0], replace(SPECS[0], kind="key")),
    (replace(SPEC, subject=subject_of("empty")), replace(SPEC, kind="key", subject=subject_of("missing"))),
    (SPEC,) * 3,
)
OPERATIONS = (
    *((t.AssociationChange(op, spec),) for op in ("CREATE", "UPSERT", "DELETE") for spec in SPECS[::3]), (), (t.AssociationChange("DELETE", SPEC), t.AssociationChange("CREATE", SPECS[2])),
    (t.AssociationChange("DELETE", t.AssociationSpec("key"), cascade=True),), (t.AssociationChange("CREATE", SPEC), t.AssociationChange("DELETE", SPEC)), (t.AssociationChange("UPSERT", SPEC),) * 3,
)  # fmt: skip
OF: tuple[t.OfSubject | t.OfName | t.OfId, ...] = (
    t.OfSubject(ORDERS), *(t.OfSubject(subject) for subject in (KEYS, subject_of("missing"), subject_of("alias-orders"), subject_of("lines"), PLAN, Subject(".lkc-1", "carts-value"))), t.OfName("shop"), t.OfName("shop", "lkc-1"),
    t.OfName("-"), t.OfName("-", "lkc-2"), t.OfName("carts"), t.OfName("x"), t.OfName(""), t.OfName("shop", ""), t.OfId("id-1"), t.OfId("id-2"), t.OfId("x"), t.OfId(""),
)  # fmt: skip
LISTS = {
    "of": OF, "type": ("topic", "x", ""), "kinds": ((), ("key",), ("value",), ("key", "value"), ("x",)), "lifecycle": ("", "STRONG", "WEAK", "x"), "offset": v.OFFSETS, "limit": (*v.LIMITS, 1_001),
}  # fmt: skip
BY_ID = t.ListAssociations(t.OfId("id-1"))

TABLES = (
    Table(s.Publish(CLICK, "1-0-2", LABELLED[3]), {
        "subject": PUBLISHED, "label": LABELS, "draft": TEXTS, "private": v.MAYBE, "supersedes": ((), ("1-0-0",), ("1-0-0", "1-0-1"), ("2-0-0",), ("1-1-0",), ("9-0-0",), ("x",), ("1-0-2",), ("1-0-1", "1-0-1")),
        "patch": v.FLAGS,
    }, (("label", "patch"), ("draft", "patch"), ("label", "supersedes")), 30, share=0.6, bases=(s.Publish(CLICK, "1-0-1", LABELLED[3], patch=True), s.Publish(subject_of("com.acme/new/jsonschema"), "1-0-0", LABELLED[1]), s.Publish(PLAN, "1-0-1", LABELLED[2]))),
    Table(s.DeletePublished(CLICK, "1-0-1"), {"subject": PUBLISHED, "label": LABELS}, (("subject", "label"),), 0),
    Table(s.PutDraft(CLICK, 2, "{}"), {
        "subject": PUBLISHED, "number": (0, 1, 2, 3, -1, COUNTER, COUNTER + 1), "text": ("", "{", '{"a":1}', "x" * 1_048_576, "x" * 1_048_577), "private": v.FLAGS,
    }, (("subject", "private"),)),
    Table(s.GetPublished(CLICK, "1-0-1"), {"subject": PUBLISHED, "label": LABELS}, (("subject", "label"),), 0),
    Table(s.ListPublished(), {
        "vendor": ("", "com.acme", "com.secret", "com", "x"), "name": ("", "click", "view", "x"), "format": ("", "jsonschema", "avro", "x"), "model": (0, 1, 2, 3, -1),
        "after": (None, ("com.acme/click/jsonschema", "1-0-0"), ("com.acme/click/jsonschema", "1-0-1"), ("com.acme/click/jsonschema", "x"), ("com.acme/click/jsonschema", ""), ("com.acme/click", "1-0-0"), ("zz/a/b", "1-0-0"), ("", "")),
        "limit": v.LIMITS,
    }, (("limit", "after"),), 60, ("vendor",)),
    Table(s.GetDraft(CLICK, 1), {"subject": PUBLISHED, "number": (0, 1, 2, 3, -1, COUNTER + 1)}, (("subject", "number"),), 0),
    Table(t.Associate(OTHER, (SPEC,)), {"resource": RESOURCES, "wishes": WISHES, "update": v.FLAGS, "dry_run": v.FLAGS}, (("wishes", "update"),), 20, ("resource",), bases=(t.Associate(TOPIC, (replace(SPEC, subject=subject_of("lines"), kind="key"),), update=True), t.Associate(TOPIC, (replace(SPEC, kind="key", subject=KEYS, frozen=False),), update=True))),
    Table(t.Dissociate("id-1"), {
        "resource_id": ("id-1", "id-2", "id-3", "x", ""), "type": ("topic", "x", ""), "kinds": ((), ("key",), ("value",), ("x",), ("key", "value")), "cascade": v.FLAGS, "dry_run": v.FLAGS,
    }, (("resource_id", "cascade"), ("kinds", "cascade")), places=("resource_id",)),
    Table(t.ChangeAssociations((t.ResourceChange(OTHER, OPERATIONS[0]),)), {
        "changes": (
            *((t.ResourceChange(OTHER, operations),) for operations in OPERATIONS), *((t.ResourceChange(TOPIC, operations),) for operations in OPERATIONS[::2]),
            *((t.ResourceChange(resource, OPERATIONS[0]),) for resource in RESOURCES), (), (t.ResourceChange(OTHER, OPERATIONS[0]), t.ResourceChange(TOPIC, OPERATIONS[-3])),
            tuple(t.ResourceChange(replace(OTHER, name=f"n{n}", id=f"i{n}"), OPERATIONS[0]) for n in range(101)), tuple(t.ResourceChange(replace(OTHER, name=f"n{n}", id=f"i{n}"), OPERATIONS[0]) for n in range(3)),
        ),
        "dry_run": v.FLAGS,
    }, (), 30, ("changes",)),
    Table(t.ListAssociations(t.OfName("-")), LISTS, (("of", "limit"),), 60, ("of",)),
    Table(t.GetAssociations((BY_ID,)), {
        "gets": ((BY_ID,), (), *((replace(BY_ID, of=of),) for of in OF), (BY_ID, BY_ID, replace(BY_ID, of=OF[0])), (BY_ID,) * 101, (replace(BY_ID, kinds=("key",), lifecycle="STRONG"),), (replace(BY_ID, type="x"), BY_ID), (replace(BY_ID, limit=1),)),
        "schemas": v.FLAGS,
    }, (("gets", "schemas"),), 0, ("gets",)),
)  # fmt: skip
