"""The file of ``treaty serve --auth``: methods of authentication, and rules of authorization."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from treaty.api.auth.basic import BasicSettings
from treaty.api.auth.bearer import LEEWAY_SECONDS, BearerSettings
from treaty.api.auth.certificate import NAMINGS, CertificateSettings
from treaty.api.auth.keys import ALGORITHMS
from treaty.api.auth.toml_tables import TomlTable, read_tables
from treaty.core.access.rights import (
    ANONYMOUS,
    PERMISSIONS,
    AccessRule,
    Permission,
    Rights,
    patterns_of_vendor,
    with_included,
)
from treaty.core.messages.api_keys import DIGEST, VENDOR
from treaty.core.names import EVERYWHERE
from treaty.core.state.metastore.keys import key_of_name
from treaty.core.urls import UrlError, split_server_url

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Hosts from which keys may be fetched without TLS."""
_KINDS = ("user:", "token:", "cert:")
_WHO = 'write "user:NAME", "token:NAME", "cert:NAME", "group:NAME", "anonymous" or "*"'


@dataclass(frozen=True, slots=True)
class AuthSettings:
    """The content of the file. A method without a section (None) is not accepted."""

    rights: Rights
    anonymous: bool = False
    basic: BasicSettings | None = None
    bearer: BearerSettings | None = None
    certificate: CertificateSettings | None = None
    metrics: tuple[str, ...] | None = None
    """Principals that may read ``/metrics``, beside administrators; None: every principal with a permission."""
    super_keys: frozenset[str] = frozenset()
    """Digests of API keys that may do everything."""


def read_settings(data: bytes, path: Path) -> AuthSettings:
    """Read the file; raises `AuthFileError` with the line and a remedy."""
    top = read_tables(data, path)
    anonymous = top.flag("anonymous")
    basic, bearer, certificate = (top.table(name) for name in ("basic", "bearer", "certificate"))
    groups, rules, metrics = top.table("groups"), top.tables("rule"), top.table("metrics")
    keys = top.table("api_keys")
    top.end()
    settings = AuthSettings(
        rights=Rights(tuple(_rule(rule) for rule in rules), _groups(groups) if groups else {}),
        anonymous=anonymous,
        basic=_basic(basic) if basic else None,
        bearer=_bearer(bearer) if bearer else None,
        certificate=_certificate(certificate) if certificate else None,
        metrics=_metrics(metrics) if metrics else None,
        super_keys=_super_keys(keys) if keys else frozenset(),
    )
    if not (basic or bearer or certificate or anonymous or keys):
        raise top.make_error("no client can authenticate", "write a section [basic], [bearer] or [certificate]")
    _refuse_unknown_groups(settings, rules)
    return settings


def _basic(table: TomlTable) -> BasicSettings:
    settings = BasicSettings(
        file=table.path_of("file"), realm=_realm(table), remember=table.number("remember", 300, 0, 86_400)
    )
    table.end()
    return settings


def _bearer(table: TomlTable) -> BearerSettings:
    address = table.text("keys")
    try:
        parts = split_server_url(address)
    except UrlError as error:
        raise table.make_error("it is neither a URL nor a file", str(error), "keys") from None
    remote = parts.scheme in {"http", "https"}
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise table.make_error(
            "keys would be fetched without TLS and could be replaced on the way", "use https://", "keys"
        )
    algorithms = table.texts("algorithms", ALGORITHMS)
    for name in algorithms:
        if name not in ALGORITHMS:
            raise table.make_error(
                f"algorithm {name!r} is not known here", f"known: {', '.join(ALGORITHMS)}", "algorithms"
            )
    settings = BearerSettings(
        issuer=table.text("issuer"),
        audience=table.texts("audience"),
        keys=address if remote else table.path_of("keys"),
        algorithms=algorithms,
        leeway=table.number("leeway", LEEWAY_SECONDS, 0, 600),
        principal=table.text("principal", "sub"),
        groups=table.text("groups", ""),
        ca=table.path_of("ca") if "ca" in table.members else None,
        realm=_realm(table),
    )
    table.used.add("ca")
    table.end()
    return settings


def _certificate(table: TomlTable) -> CertificateSettings:
    name = table.text("name", "cn")
    if name not in NAMINGS:
        raise table.make_error(
            f"name {name!r} is no member of a certificate", f"take one of {', '.join(NAMINGS)}", "name"
        )
    table.end()
    return CertificateSettings(name)


def _metrics(table: TomlTable) -> tuple[str, ...]:
    who = _read_who(table)
    table.end()
    return who


def _super_keys(table: TomlTable) -> frozenset[str]:
    digests = table.texts("super")
    for digest in digests:
        if DIGEST.fullmatch(digest) is None:
            remedy = "write what `treaty iglu keygen --super` prints as its digest"
            raise table.make_error("a super key is given as its SHA-256, 64 hex digits in lower case", remedy, "super")
    table.end()
    return frozenset(digests)


def _read_who(table: TomlTable) -> tuple[str, ...]:
    who = table.texts("who")
    for word in who:
        if not word.startswith((*_KINDS, "group:")) and word not in {ANONYMOUS, "*"}:
            raise table.make_error(f"who {word!r} does not say by which way they come in", _WHO, "who")
    return who


def _realm(table: TomlTable) -> str:
    realm = table.text("realm", "Treaty")
    if not realm.isascii() or not realm.isprintable() or '"' in realm or "\\" in realm:
        raise table.make_error("realm goes into a header", "take letters, digits and blanks", "realm")
    return realm


def _groups(table: TomlTable) -> Mapping[str, frozenset[str]]:
    groups = {}
    for name in table.members:
        groups[name] = frozenset(table.texts(name))
        for member in groups[name]:
            if not member.startswith(_KINDS):
                raise table.make_error(
                    f"{member!r} is no member of a group", 'write "user:NAME", "token:NAME" or "cert:NAME"', name
                )
    return groups


def _rule(table: TomlTable) -> AccessRule:
    may = table.texts("may")
    for word in may:
        if word not in PERMISSIONS:
            raise table.make_error(f"there is no permission {word!r}", f"take some of {', '.join(PERMISSIONS)}", "may")
    who = _read_who(table)
    contexts = table.texts("contexts", (".",))
    for word in contexts:
        if not word.startswith(".") and word != EVERYWHERE:
            raise table.make_error(
                f"{word!r} is no context", 'a context begins with a dot; "*" is all of them', "contexts"
            )
    topics = _topics(table, may) if "topics" in table.members else None
    sources = tuple(map(key_of_name, table.texts("sources"))) if "sources" in table.members else None
    table.used.update(("topics", "sources"))
    vendors = _vendors(table)
    named = "subjects" in table.members
    subjects = () if (topics or vendors or sources) and not named else table.texts("subjects", ("*",))
    subjects += tuple(pattern for vendor in vendors for pattern in patterns_of_vendor(vendor))
    included = with_included(cast("tuple[Permission, ...]", may))
    rule = AccessRule(who, included, subjects, contexts, topics, table.flag("private"), sources)
    table.used.add("subjects")
    table.end()
    return rule


def _vendors(table: TomlTable) -> tuple[str, ...]:
    """Vendors of Iglu schemas: each one stands for its subjects, and for those of the vendors below it."""
    vendors = table.texts("vendors", ("",)) if "vendors" in table.members else ()
    table.used.add("vendors")
    for vendor in vendors:
        if VENDOR.fullmatch(vendor) is None:
            raise table.make_error(f"{vendor!r} is no vendor", "write its name without wildcards: com.acme", "vendors")
    return vendors


def _topics(table: TomlTable, may: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns of topics. A rule that names topics and no subjects is about topics alone."""
    topics = table.texts("topics")
    if not {"register", "query", "insert", "delete", "admin"}.intersection(may):
        raise table.make_error(
            "topics are for who may register, query, insert or delete", 'write may = "register"', "topics"
        )
    if "contexts" in table.members and "subjects" not in table.members:
        raise table.make_error(
            "contexts say nothing of topics, and the rule has no subjects", "write subjects = […]", "contexts"
        )
    return topics


def _refuse_unknown_groups(settings: AuthSettings, tables: list[TomlTable]) -> None:
    """Refuse a group that is neither in the file nor, with [bearer], possibly in tokens."""
    if settings.bearer is not None and settings.bearer.groups:
        return
    for rule, table in zip(settings.rights.rules, tables, strict=True):
        for word in rule.who:
            group = word.removeprefix("group:")
            if group != word and "*" not in group and "?" not in group and group not in settings.rights.groups:
                group_names = ", ".join(sorted(settings.rights.groups)) or "none"
                raise table.make_error(f"there is no group {group!r}", f"known in [groups]: {group_names}", "who")
