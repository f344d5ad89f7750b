"""JSON by Spark's own `from_json`: a document that is not of the columns' types is a bad row, and never half a record."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.spark.engines.engine import DECODED, Engine, barrier
from treaty.spark.frames import looked_up
from treaty.spark.plan.ddl import quoted
from treaty.spark.plan.recipes import JsonRecipe
from treaty.spark.plan.value import DecodePlan

CORRUPT, WHOLE = "_treaty_corrupt", "_treaty_whole"
READ = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": CORRUPT,
    "allowNonNumericNumbers": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSSSSS][XXX]",
}


def _decoded(frame: DataFrame, plan: DecodePlan, column: str) -> DataFrame:
    value = F.col(column)
    mine = looked_up(value, {one.schema_id: F.lit(True) for one in plan.writers})
    text = F.substring(value, 6, 2**31 - 1).cast("string")
    # Bytes that are no UTF-8 would become replacement signs, and those a good row.
    readable = F.when(mine & F.is_valid_utf8(text), text)
    if _recipe(plan).whole:
        readable = F.concat(F.lit(f'{{"{WHOLE}":'), readable, F.lit("}"))
    return frame.withColumn(DECODED, barrier(F.from_json(readable, _type(plan), READ)))


def _recipe(plan: DecodePlan) -> JsonRecipe:
    assert isinstance(plan.recipe, JsonRecipe)
    return plan.recipe


def _type(plan: DecodePlan) -> str:
    columns = ((WHOLE, plan.type),) if _recipe(plan).whole else plan.columns
    return ", ".join(f"{quoted(name)} {kind}" for name, kind in (*columns, (CORRUPT, "STRING")))


def _good(plan: DecodePlan) -> Column:
    del plan
    return F.col(DECODED).isNotNull() & F.col(DECODED)[CORRUPT].isNull()


def _record(plan: DecodePlan, value: Column) -> Column:
    del value
    if _recipe(plan).whole:
        return F.col(DECODED)[WHOLE]
    return F.struct(*(F.col(DECODED)[name].alias(name) for name, _ in plan.columns))


def _failed(plan: DecodePlan) -> Column:
    del plan
    return F.lit("MALFORMED")


def _said(plan: DecodePlan) -> Column:
    del plan
    return F.when(_broken(), "the payload is no JSON, or a value in it is not of its column's type")


def _broken() -> Column:
    return F.col(DECODED).isNull() | F.col(DECODED)[CORRUPT].isNotNull()


DOCUMENTS = Engine(_decoded, _good, _record, _failed, _said)
