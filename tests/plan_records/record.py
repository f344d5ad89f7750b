"""`PlanRecord`: what is asked of plans in one case, and the answers as lines."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tests.plan_records.column_words import read_columns
from tests.plan_records.texts import (
    columns_lines,
    compact,
    decode_plan_lines,
    encode_plan_lines,
    refusal_lines,
    shorten,
    show_column,
    show_value,
)
from treaty import arrow
from treaty.arrow.encoding.payloads import make_payload_writer
from treaty.arrow.encoding.protobuf import make_batch_writer
from treaty.arrow.types import arrow_type
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.names import subject_of
from treaty.core.refusals import RegistryError
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column
from treaty.formats.format import InvalidSchemaError
from treaty.plan.ddl import parse_type
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.decoded_columns import derive_decoded_columns
from treaty.plan.encoding.encode_plans import check_columns, make_encode_plan
from treaty.plan.encoding.options import DeriveOptions, EncodeOptions
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError
from treaty.plan.value import DecodePlan

REFUSED = (PlanError, RegistryError, InvalidSchemaError, ValueError, LookupError)
SUBJECT = "s"
REFUSED_ID = -1
SHORT = 12
"""Characters below which a line is written again."""


def _print_range(lines: range) -> str:
    last = f"-{lines.stop - 1}" if len(lines) > 1 else ""
    return f"  as {lines.start}{last}"


@dataclass
class PlanRecord:
    """A registry, and lines about the plans that are made with it."""

    registry: Connection
    lines: list[str] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)
    """The texts of schemas by id."""

    def text(self) -> str:
        """All lines; one that comes again is the number of the first of its kind, and those that follow it as they did are a range."""
        numbers: dict[str, int] = {}
        parts: list[str | range] = []
        for line in map(shorten, self.lines):
            number = numbers.get(line)
            last = parts[-1] if parts else ""
            if number is None or len(line) < SHORT:
                numbers.setdefault(line, len(parts) + 1)
                parts.append(line)
            elif isinstance(last, range) and last.stop == number:
                parts[-1] = range(last.start, number + 1)
            else:
                parts.append(range(number, number + 1))
        return "".join(f"{part if isinstance(part, str) else _print_range(part)}\n" for part in parts)

    def add(self, title: str, lines: Iterable[str]) -> None:
        """A title, and lines below it."""
        self.lines += [f"== {title}", *(line.translate({10: "⏎", 13: "␍"}) for line in lines)]

    def attempt(self, title: str, lines: Callable[[], Iterable[str]]) -> None:
        """What a function says, or its refusal."""
        try:
            self.add(title, [*lines()])
        except REFUSED as error:
            self.add(f"{title} is refused", refusal_lines(error))

    def ask(self, request: Request[Any]) -> None:
        """The answer of the registry."""
        self.attempt(show_value(request), lambda: [show_value(self.registry.ask(request).answer)])

    def show(self, title: str, function: Callable[..., Any], *arguments: Any, **choices: Any) -> None:
        """The value of a function, or its refusal."""
        self.attempt(title, lambda: [show_value(function(*arguments, **choices))])

    def put(self, *texts: str, format_: str = "AVRO", subject: str = SUBJECT, **more: Any) -> list[int]:
        """Register texts as versions, and return their ids; that of a text that is refused is `REFUSED_ID`."""
        ids = []
        for text in texts:
            try:
                version = self.registry.ask(Register(subject_of(subject), Draft(text, format_, **more))).answer.version
            except REFUSED as error:
                self.add(f"{subject} refuses {compact(text)}", refusal_lines(error))
                ids.append(REFUSED_ID)
                continue
            ids.append(version.schema_id)
            if self.texts.setdefault(version.schema_id, text) == text:
                self.lines.append(f"{version.schema_id} {subject} {version.number}: {compact(text)}")
        return ids

    def decode(
        self,
        subject: str | None = SUBJECT,
        rows: Sequence[bytes | None] = (),
        *,
        before: DecodePlan | None = None,
        **choices: Any,
    ) -> DecodePlan | None:
        """The plan for a subject, and the answers for frames."""
        words = ", ".join(f"{name}={compact(str(value))}" for name, value in choices.items())
        title = f"decode {subject or 'ids'} {words}{' after a plan' if before else ''}".rstrip()
        try:
            plan = make_plan(self.registry, subject, before=before, **choices)
        except REFUSED as error:
            self.add(f"{title} is refused", refusal_lines(error))
            return None
        self.add(title, decode_plan_lines(plan, self.texts))
        self.read(plan, rows)
        return plan

    def read(self, plan: DecodePlan, rows: Sequence[bytes | None]) -> None:
        """The answers of a plan for frames."""
        if rows:
            self.attempt("rows", lambda: self._rows(plan, rows))

    @staticmethod
    def _rows(plan: DecodePlan, rows: Sequence[bytes | None]) -> Iterator[str]:
        table = arrow.decode(pa.array(rows, pa.binary()), plan).to_pylist()
        for frame, row in zip(rows, table, strict=True):
            error = row["error"]
            answer = f"{error['code']} {error['schema_id']}: {error['message']}" if error else show_value(row["record"])
            yield f"{frame[1:].hex() if frame else show_value(frame)} -> {answer}"

    def extend(self, plan: DecodePlan | None, ids: Iterable[int], rows: Sequence[bytes | None] = ()) -> None:
        """The plan with further ids."""
        if plan is None:
            return
        try:
            longer = extend(plan, self.registry, ids)
        except REFUSED as error:
            self.add(f"extended by {ids} is refused", refusal_lines(error))
            return
        self.add(f"extended by {ids}", ["the same"] if longer is plan else decode_plan_lines(longer, self.texts))
        self.read(longer, rows)

    def columns(self, text: str, format_: str, **choices: Any) -> None:
        """The columns of a text without references."""
        words = "".join(f" {name}={value}" for name, value in choices.items())
        self.attempt(
            f"columns{words}", lambda: columns_lines(derive_decoded_columns(ResolvedSchema(format_, text), **choices))
        )

    def encode(
        self, columns: str, rows: Sequence[Any] = (), *, subject: str = SUBJECT, check: bool = False, **options: Any
    ) -> EncodePlan | None:
        """The plan for columns, and the payloads of rows, where no engine of Spark writes them."""
        words = ", ".join(f"{name}={compact(str(value))}" for name, value in options.items())
        title, given = f"encode {columns} as {subject} {words}".rstrip(), read_columns(columns)
        choices = EncodeOptions(**options)
        if check:
            self.attempt(f"check of {title}", lambda: self.checked(columns, choices, subject))
        try:
            plan = make_encode_plan(self.registry, subject, given, choices)
        except REFUSED as error:
            self.add(f"{title} is refused", refusal_lines(error))
            return None
        self.add(title, encode_plan_lines(plan, self.texts.get(plan.schema_id, "")))
        if rows:
            self.attempt("payloads", lambda: self._payloads(plan, rows))
        return plan

    def derive(self, title: str, columns: Sequence[Column], derive: DeriveOptions, *, subject: str = SUBJECT) -> None:
        """The schema that is derived from columns and made a version, with the plan; before that what a check says."""
        options = EncodeOptions(derive=derive, register=True)
        self.add(f"derive {title} as {subject}: {', '.join(map(show_column, columns))}", ())
        self.attempt("check", lambda: self._check(subject, columns, options))
        try:
            plan = make_encode_plan(self.registry, subject, columns, options)
        except REFUSED as error:
            self.add("it is refused", refusal_lines(error))
            return
        self.texts[plan.schema_id] = plan.text
        self.add("plan", encode_plan_lines(plan, plan.text if plan.format == "AVRO" else ""))

    def checked(self, columns: str, options: EncodeOptions, subject: str = SUBJECT) -> Iterator[str]:
        """What encoding would do."""
        return self._check(subject, read_columns(columns), options)

    def _check(self, subject: str, columns: Sequence[Column], options: EncodeOptions) -> Iterator[str]:
        dry_run = check_columns(self.registry, subject, columns, options)
        yield from dry_run.explain().split("\n")
        yield compact(dry_run.to_json().replace(json.dumps(dry_run.text, ensure_ascii=False), ""))
        yield f"text: {compact(dry_run.text)}"

    @staticmethod
    def _payloads(plan: EncodePlan, rows: Sequence[Any]) -> Iterator[str]:
        kind = arrow_type(parse_type(plan.fit.type))
        write = make_batch_writer(plan) if plan.format == "PROTOBUF" else make_payload_writer(plan)
        for row in rows:
            try:
                (answer,) = write(pa.array([row], kind)).to_pylist()
            except (*REFUSED, pa.ArrowException, OverflowError, TypeError) as error:
                answer = f"{type(error).__name__}: {error}"
            yield f"{show_value(row)} -> {show_value(answer)}"
