"""SQL of the metastore: texts to statements as values, errors as data, and statements to texts."""

from treaty.metastore.sql.diagnostics import STATEMENT_CODES, SqlDiagnostic
from treaty.metastore.sql.printer import print_head, print_literal, print_statement
from treaty.metastore.sql.script import ParsedStatement, StatementScript, parse_script

__all__ = [
    "STATEMENT_CODES",
    "ParsedStatement",
    "SqlDiagnostic",
    "StatementScript",
    "parse_script",
    "print_head",
    "print_literal",
    "print_statement",
]
