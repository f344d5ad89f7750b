"""With which settings a subject may be made: words that are known, properties within limits, a policy of its own."""

from tests.simulation.judging.model.events import ConfigChanged
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.settings import SAME, as_kept, changed, followed, own_config
from tests.simulation.texts import SCHEMES
from treaty.core import limits
from treaty.core.messages import groups as g
from treaty.core.messages.registration import SubjectCreation
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import Subject
from treaty.core.refusals import FormatNotAllowed, InvalidSetting, NotPermitted, TooLarge
from treaty.core.schema import Pairs
from treaty.core.state.values import ConfigValue

WORDS = {
    "types": ("across", "one", "many"),
    "order": ("registration", "schemaver"),
    "identity": ("canonical", "normalised", "exact"),
}
"""Settings that never change, and the words that they may have."""
HOME = ("level", "partition", "strictness", "validators")
"""What makes the policy of a config."""


def refuse_bad_properties(properties: Pairs) -> None:
    """So many and so long, each once; names that begin with the registry's own are its own."""
    if len(properties) > limits.GROUP_PROPERTIES:
        raise No(TooLarge, "GROUP_PROPERTIES")
    if sum(len(name) + len(value) for name, value in properties) > limits.GROUP_PROPERTY_CHARACTERS:
        raise No(TooLarge, "GROUP_PROPERTY_CHARACTERS")
    if len(dict(properties)) < len(properties):
        raise No(InvalidSetting, "PROPERTY_TWICE")
    for name, value in properties:
        if name == g.FORMAT:
            if value != g.ANY_FORMAT and not _is_format(value):
                raise No(InvalidSetting, "PROPERTY_FORMAT")
        elif name.startswith("treaty."):
            raise No(InvalidSetting, "PROPERTY_RESERVED")


def _is_format(word: str) -> bool:
    """A word in capitals."""
    plain = word.isprintable() and not any(char.isspace() or char == ":" for char in word)
    return plain and word[:1].isalpha() and word == word.upper() and len(word) <= limits.NAME_LENGTH


def refuse_bad_settings(settings: g.GroupSettings | SubjectCreation) -> None:
    for name, words in WORDS.items():
        if getattr(settings, name) not in words:
            raise No(InvalidSetting, "SUBJECT_SETTING", new=getattr(settings, name))
    if not settings.origin or not settings.origin.isprintable() or len(settings.origin) > limits.ORIGIN_LENGTH:
        raise No(InvalidSetting, "SUBJECT_ORIGIN")
    refuse_bad_properties(settings.properties)
    if len(settings.schemes) > limits.ID_SCHEMES:
        raise No(TooLarge, "ID_SCHEMES")
    known = {"sequence", *SCHEMES}
    if len(set(settings.schemes)) < len(settings.schemes) or not set(settings.schemes) <= known:
        raise No(InvalidSetting, "ID_SCHEME")


def format_of(properties: Pairs) -> str:
    """The only format that a subject with these properties takes; empty where it takes all."""
    named = dict(properties).get(g.FORMAT, g.ANY_FORMAT)
    return "" if named == g.ANY_FORMAT else named


def refuse_other_format(subject: Subject, properties: Pairs, format_: str) -> None:
    only = format_of(properties)
    if only and format_ != only:
        raise No(FormatNotAllowed, "SUBJECT_FORMAT", subject=str(subject), old=only, new=format_)


def chosen_config(past: Past, subject: Subject, change: Config) -> ConfigChanged:
    """The policy of a new subject has its home in the config of the subject, which may say nothing else of it."""
    scope = Scope(*subject)
    old = own_config(past, scope) or ConfigValue()
    new = changed(old, change, ())
    new = followed(past, new)
    for name in HOME:
        if getattr(old, name) not in {None, getattr(new, name)}:
            raise No(NotPermitted, "CREATE_WITH_CONFIG", subject=str(subject))
    return ConfigChanged(scope, as_kept(new))


def refuse_other_members(change: Config) -> None:
    """Only what makes a policy may come with a new subject."""
    if any(getattr(change, name) is not None for name in SAME if name not in {"validators", "follows"}):
        raise No(InvalidSetting, "CREATE_WITH_MEMBER")
