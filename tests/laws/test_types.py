"""Schemas derived from Python classes: valid, the same each time, and the way there and back loses nothing."""

import json
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.laws.typed_classes import ALL
from treaty.client.serializers import avro_codec
from treaty.client.types.classes import class_of
from treaty.client.types.typed import typed_avro, typed_json
from treaty.core.names import Subject
from treaty.core.registry import Registry
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.registry import find_formats

NOBODY = cast("Registry", None)
AVRO = {name: typed_avro(kind, "shop" if name == "dataclass" else "") for name, (kind, _) in ALL.items()}
JSON = {name: typed_json(kind) for name, (kind, _) in ALL.items()}
JSON_07 = {name: typed_json(kind, draft="07") for name, (kind, _) in ALL.items()}
READY = {name: avro_codec.make_avro_codec(NOBODY, one.draft.text, (), Subject(".", "")) for name, one in AVRO.items()}
MODELS = {
    (name, drafts): find_formats()["JSON"].parse(ResolvedSchema("JSON", one.draft.text), True)
    for drafts, every in (("2020-12", JSON), ("07", JSON_07))
    for name, one in every.items()
}

roughly = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)


@pytest.mark.parametrize("name", ALL)
def test_a_derived_schema_is_valid_by_the_strict_parser(name: str) -> None:
    for one in (AVRO[name], JSON[name], JSON_07[name]):
        form = find_formats()[one.draft.format]
        model = form.parse(ResolvedSchema(one.draft.format, one.draft.text), True)
        assert form.compare(model, model, "STRICT") == ()
        assert form.show(model, False).type_name.rpartition(".")[2] in {one.name.rpartition(".")[2], ""}


@pytest.mark.parametrize("name", ALL)
def test_a_class_has_the_same_schema_each_time(name: str) -> None:
    kind = ALL[name][0]
    assert typed_avro(kind, "shop" if name == "dataclass" else "").draft == AVRO[name].draft
    assert typed_json(kind).draft == JSON[name].draft


@pytest.mark.parametrize("name", ALL)
@roughly
@given(data=st.data())
def test_avro_gives_the_equal_value_back(name: str, data: st.DataObject) -> None:
    value, typed, ready = data.draw(ALL[name][1]), AVRO[name], READY[name]
    payload = avro_codec.write_payload(ready, typed.take(value), check=True, tagged=True)

    assert ready.writer is not None
    out = bytearray()
    ready.writer(out, typed.take(value))
    assert bytes(out) == payload
    assert typed.make(avro_codec.read_payload(ready, None, payload, 1, tagged=True)) == value
    assert typed.make(avro_codec.read_slowly(ready, None, (payload, 1), tagged=True)) == value


@pytest.mark.parametrize("name", ALL)
@roughly
@given(data=st.data())
def test_json_gives_the_equal_value_back(name: str, data: st.DataObject) -> None:
    value = data.draw(ALL[name][1])
    for drafts, typed in (("2020-12", JSON[name]), ("07", JSON_07[name])):
        text = json.dumps(typed.take(value), allow_nan=False)
        check = find_formats()["JSON"].check
        assert check is not None
        assert check(MODELS[name, drafts], text) == ()
        if name != "dataclass" or unambiguous(value):
            assert typed.make(json.loads(text)) == value


def unambiguous(order: Any) -> bool:
    """JSON can't tell a text from bytes, a date or a symbol that look the same."""
    return not isinstance(order.mixed, (str, bytes)) and (order.parent is None or unambiguous(order.parent))


@pytest.mark.parametrize("name", ALL)
def test_a_class_made_from_a_schema_has_that_schema(name: str) -> None:
    made = class_of(AVRO[name].draft.text)
    assert typed_avro(made).draft == AVRO[name].draft

    del made.__schema_text__
    assert typed_avro(made).draft == AVRO[name].draft


@pytest.mark.parametrize("name", ALL)
@roughly
@given(data=st.data())
def test_a_class_made_from_a_schema_carries_the_same_values(name: str, data: st.DataObject) -> None:
    plain = AVRO[name].take(data.draw(ALL[name][1]))
    typed = typed_avro(class_of(AVRO[name].draft.text))
    payload = avro_codec.write_payload(READY[name], plain, check=True, tagged=True)

    again = typed.take(typed.make(avro_codec.read_payload(READY[name], None, payload, 1, tagged=True)))
    assert avro_codec.write_payload(READY[name], again, check=True, tagged=True) == payload


@pytest.mark.parametrize("name", ALL)
@roughly
@given(data=st.data())
def test_a_class_made_from_a_json_schema_carries_the_same_values(name: str, data: st.DataObject) -> None:
    value = data.draw(ALL[name][1])
    for typed in (JSON[name], JSON_07[name]):
        made = typed_json(class_of(typed.draft))
        assert made.draft == typed.draft
        plain = json.loads(json.dumps(typed.take(value)))
        if name != "dataclass" or unambiguous(value):
            assert json.loads(json.dumps(made.take(made.make(plain)))) == plain
