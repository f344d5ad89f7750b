"""Limits of the metastore: its types, statements and sources. `core.limits` has them too, and `/status` lists them."""

TYPE_DEPTH = 100
"""Nesting of one SQL type of a column, with user types written out."""
TYPE_PARTS = 20_000
"""Types inside of one SQL type of a column, with user types written out."""
TYPE_CHARACTERS = 1_048_576
"""Characters of the text of one SQL type."""
DECIMAL_DIGITS = 38
"""Digits of a decimal in a column, as Spark and Arrow hold them."""
SOURCES = 20_000
"""Sources of the metastore."""
TYPES = 5_000
"""Named types of the metastore."""
SOURCE_COLUMNS = 2_000
"""Columns of one source."""
PATH_TEXT = 1_024
"""Characters of the PATH of a source."""
SOURCE_PROPERTIES = 100
"""Properties of one source."""
BODY_READS = 64
"""Sources that the body of one query reads."""
PLANNER_ASKED = 256
"""Sources, and subjects, that a planner may name beside a refusal; with more of them the sender needs the right to read everything."""
BODY_NODES = 10_000
"""Parts of the body of one query: clauses, expressions and names."""
BODY_WINDOWS = 300
"""Windows of a query that a row may be in: `window(ts, '1 hour', '1 minute')` has 60."""
BODY_ELEMENTS = 1_000_000
"""Characters of a text, or elements of an array, that a number in the body of a query asks for, as in `repeat('x', 1000)`; nested ones are multiplied."""
SOURCES_PAGE = 1_000
"""Sources, types or dropped sources in one page of a list."""
SOURCES_PAGE_CHARACTERS = 8_388_608
"""Characters of the rows in one page of a list of sources or types; a page has one row at least."""
CLOSURE = 20_000
"""Steps of one closure of dependents."""
ONCE_QUERIES = 16
"""Queries that are run once which the row of a source keeps."""
INCARNATIONS = 8
"""Former queries that the row of a source keeps."""
PLAN_PARTS = 50
"""Parts of the state of one query that its row names: filters, keys, windows, aggregates."""
PLAN_PART_CHARACTERS = 200
"""Characters of the text of one such part; what is longer is cut."""
CHANGE_REASONS = 50
"""Reasons of the assessment of one change of a query, and columns that its readers lose."""
WARNED_SOURCES = 100
"""Sources that the answer to a soft deletion names."""
FORMER_GENERATIONS = 16
"""Generations that a source keeps of the times before it was dropped and brought back."""
DROP_GRACE = 604_800_000
"""Milliseconds for which a dropped source can come back."""
TOPICS_DELETED = 1_000
"""Topics that are to go and are there still."""
TOPIC_LEASES = 1_000
"""Clusters whose topics are being changed at one time."""
DROPPED_EXPIRED = 8
"""Dropped sources past their period of grace that one command on sources removes."""
PLANNING_WAITING = 1_000
"""Statements that wait for a planner."""
PLANNING_SECONDS = 60
"""Seconds for which a statement waits for its plan."""
PLANNER_SILENT_SECONDS = 10
"""Seconds after which another planner may take the job of one that was not heard of."""
PLANNING_ATTEMPTS = 3
"""Plans of one statement that may come too late, for sources or schemas that have changed meanwhile."""
PLANNING_PAGE = 100
"""Statements in one page of a list of those that wait for a planner; their texts have at most PLANNING_CHARACTERS together."""
PLANNING_CHARACTERS = 2_000_000
"""Characters of statements after which such a page ends."""
PLANNER_NAME = 200
"""Characters of the name of a planner."""
RUNNERS = 1_000
"""Runners that have a lease."""
RUNNER_NAME = 200
"""Characters of the name of a runner, and of that of its holder."""
RUNNER_ADDRESS = 1_000
"""Characters of the address at which the status of a runner is served."""
KEPT_FILES = 1_000
"""Numbers and places that one question about the files of sources names."""
CLOCK_MARGIN = 3_600_000
"""Milliseconds that clocks of nodes may differ: files of dropped sources are kept so much longer than DROP_GRACE."""
ASSIGNED_PARTS = 500
"""Parts of sources that one command assigns to a runner or takes from it."""
LONG_POLL_SECONDS = 20
"""Seconds for which a query may wait for a change of what it asks for."""
INSERT_SECONDS = 10
"""Seconds for which INSERT, UPDATE and DELETE wait until all replicas have their records."""
PLANNER_BODY_BYTES = 100_000
"""Bytes of the body of one query in UTF-8 that a planner takes."""
PLANNER_HEAP = 1_024
"""Megabytes of memory of the JVM of a planner."""
QUERY_BATCH_RECORDS = 500_000
"""Records of topics that one batch of a query reads; the others come with the next one."""
PLAN_SECONDS = 30
"""Seconds for which a planner works on one body; past it its JVM is ended and the statement refused."""
COMPARE_SECONDS = 600
"""Seconds for which EXPLAIN REPLACE COMPARE runs two queries; past it they are given up."""
COMPARE_BATCHES = 20
"""Batches into which the rows of such a comparison are cut where the queries run as streams."""
COMPARE_ROWS = 20
"""Rows that such a comparison shows of those only in the old result, only in the new one, and of those that differ."""
ASSERT_SECONDS = 60
"""Seconds for which ASSERT waits at most, whatever its TIMEOUT says."""
STATEMENT_BYTES = 1_048_576
"""Bytes of one statement in UTF-8."""
SCRIPT_BYTES = 4_194_304
"""Bytes of all statements of a script in UTF-8, with their variables replaced."""
SCRIPT_REPLAYED = 5_000
"""Commands that are decided again while one script of one commit is read, because later statements ask about what they make."""
SCRIPT_STATEMENTS = 1_000
"""Statements of one script."""
SCRIPT_DIAGNOSTICS = 1_000
"""Errors in one script that are listed; the rest of the script is not read."""
PROJECT_FILES = 10_000
"""Files of SQL in one project."""
PROJECT_PREVIEWS = 20
"""Dry runs of the statements of a project: each finds the first one that is refused, which the next leaves out."""
PLAN_ATTEMPTS = 5
"""Times that a server plans its project, while other servers change what it was planned on."""
RESULT_ROWS = 10_000
"""Rows in the result of one statement."""
SCRIPT_ATTEMPTS = 3
"""Times that a script of one commit is read, while others change what it reads."""
