"""The rules of names and texts: each takes modules or documents with the glossary, and names the offenders."""

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.house.rules import Module

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.toml"

# The same part in several formats or dialects may have the same class names: folders whose modules may share them.
TWINS: tuple[frozenset[str], ...] = (
    frozenset({"formats.avro", "formats.jsonschema", "formats.protobuf", "formats.logical"}),
    frozenset({"arrow.avro", "arrow.jsonschema", "arrow.protobuf"}),
    frozenset({"plan.avro", "plan.jsonschema", "plan.protobuf"}),
    frozenset({"log.kafka", "log.memory", "log.postgres", "log.sqlite"}),
    frozenset({"api.confluent", "api.native", "api.peer"}),
)
# Where two rooms use one class name, the lower one has the older right to it.
ROOMS = (
    "core",
    "formats",
    "log",
    "wire",
    "node",
    "client",
    "plan",
    "arrow",
    "metastore",
    "spark",
    "api",
    "assemble",
    "cli",
    "testing",
)
VAGUE = frozenset(
    [
        "asked",
        "done",
        "each",
        "found",
        "given",
        "here",
        "kept",
        "known",
        "least",
        "made",
        "mine",
        "most",
        "one",
        "others",
        "said",
        "seen",
        "shown",
        "taken",
        "there",
        "told",
        "wanted",
        "whole",
        "wrong",
    ]
)
"""Pronouns and participles: a binding of such a name says nothing of its value."""
SHORT_FORMS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
"""What may bind a vague name where it fits in a line."""
BACKTICKED = re.compile(r"(?<!`)`([A-Za-z_][A-Za-z_0-9.]*)`(?!`)")
"""A name of the code in a docstring."""
# A refusal is an answer and needs no suffix.
REFUSALS = "treaty.core.refusals"

EMPTY = frozenset({"maker", "walk", "run", "work", "look", "way", "reader", "writer"})
"""Words that say nothing when they are all of a private class name."""

IRREGULAR = frozenset(
    [
        "begun",
        "bound",
        "built",
        "chosen",
        "done",
        "drawn",
        "found",
        "given",
        "gone",
        "held",
        "heard",
        "hidden",
        "kept",
        "known",
        "left",
        "lost",
        "made",
        "meant",
        "met",
        "put",
        "said",
        "seen",
        "sent",
        "set",
        "shown",
        "spent",
        "stood",
        "taken",
        "told",
        "understood",
        "woven",
        "written",
    ]
) - {"put", "set"}
ADVERBS = frozenset(
    [
        "again",
        "alike",
        "always",
        "anew",
        "apart",
        "aside",
        "below",
        "beside",
        "beyond",
        "here",
        "inside",
        "never",
        "once",
        "only",
        "otherwise",
        "outside",
        "there",
        "together",
        "twice",
        "within",
        "without",
    ]
)
FUNCTION_TERMS = frozenset({"fixed", "bound", "below", "without", "within"})
"""Avro's type, the bound of a keyword, and prepositions that read with their object."""
VERBS_IN_ED = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed", "shred"})


@dataclass(frozen=True)
class Glossary:
    """Terms in lower case, and the words that nothing may use with what to say for them."""

    terms: frozenset[str]
    in_names: Mapping[str, str]
    in_texts: Mapping[str, str]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds the words that texts may not use."""
        return re.compile(rf"\b({'|'.join(map(re.escape, self.in_texts))})\b", re.IGNORECASE)


WordRule = Callable[[Sequence[Module], Glossary], Iterator[str]]


def read_glossary() -> Glossary:
    """Read the glossary of the project."""
    parsed = tomllib.loads(GLOSSARY.read_text("utf-8"))
    names: dict[str, str] = {}
    texts: dict[str, str] = {}
    for term in parsed["term"]:
        names |= dict.fromkeys([*term.get("in_names", ()), *term.get("instead_of", ())], term["name"])
        texts |= dict.fromkeys(term.get("instead_of", ()), term["name"])
    texts |= parsed["idioms"]
    names |= {word: say for word, say in texts.items() if " " not in word}
    return Glossary(frozenset(term["name"] for term in parsed["term"]), names, texts)


def split_words(name: str) -> list[str]:
    """Return the words of an identifier in lower case: `HttpPeer` and `http_peer` are both http, peer."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def retired_names(modules: Iterable[Module], glossary: Glossary) -> Iterator[str]:
    """The name of a module, class, function or parameter uses no retired word."""
    for module in modules:
        stem = module.path.parent.name if module.path.name == "__init__.py" else module.path.stem
        names = [(1, stem)]
        for node in module.nodes:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                names.append((node.lineno, node.name))
            elif isinstance(node, ast.arg):
                names.append((node.lineno, node.arg))
        for line, name in names:
            for word in dict.fromkeys(split_words(name)):
                if word in glossary.in_names:
                    yield f"{module.path}:{line} {name}: not {word!r} but {glossary.in_names[word]}"


def shared_class_names(modules: Iterable[Module]) -> Iterator[str]:
    """A public class name is used in one module; the lowest room that has it is the one to keep it."""
    homes: dict[str, list[Module]] = {}
    for module in modules:
        for node in _classes(module):
            if not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    for name, found in homes.items():
        folders = {_folder(module) for module in found}
        if len(found) < 2 or any(folders <= twins and len(folders) == len(found) for twins in TWINS):
            continue
        first, *others = sorted(found, key=lambda module: (_height(module), str(module.path)))
        for module in others:
            yield f"{module.path}: {name} is also in {first.dotted}"


def _folder(module: Module) -> str:
    return ".".join(module.dotted.split(".")[1:3])


def _height(module: Module) -> int:
    return ROOMS.index(module.room) if module.room in ROOMS else len(ROOMS)


def vague_classes(modules: Iterable[Module], glossary: Glossary) -> Iterator[str]:
    """A class name of one word is a term of the glossary, or a request; a private one is not an empty word."""
    for module in modules:
        if module.dotted == REFUSALS:
            continue
        for node in _classes(module):
            if any(ast.unparse(base).startswith("Request[") for base in node.bases):
                continue
            words = split_words(node.name)
            if len(words) == 1 and (
                words[0] in EMPTY if node.name.startswith("_") else not is_term(words[0], glossary)
            ):
                yield f"{module.path}:{node.lineno} {node.name}"


def is_term(word: str, glossary: Glossary) -> bool:
    """Say whether the word, or the word in the singular, is a term."""
    singular = word.removesuffix("ies") + "y" if word.endswith("ies") else word.removesuffix("s")
    return bool({word, singular, word.removesuffix("es")} & glossary.terms)


def vague_functions(modules: Iterable[Module]) -> Iterator[str]:
    """A function or method is not named by a bare participle or adverb; a property may be, it says what something is."""
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_property(node):
                word = node.name.strip("_")
                regular = re.fullmatch(r"[a-z]{2,}ed", word) and word not in VERBS_IN_ED
                if (regular or word in IRREGULAR | ADVERBS) and word not in FUNCTION_TERMS:
                    yield f"{module.path}:{node.lineno} {node.name}"


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(getattr(decorator, "id", "") in {"property", "cached_property"} for decorator in node.decorator_list)


def vague_bindings(modules: Iterable[Module]) -> Iterator[str]:
    """A local or a parameter is named by what it is, comprehensions and lambdas of one line aside."""
    for module in modules:
        for node in module.nodes:
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            is_long = isinstance(node, SHORT_FORMS) and node.lineno != node.end_lineno
            is_loop_of_module = isinstance(node, ast.For) and node in module.tree.body
            if is_function or is_long or is_loop_of_module:
                for line, name in _list_bindings(node):
                    if name in VAGUE:
                        yield f"{module.path}:{line} {name}"


def _list_bindings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The names that a function, a comprehension or a lambda binds, with their lines; those of others inside are left to these."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.lineno, child.id
        elif isinstance(child, ast.arg):
            yield child.lineno, child.arg
        elif isinstance(child, ast.ExceptHandler) and child.name:
            yield child.lineno, child.name
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, *SHORT_FORMS)):
            yield from _list_bindings(child)


def verbal_modules(modules: Iterable[Module], glossary: Glossary) -> Iterator[str]:
    """A module is a noun: it does not end in `-ing`, unless the word is a term."""
    for module in modules:
        stem = module.path.parent.name if module.path.name == "__init__.py" else module.path.stem
        if stem.endswith("ing") and not is_term(stem, glossary):
            yield str(module.path)


def nameless_errors(modules: Sequence[Module]) -> Iterator[str]:
    """An exception ends in `Error`, unless it is a refusal."""
    bases = {
        node.name: [ast.unparse(base).split(".")[-1].split("[")[0] for base in node.bases]
        for module in modules
        for node in _classes(module)
    }

    def is_error(name: str, seen: frozenset[str] = frozenset()) -> bool:
        if name.endswith(("Error", "Exception")) and name not in bases:
            return True
        return name not in seen and any(is_error(base, seen | {name}) for base in bases.get(name, ()))

    for module in modules:
        if module.dotted != REFUSALS:
            for node in _classes(module):
                if is_error(node.name) and not node.name.endswith("Error"):
                    yield f"{module.path}:{node.lineno} {node.name}"


def _classes(module: Module) -> list[ast.ClassDef]:
    return [node for node in module.nodes if isinstance(node, ast.ClassDef)]


def retired_texts(documents: Iterable[tuple[str, str]], glossary: Glossary) -> Iterator[str]:
    """A document uses no retired word outside of code."""
    for path, text in documents:
        prose = re.sub(r"^```.*?^```|`[^`\n]*`", _blank, text, flags=re.DOTALL | re.MULTILINE)
        if path.endswith("reference/commands.md"):
            prose = text  # what stands there as code is the help of the commands
        for number, line in enumerate(prose.splitlines(), 1):
            for word, say in _retired(line, glossary):
                yield f"{path}:{number} not {word!r} but {say}"


def _blank(match: re.Match[str]) -> str:
    return "\n" * match.group().count("\n")


def retired_messages(modules: Iterable[Module], glossary: Glossary) -> Iterator[str]:
    """A message of an exception or a log line uses no retired word."""
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _is_log_call(node)):
                for part in ast.walk(node):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        for word, say in _retired(part.value, glossary):
                            yield f"{module.path}:{part.lineno} not {word!r} but {say}"


def retired_docstrings(modules: Iterable[Module], glossary: Glossary) -> Iterator[str]:
    """A docstring uses no retired word outside of code."""
    for module in modules:
        for first, docstring in _list_docstrings(module):
            prose = re.sub(r"``[^`]*``|`[^`]*`", _blank, docstring)
            for number, line in enumerate(prose.splitlines(), first):
                for word, say in _retired(line, glossary):
                    yield f"{module.path}:{number} not {word!r} but {say}"


def unknown_names(modules: Sequence[Module]) -> Iterator[str]:
    """A name in backticks in a docstring is a word of the code; a foreign name stands between two backticks on each side."""
    words = {word for module in modules for word in _list_words(module)}
    for module in modules:
        for first, docstring in _list_docstrings(module):
            for number, line in enumerate(docstring.splitlines(), first):
                for name in BACKTICKED.findall(line):
                    if name.rpartition(".")[2] not in words:
                        yield f"{module.path}:{number} {name}"


def _list_docstrings(module: Module) -> Iterator[tuple[int, str]]:
    """The texts that stand as statements, each with the number of its first line."""
    for node in module.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def _list_words(module: Module) -> Iterator[str]:
    """The words of a module outside of backticks, and the parts of its own name."""
    yield from re.findall(r"[A-Za-z_][A-Za-z_0-9]*", re.sub(r"`[^`]*`", "", module.text))
    yield from module.dotted.split(".")


def _is_log_call(node: ast.Call) -> bool:
    levels = {"debug", "info", "warning", "error", "exception", "critical"}
    return isinstance(node.func, ast.Attribute) and node.func.attr in levels


def _retired(text: str, glossary: Glossary) -> Iterator[tuple[str, str]]:
    for match in glossary.pattern.finditer(text):
        yield match[1], glossary.in_texts[match[1].lower()]
