"""What is asked of operations on configs, modes, contexts and deletions."""

from tests.answers.asks import Table
from tests.answers.shop import ORDERS, TAGGED
from tests.answers.tables import values as v
from treaty.core.limits import COUNTER
from treaty.core.messages import settings as c
from treaty.core.messages.contexts import DeleteContext, MakeContext
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.policy import ALL, LATEST, LEVELS, Level, VersionRange

SCOPES = (
    Scope(".", "orders"), Scope("."), Scope("*"), Scope(".far"), Scope(".far", "orders"), Scope(".import"), Scope(".new"), Scope(".new", "new"),
    *(Scope(".", name) for name in ("missing", "group", "followers", "strict", "alias-orders", "alias-secret", "deleted", "empty", "defaults", "")),
    Scope(".", "com.secret/plan/jsonschema"), Scope(".", "com.acme/click/jsonschema"), Scope(".still", "readonly"), Scope(".still"), Scope(".hollow"),
    Scope("*", "orders"), Scope(".", "a\x07b"), Scope(".", v.LONG), Scope(".a b"), Scope(""), Scope(".import", "writable"), Scope(".away", "w-used"),
)  # fmt: skip
LEVELS_ASKED = (Level(), Level(LATEST), Level(ALL, LATEST), Level(deny=True), Level(LATEST, deny=True), Level(VersionRange("till", 0)), Level(VersionRange("till", 2), VersionRange("till", 5)),
                Level(VersionRange("till", 9)), Level(VersionRange("till", -1)), Level(VersionRange("till", COUNTER + 1)), Level(VersionRange("x")), Level(VersionRange("")),
                Level(VersionRange("latest", 1)), Level(forward=VersionRange("till", 1)))  # fmt: skip
CHANGES = (
    Config(), *(Config(level=level) for level in (*LEVELS, "full", "x", "")), *(Config(exact_level=level) for level in LEVELS_ASKED),
    Config(level="FULL", exact_level=Level(LATEST)), Config(level="BACKWARD", exact_level=Level(LATEST)), Config(level="BACKWARD_TRANSITIVE", exact_level=Level(ALL)),
    *(Config(alias=alias) for alias in ("", "orders", ":.far:orders", "missing", "alias-far", "secrets", "a\x07", "com.secret/plan/jsonschema", v.LONG)),
    Config(alias_for_deks="lines"), Config(alias_for_deks=""), Config(normalize=True), Config(normalize=False), Config(validate_fields=True), Config(validate_new_schemas=True),
    Config(validate_rules=True), *(Config(policy=policy) for policy in ("STRICT", "LENIENT", "LOGICAL", "lenient", "")),
    Config(group="major"), Config(group=""), Config(partition=""), Config(partition="type"), Config(partition="property:owner"), Config(partition="property:"), Config(partition="x"),
    Config(group="major", partition="property:major"), Config(group="major", partition="property:owner"), Config(group="major", partition="type"), Config(group=v.LONG),
    *(Config(validators=names) for names in (
        (), ("documentation(type,field)",), ("documentation",), ("documentation()",), ("documentation(x)",), ("required-metadata(owner, team)",), ("policy:gold",),
        ("policy:gold(1)",), ("policy:missing",), ("policy:FULL",), ("policy:BackwardTill(1)",), ("policy:BackwardTill",), ("policy:BackwardTillAndForwardTill(1,2)",), ("x",), ("a b",),
        ("FIELD_NAME_SNAKE_CASE",), ("lint:x",), ("documentation(type)", "documentation(type)"), ("v" * 1001,), ("x",) * 101, ("policy:AllowAny(1)",), ("policy:BackwardTill(x)",),
    )),
    Config(follows="gold"), Config(follows="missing"), Config(follows=""), Config(follows="till"), Config(follows="gold", level="FULL"), Config(follows="gold", normalize=True),
    Config(follows="gold", validators=()), Config(follows="FULL"), Config(follows="gold", policy="STRICT"), Config(follows="gold", group="x"),
    Config(default_metadata=TAGGED.metadata), Config(override_metadata=v.METADATA[4]), *(Config(default_rules=rules) for rules in v.RULES[1:]), Config(override_rules=TAGGED.rules),
    Config(level="FULL", normalize=True, alias="orders", group="g"), Config(default_metadata=v.METADATA[5], override_rules=v.RULES[3]),
)  # fmt: skip
CLEARED = ((), ("level",), ("group",), ("partition",), ("alias", "level"), ("follows",), ("x",), ("validators", "policy"), ("normalize",), ("exact_level",), ("default_metadata",), ("override_rules",),
           ("level", "level"))  # fmt: skip
MODES = (None, "READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD", "readonly", "")

TABLES = (
    Table(c.SetConfig(Scope(".", "orders"), Config(level="FORWARD")), {"scope": SCOPES, "change": CHANGES, "clear": CLEARED}, (("scope", "clear"),), 20, ("scope",), share=0.6, bases=(c.SetConfig(Scope(".", "followers"), Config(normalize=True)), c.SetConfig(Scope("."), Config(level="FULL")))),
    Table(c.DeleteConfig(Scope(".", "orders")), {"scope": SCOPES}, places=("scope",)),
    Table(c.SetMode(Scope(".", "orders"), "READONLY"), {"scope": SCOPES, "mode": MODES, "force": v.FLAGS}, (("mode", "force"), ("scope", "mode")), 20, ("scope", "mode")),
    Table(c.DeleteMode(Scope(".still", "readonly")), {"scope": SCOPES, "recursive": v.FLAGS}, (("scope", "recursive"),), places=("scope",)),
    Table(c.GetConfig(Scope(".", "orders")), {"scope": SCOPES, "resolve": v.FLAGS}, (("scope", "resolve"),), places=("scope",)),
    Table(c.GetMode(Scope(".still", "readonly")), {"scope": SCOPES, "resolve": v.FLAGS}, (("scope", "resolve"),), places=("scope",)),
    Table(c.ListSettings(), {
        "prefix": (Subject("*", ""), Subject(".", ""), Subject(".", "o"), Subject(".far", ""), Subject(".away", "w"), Subject("*", "alias"), Subject(".", "com.secret"), Subject(".zz", ""), Subject("", "")),
        "offset": v.OFFSETS, "limit": v.LIMITS,
        "after": (None, Scope("*"), Scope("."), Scope(".far"), Scope(".", "alias-far"), Scope(".", "orders"), Scope(".zz", "a"), Scope("", "")),
    }, (("limit", "after"),), 60, ("prefix",)),
    Table(MakeContext(".import", 50), {
        "context": v.CONTEXTS, "highest_id": (0, 1, 7, 40, 41, 45, 46, 50, 1_000_040, 1_000_041, -1, COUNTER, COUNTER + 1),
    }, (("context", "highest_id"),), places=("context",)),
    Table(DeleteContext(".hollow"), {"context": v.CONTEXTS}, places=("context",)),
    Table(DeleteVersion(ORDERS, 3), {
        "subject": v.SUBJECTS, "version": v.VERSIONS, "permanent": v.FLAGS, "exact": v.FLAGS, "force": v.FLAGS,
    }, (("permanent", "force"),), bases=(DeleteVersion(ORDERS, 2, permanent=True), DeleteVersion(Subject(".away", "w-group"), 3), DeleteVersion(Subject(".away", "w-used"), 2))),
    Table(DeleteSubject(ORDERS), {"subject": v.SUBJECTS, "permanent": v.FLAGS, "force": v.FLAGS}, (("subject", "permanent"), ("subject", "force"))),
)  # fmt: skip
