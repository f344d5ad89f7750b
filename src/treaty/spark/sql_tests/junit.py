"""Results of tests as JUnit's XML, which servers of continuous integration read."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from treaty.spark.sql_tests.execution import CaseResult


def print_junit(results: Sequence[CaseResult], folder: str) -> str:
    """Return the results of a folder as a document."""
    failures = sum(bool(one.differences) for one in results)
    errors = sum(bool(one.error) for one in results)
    suite = Element(
        "testsuite", name=folder, tests=str(len(results)), failures=str(failures), errors=str(errors),
        time=f"{sum(one.seconds for one in results):.3f}",
    )  # fmt: skip
    for one in results:
        case = SubElement(suite, "testcase", classname=folder, name=one.name, time=f"{one.seconds:.3f}")
        if one.error:
            SubElement(case, "error", message=one.error)
        elif one.differences:
            SubElement(case, "failure", message=one.differences[0]).text = "\n".join(one.differences)
    return tostring(suite, "unicode", xml_declaration=True) + "\n"
