"""The schema service: answers questions about schemas, small ones immediately, large ones in a pool, with a cache by
digest.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field

from treaty.core.finding import Diagnostic, ExplainedDifference, Finding
from treaty.core.limits import (
    DECISION_ANSWERS,
    DECISION_ROUNDS,
    INLINE_BYTES,
    MEMO_BYTES,
    POOL_PROCESSES,
    VALUE_INLINE_WEIGHT,
)
from treaty.core.refusals import NotOffered, TooLarge, Unavailable
from treaty.core.schema_engine import (
    Answer,
    CompareSchemas,
    ComparisonResult,
    DescribeDifferences,
    DescribeValidators,
    DifferencesDescribed,
    EntriesFound,
    FindEntries,
    FindTags,
    InspectionResult,
    InspectSchema,
    InvalidText,
    NameVersion,
    ParsedSchema,
    ParseSchema,
    Question,
    RetaggedSchema,
    RetagSchema,
    SearchIndex,
    TagsFound,
    ValidateValue,
    ValidatorsDescribed,
    ValueValidated,
    VersionNames,
)
from treaty.core.schema_engine import count_characters as reach
from treaty.formats.budget import StepBudget, StepsError, use_budget
from treaty.light_dataclass import dataclass
from treaty.node.installed_formats import PROCESSES, THREAD, InstalledFormats
from treaty.node.question_queue import AnswerQuestion, QuestionQueue, QuestionSource

Key = tuple[str, bytes, bytes, tuple[str, ...]]
"""The cache key of an answer: digests of resolved schemas. Not guids, which cover only subject and number of a
reference.
"""

ENTRY_BYTES = 400
"""Weight of a cached answer beside its texts, in bytes."""


def key_of(question: Question) -> Key:
    """Return the cache key of a question."""
    match question:
        case ParseSchema(meaning, strict, normalize):
            return (f"parse {strict} {normalize}", meaning.digest, b"", ())
        case CompareSchemas(reader, writer, policy):
            return (policy, reader.digest, writer.digest, ())
        case DescribeDifferences(old, new, sent):
            text = hashlib.sha256(sent.encode("utf-8", "backslashreplace")).hexdigest() if sent else ""
            return (f"differences {text}", old.digest, new.digest, ())
        case FindEntries():
            return ("search", hashlib.sha256(repr(question).encode("utf-8", "backslashreplace")).digest(), b"", ())
        case InspectSchema(meaning, validators, metadata, versions):
            beside = repr(
                (metadata, [(version.number, version.meaning.digest, version.metadata) for version in versions])
            )
            rest = hashlib.sha256(beside.encode("utf-8", "backslashreplace")).digest() if metadata or versions else b""
            return ("inspect", meaning.digest, rest, validators)
        case DescribeValidators(validators):
            return ("validators", b"", b"", validators)
        case FindTags(meaning):
            return ("tags", meaning.digest, b"", ())
        case ValidateValue(meaning, value, depth):
            return (f"value {depth}", meaning.digest, hashlib.sha256(value).digest(), ())
        case NameVersion(meaning, sent, subject, type_name, schemes):
            facts = hashlib.sha256(repr((sent, subject, type_name)).encode("utf-8", "backslashreplace"))
            return ("names", meaning.digest, facts.digest(), schemes)
        case RetagSchema(meaning, add, remove, lenient):
            edit = hashlib.sha256(repr((add, remove, lenient)).encode("utf-8", "backslashreplace"))
            return ("retag", meaning.digest, edit.digest(), ())


def weight(question: Question) -> int:
    """Return the characters that answering a question parses."""
    if isinstance(question, CompareSchemas):
        return reach(question.reader) + reach(question.writer)
    if isinstance(question, DescribeDifferences):
        return 3 * (reach(question.old) + reach(question.new)) + len(
            question.sent
        )  # each is compared under every policy
    if isinstance(question, DescribeValidators | FindEntries):
        return 0
    if isinstance(question, InspectSchema):
        return reach(question.meaning) + sum(reach(version.meaning) for version in question.versions)
    if isinstance(question, ValidateValue):
        return reach(question.meaning) + len(question.value)
    return reach(question.meaning)


def _size(answer: Answer) -> int:
    match answer:
        case ParsedSchema():
            return ENTRY_BYTES + len(answer.canonical) + sum(map(len, answer.type_names))
        case InvalidText() | InspectionResult():
            return ENTRY_BYTES + sum(_fault_size(fault) for fault in answer.faults)
        case ValidatorsDescribed():
            return ENTRY_BYTES * (1 + len(answer.packages)) + sum(_fault_size(fault) for fault in answer.faults)
        case ComparisonResult():
            return ENTRY_BYTES + sum(_finding_size(finding) for finding in answer.findings)
        case DifferencesDescribed():
            sizes = sum(map(_difference_size, answer.differences))
            return ENTRY_BYTES * (1 + len(answer.levels)) + len(answer.old_text) + len(answer.new_text) + sizes
        case EntriesFound():
            return ENTRY_BYTES * (1 + len(answer.hits))
        case TagsFound():
            return ENTRY_BYTES + sum(
                ENTRY_BYTES + len(entity.path) + sum(map(len, entity.tags)) for entity in answer.tagged
            )
        case RetaggedSchema():
            return ENTRY_BYTES + len(answer.text)
        case VersionNames():
            return ENTRY_BYTES + sum(len(scheme) + len(name) for scheme, name in answer.names)
        case ValueValidated():
            texts = (len(message) + len(path) + sum(map(len, more)) for message, path, _, more in answer.violations)
            return ENTRY_BYTES * (1 + len(answer.violations)) + len(answer.issue) + len(answer.too_costly) + sum(texts)


def _fault_size(diagnostic: Diagnostic) -> int:
    return ENTRY_BYTES + len(diagnostic.path) + len(diagnostic.message) + len(diagnostic.expected)


def _difference_size(difference: ExplainedDifference) -> int:
    texts = (getattr(difference, name) for name in ("path", "sentence", "detail", "old", "new", "remedy"))
    return 2 * ENTRY_BYTES + sum(map(len, texts))


def _finding_size(finding: Finding) -> int:
    texts = (finding.path, finding.sentence, finding.detail, finding.writer, finding.reader, finding.remedy)
    return ENTRY_BYTES + sum(map(len, texts))


@dataclass(slots=True)
class SchemaService:
    """Answers questions for all decisions of a node.

    `answer` answers one question, blocking; `run` answers large ones without blocking, `workers` at a time.
    `memo_bytes` bounds the cache.
    """

    formats: Callable[[], tuple[str, ...]]
    """Returns names of formats; it and the next ones are functions, because what they need is loaded late."""
    answer: Callable[[Question], Answer]
    run: AnswerQuestion
    inline_bytes: int = INLINE_BYTES
    memo_bytes: int = MEMO_BYTES
    release: Callable[[], None] = lambda: None
    """Closes the pool of `run`."""
    validators: Callable[[], frozenset[str]] = frozenset
    """Returns names of validators; all formats are loaded for it."""
    id_schemes: Callable[[], Mapping[str, str]] = dict
    """Returns id schemes, each with its package."""
    workers: int = 1
    index: SearchIndex | None = None
    """Answers searches; None: they are not offered."""
    queue: QuestionQueue = field(init=False, repr=False)
    """The queue of open questions; equal ones share an answer."""
    _memo: OrderedDict[Key, tuple[Answer, int]] = field(default_factory=OrderedDict, repr=False)
    _bytes: int = 0

    def __post_init__(self) -> None:
        """Make the queue."""
        self.queue = QuestionQueue(self.run, self.workers)

    def open_session(self, principal: str = "", *, writes: bool = False) -> "SchemaSession":
        """Return the engine of one decision of a principal, for all its rounds; `writes` for a command."""
        return SchemaSession(self, principal, writes)

    async def answer_questions(self, session: "SchemaSession", questions: tuple[Question, ...]) -> None:
        """Answer questions of a decision. Raises `TooLarge` past the limit of answers per decision, `Unavailable` if
        too many wait or after too many rounds.
        """
        if len(session.pinned) + len(questions) > DECISION_ANSWERS:
            raise TooLarge.of(
                "DECISION_ANSWERS",
                f"This needs more than {DECISION_ANSWERS} comparisons of schemas",
                allowed=f"at most {DECISION_ANSWERS}; delete old versions, or use a level that is not transitive",
            )
        session.begin_round()
        for search in (question for question in questions if isinstance(question, FindEntries)):
            session.pinned[key_of(search)] = await self._search(search)
        questions = tuple(question for question in questions if not isinstance(question, FindEntries))
        if session.rounds > DECISION_ROUNDS:
            message = (
                f"the subject changed {DECISION_ROUNDS} times while its schemas were compared; nothing was written"
            )
            raise Unavailable(message, self.queue.retry_after)
        fresh: dict[Key, Question] = {}
        for question in questions:
            key = key_of(question)
            cached_answer = self.recall(key)
            if cached_answer is None:
                fresh[key] = question
            else:
                session.pinned[key] = cached_answer
        new_answers = await self.queue.answer(list(fresh.items()), session.source, sum(map(weight, fresh.values())))
        for key, answer in zip(fresh, new_answers, strict=True):
            self.keep(key, answer)
            session.pinned[key] = answer

    async def _search(self, question: FindEntries) -> EntriesFound:
        """Ask the search index on a thread. Raises `NotOffered` where there is none, `Unavailable` while it is built."""
        if self.index is None:
            message = (
                "search is not available here: this registry keeps no search index; ask a server that runs with one"
            )
            raise NotOffered(message)
        return await asyncio.to_thread(self.index.find, question)

    async def validate_value(self, question: ValidateValue, principal: str = "") -> ValueValidated:
        """Validate a value: on a thread, or in the pool if value and schema together weigh more than VALUE_INLINE_WEIGHT.
        Raises `Unavailable` if too many wait.
        """
        if reach(question.meaning) * len(question.value) <= VALUE_INLINE_WEIGHT:
            answer: Answer = await asyncio.to_thread(self.answer, question)
        else:
            key, source = key_of(question), QuestionSource(principal)
            (answer,) = await self.queue.answer([(key, question)], source, weight(question))
        assert isinstance(answer, ValueValidated)
        return answer

    async def close(self) -> None:
        """Stop answering, and close the pool."""
        await self.queue.close()
        self.release()

    def recall(self, key: Key) -> Answer | None:
        """Return the cached answer to the question with a key, or None; on any thread."""
        cached = self._memo.get(key)
        if cached is None:
            return None
        with suppress(KeyError):  # it may be removed by another thread meanwhile
            self._memo.move_to_end(key)
        return cached[0]

    def keep(self, key: Key, answer: Answer) -> None:
        """Cache the answer to the question with a key, unless the clock decided it; the least recently used ones are removed first."""
        if isinstance(answer, InspectionResult | ValidatorsDescribed) and answer.is_timed:
            return
        size = _size(answer)
        if key in self._memo or size > self.memo_bytes:
            return
        self._memo[key] = (answer, size)
        self._bytes += size
        while self._bytes > self.memo_bytes:
            _, (_, gone) = self._memo.popitem(last=False)
            self._bytes -= gone


@dataclass(slots=True)
class SchemaSession:
    """The `SchemaEngine` of one decision, which keeps its answers until the decision ends."""

    service: SchemaService
    principal: str = ""
    writes: bool = False
    pinned: dict[Key, Answer] = field(default_factory=dict)
    rounds: int = 0
    """Rounds of answers so far."""
    _read: int = 0
    _budget: StepBudget | None = None
    """Steps left for the decision in the event loop in this round, from its first question on."""

    @property
    def source(self) -> QuestionSource:
        """The source of its questions."""
        return QuestionSource(self.principal, self.writes)

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of the formats with a plug-in here."""
        return self.service.formats()

    @property
    def validators(self) -> frozenset[str]:
        """Names of the validators that are here."""
        return self.service.validators()

    @property
    def id_schemes(self) -> Mapping[str, str]:
        """Id schemes that are here, each with its package."""
        return self.service.id_schemes()

    def begin_round(self) -> None:
        """Start a new round, in another turn of the loop."""
        self.rounds += 1
        self._read, self._budget = 0, None

    def recall(self, question: Question) -> Answer | None:
        """Return an answer that was given before, or None; on any thread."""
        key = key_of(question)
        return self.pinned.get(key) or self.service.recall(key)

    def ask(self, question: Question) -> Answer | None:
        """Return the answer if it is cached or small; characters and steps in the event loop are bounded."""
        key = key_of(question)
        answer = self.pinned.get(key) or self.service.recall(key)
        if answer is None and isinstance(question, FindEntries):
            return None
        if answer is None:
            size = weight(question)
            if self._read + size > self.service.inline_bytes:
                return None
            self._read += size
            self._budget = self._budget or StepBudget()
            try:
                with use_budget(self._budget):
                    answer = self.service.answer(question)
            except StepsError:
                return None
            self.service.keep(key, answer)
        if len(self.pinned) < DECISION_ANSWERS:
            self.pinned[key] = answer
        return answer


@dataclass(frozen=True, slots=True)
class SessionEngine:
    """A `SchemaEngine` with the formats of a session, which answers in a way of its own."""

    session: SchemaSession
    ask: Callable[[Question], Answer | None]

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of the formats with a plug-in here."""
        return self.session.formats

    @property
    def validators(self) -> frozenset[str]:
        """Names of the validators that are here."""
        return self.session.validators

    @property
    def id_schemes(self) -> Mapping[str, str]:
        """Id schemes that are here, each with its package."""
        return self.session.id_schemes


def answered_engine(session: SchemaSession) -> SessionEngine:
    """Return the engine of a decision on a thread: it answers what was answered before, and nothing else."""
    return SessionEngine(session, session.recall)


# ------------------------------------------------------------------------------------- services over the installed formats


def make_thread_service() -> SchemaService:
    """Return a service with one thread for large questions, for an embedded node. A format is loaded by its first schema."""
    return _make_service(InstalledFormats(THREAD), 1)


def make_process_service(processes: int = POOL_PROCESSES) -> SchemaService:
    """Return a service with processes for large questions, for a server, whose event loop needs its interpreter.

    Processes are started on demand. All formats are imported now, not by a request.
    """
    installed = InstalledFormats(PROCESSES)
    installed.load()
    return _make_service(installed, processes)


def _make_service(installed: InstalledFormats, workers: int) -> SchemaService:
    return SchemaService(
        installed.names,
        installed.answer,
        installed.run,
        release=installed.close,
        validators=installed.validators,
        id_schemes=installed.id_schemes,
        workers=workers,
    )
