"""Texts of column types: all words, their synonyms, brackets that are missing, depths, numbers at their bounds, and quotes."""

WORDS = (
    "INT", "int", "Integer", "BIGINT", "long", "SMALLINT", "SHORT", "TINYINT", "BYTE", "DOUBLE", "FLOAT", "REAL", "STRING", "VARCHAR", "CHAR", "CHARACTER", "BINARY", "BYTES", "BOOLEAN", "DATE", "TIME",
    "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "VARIANT", "VOID", "INTERVAL", "DEC", "NUMERIC", "DECIMAL", "Money", "MONEY", "ADDRESS", "`Größe`", "Größe", "`money`", "``", "`a``b`", "New", "new", "nothing",
    "text", "uuid", "jsonb", "int64", "float32", "bytea", "number", "list", "datetime", "serial", "intt", "strng", "bolean", "timestmp",
)  # fmt: skip
FORMS = (
    "DECIMAL(10)", "DECIMAL(38,38)", "DECIMAL(39)", "DECIMAL(0)", "DECIMAL(5,6)", "DECIMAL(5,5)", "DECIMAL()", "DECIMAL(1,2,3)", "DECIMAL(10,2", "DECIMAL(1.5)", "DECIMAL(00010)", "DECIMAL(0010)", "DECIMAL(x)", "DECIMAL(5,)",
    "DECIMAL(10,0)", "NUMERIC ( 7 , 3 )", "DECIMAL(1l)", "TIME(0)", "TIME(3)", "TIME(6)", "TIME(7)", "TIME(9)", "TIME(x)", "TIME(3,3)", "VARCHAR(10)", "VARCHAR<10>", "CHAR(3)", "character(1)", "STRING(5)", "INT(11)", "TIMESTAMP(3)", "TIMESTAMP_NTZ(6)", "DATE(1)",
    "ARRAY<INT>", "array < int >", "ARRAY", "ARRAY<", "ARRAY<INT", "ARRAY<INT>>", "ARRAY<>", "ARRAY<INT,INT>", "ARRAY(INT)", "MAP<STRING,INT>", "MAP<STRING>", "MAP<STRING,INT,INT>", "MAP<Money, ARRAY<`Größe`>>", "MAP<,INT>", "MAP<STRING INT>",
    "STRUCT<>", "STRUCT", "STRUCT<a INT>", "STRUCT<a: INT>", "struct<A: int, a: string>", "STRUCT<a: INT, a: INT>", "STRUCT<`a`: INT, a: INT>", "STRUCT<a: INT, >", "STRUCT<a: INT b: INT>", "STRUCT<`a b`: INT>", "STRUCT<ä: INT>", "STRUCT<1a: INT>", "STRUCT<a>",
    "STRUCT<a: INT NOT NULL>", "STRUCT<a: INT NOT>", "STRUCT<a: INT NULL>", "STRUCT<a: INT COMMENT 'x'>", "STRUCT<a: INT NOT NULL COMMENT \"it's\">", "STRUCT<a: INT COMMENT>", "STRUCT<a: INT COMMENT x>", "STRUCT<a: INT COMMENT r'\\n'>", "STRUCT<a: INT COMMENT 'a\\nb\\u0041\\101\\%'>",
    "STRUCT<a: INT COMMENT 'a''b' NOT NULL>", "STRUCT<a: STRUCT<b: ARRAY<MAP<STRING, DECIMAL(4,1)>>>>", "STRUCT<a: Money, b: Address, c: ARRAY<Person>>", "STRUCT<end: INT, select: INT, a1_: INT>", "STRUCT<``: INT>", "STRUCT<'a': INT>",
    "ROW<a INT>", "ROW(a INT)", "ROW", "RECORD<a: INT>", "OBJECT('x')", "TUPLE(INT)", "LIST<INT>", "SET<INT>", "MULTISET(INT)", "LIST", "INT INT", "INT /* note */", "INT -- note", "/* a /* b */ c */ INT", "INT /* open", "INT 'x'", "'INT'", "`open", "1", "1a", "", " ", "(INT)", ",",
    "INT;", "${type}", "$x", "INT\n", "STRUCT<a: INT -- c\n, b: INT>", "Größe<INT>", "`ARRAY`<INT>", "ARRAY<New>", "STRUCT<x: new>", "x" * 50, "x y", "ARRAY<'a'>", "MAP<INT,>", "DECIMAL(38, -1)", "INT.x", "a.b",
)  # fmt: skip
DEEP = tuple("ARRAY<" * depth + "INT" + ">" * depth for depth in (1, 3, 4, 99, 100)) + tuple(
    "STRUCT<a: " * depth + "Money" + ">" * depth for depth in (98, 99, 100)
)
LARGE = (
    "STRUCT<" + ", ".join(f"f{n}: INT" for n in range(8)) + ">",
    "STRUCT<" + ", ".join(f"f{n}: Person" for n in range(3)) + ">",
    f"INT{' ' * 1_048_576}",
)
TEXTS = (*WORDS, *FORMS, *DEEP, *LARGE)
