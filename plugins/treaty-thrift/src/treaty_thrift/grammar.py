"""The tree of a text by thriftpy2's lexer and grammar, without any of thriftpy2's actions.

Those actions open included files, and addresses, while they parse. Here each rule of the grammar gets an action that
keeps what was matched and does nothing else: an include is a node with a path, and nobody looks there.
"""

import copy
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ply import lex, yacc
from thriftpy2.parser import lexer as thrift_lexer
from thriftpy2.parser import parser as thrift_parser
from thriftpy2.parser.exc import ThriftParserError

from treaty.core.finding import Diagnostic
from treaty.core.limits import FULL_NAME, SCHEMA_DEPTH
from treaty.formats.budget import spend
from treaty.formats.format import InvalidSchemaError

TOKEN_STEPS = 30
"""Steps for one token."""
OPENING, CLOSING = frozenset("<[{("), frozenset(">]})")
_RIGHT = frozenset(
    ("header", "const_list_seq", "const_map_seq", "enum_seq", "field_seq", "function_seq", "type_annotation_seq")
)
"""Rules for rows of things whose rest is their last part: kept backwards, so that a long one is no deep tree."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the text: its kind, its value, and where it stands."""

    kind: str
    value: Any
    line: int
    offset: int


@dataclass(slots=True)
class Node:
    """What a rule matched."""

    rule: str
    parts: list["Node | Token"] = field(default_factory=list)

    def __iter__(self) -> "Iterator[Node | Token]":
        return reversed(self.parts) if self.rule in _RIGHT else iter(self.parts)

    def nodes(self) -> "Iterator[Node]":
        """The parts that are no words."""
        return (child for child in self if isinstance(child, Node))

    def tokens(self) -> Iterator[Token]:
        """The parts that are words."""
        return (child for child in self if isinstance(child, Token))

    def find(self, rule: str) -> "Node | None":
        """The first part that this rule matched."""
        return next((node for node in self.nodes() if node.rule == rule), None)


class _GrammarError(Exception):
    """A token that no rule has a place for; None at the end of the text."""

    def __init__(self, token: Any) -> None:
        super().__init__(str(token))
        self.token = token


def _keep(production: Any) -> None:
    """Keep what a rule matched, as the action of every rule."""
    rule = production.slice[0].type
    children: list[Any] = [
        Token(symbol.type, symbol.value, symbol.lineno, symbol.lexpos)
        if isinstance(symbol, lex.LexToken)
        else symbol.value
        for symbol in production.slice[1:]
    ]
    if rule in _RIGHT and children and children[-1].rule == rule:
        children[-1].parts.extend(reversed(children[:-1]))
        production[0] = children[-1]
    elif rule == "definition" and children:
        children[0].parts.append(children[1])
        production[0] = children[0]
    else:
        production[0] = Node(rule, children)


def _make_action(rule: Callable[..., None]) -> Callable[[Any], None]:
    """The action of one of thriftpy2's rules: the rule is its docstring, its line decides the order."""

    def action(production: Any) -> None:
        _keep(production)

    action.__name__, action.__doc__ = rule.__name__, rule.__doc__
    action.co_firstlineno = rule.__code__.co_firstlineno  # type: ignore[attr-defined]  # where ply looks first
    return action


def _refuse(token: Any) -> None:
    raise _GrammarError(token)


@cache
def load_grammar() -> tuple[Any, Any]:
    """Lexer and parser, made once in a process; nothing is written, and no table of another program is read."""
    rules = types.ModuleType(__name__)
    for name, rule in vars(thrift_parser).items():
        if name.startswith("p_") and name != "p_error":
            setattr(rules, name, _make_action(rule))
    tables = types.ModuleType("treaty_thrift.tables")
    vars(rules).update(p_error=_refuse, tokens=thrift_lexer.tokens, literals=thrift_lexer.literals, __file__=__file__)
    vars(tables).update(_tabversion="", __file__=__file__)
    quiet = yacc.NullLogger()
    parser = yacc.yacc(module=rules, debug=False, write_tables=False, errorlog=quiet, tabmodule=tables)
    return lex.lex(module=thrift_lexer, errorlog=quiet), parser


class _BoundedLexer:
    """A lexer that counts steps and depth."""

    __slots__ = ("_depth", "lexer")

    def __init__(self, text: str) -> None:
        self.lexer = load_grammar()[0].clone()
        self.lexer.lineno = 1
        self.lexer.input(text)
        self._depth = 0

    def token(self) -> Any:
        spend(TOKEN_STEPS)
        token = self.lexer.token()
        if token is not None and token.type == "IDENTIFIER" and len(token.value) > FULL_NAME:
            said = f"a name of {len(token.value)} characters, more than the limit FULL_NAME of {FULL_NAME}"
            expected = f"at most {FULL_NAME} characters"
            raise InvalidSchemaError((Diagnostic("NAME_ILLEGAL", "", said, expected, token.lineno, 1),))
        if token is not None and token.type in OPENING:
            self._depth += 1
            if self._depth > SCHEMA_DEPTH:
                raise InvalidSchemaError(
                    (Diagnostic("TOO_DEEP", "", f"more than {SCHEMA_DEPTH} levels", "fewer levels", token.lineno, 1),)
                )
        elif token is not None and token.type in CLOSING:
            self._depth -= 1
        return token


def read_tree(text: str) -> Node:
    """The tree of a text. Raises `InvalidSchemaError` with the place of the first fault."""
    words = _BoundedLexer(text)
    parser = copy.copy(load_grammar()[1])
    try:
        root: Node = parser.parse(lexer=words)
    except _GrammarError as wrong:
        token = wrong.token
        line, column = place_of(text, len(text) if token is None else token.lexpos)
        said = "the text ends too early" if token is None else f"{str(token.value)[:40]!r} has no place here"
        raise InvalidSchemaError((Diagnostic("SYNTAX", "", said, "a definition of Thrift", line, column),)) from None
    except (ThriftParserError, ValueError, IndexError) as wrong:
        if isinstance(wrong, InvalidSchemaError):
            raise
        line, column = place_of(text, min(words.lexer.lexpos, len(text)))
        said = str(wrong).split(" at line ", maxsplit=1)[0][:200]
        raise InvalidSchemaError((Diagnostic("SYNTAX", "", said, "a word of Thrift", line, column),)) from None
    return root


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of an offset."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
