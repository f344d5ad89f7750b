"""Results of tests as JUnit's XML, which servers of continuous integration read."""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from treaty.spark.sql_tests.execution import CaseResult

_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no document of XML may have, which a message of Spark or the name of a file may."""


def print_junit(results: Sequence[CaseResult], folder: str) -> str:
    """Return the results of a folder as a document."""
    failures = sum(bool(one.differences) and not one.error for one in results)
    errors = sum(bool(one.error) for one in results)
    suite = Element(
        "testsuite", name=folder, tests=str(len(results)), failures=str(failures), errors=str(errors),
        time=f"{sum(one.seconds for one in results):.3f}",
    )  # fmt: skip
    for result in results:
        case = SubElement(suite, "testcase", classname=folder, name=result.name, time=f"{result.seconds:.3f}")
        if result.error:
            SubElement(case, "error", message=result.error)
        elif result.differences:
            SubElement(case, "failure", message=result.differences[0]).text = "\n".join(result.differences)
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", tostring(suite, "unicode", xml_declaration=True)) + "\n"
