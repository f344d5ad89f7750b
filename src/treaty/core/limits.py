"""Limits with names: everything that can grow stops at one of these, with a clear word."""

SCHEMA_BYTES = 1_048_576
"""Bytes of one schema text, as sent."""
SCHEMA_DEPTH = 200
"""Levels of nesting inside one schema text."""
LOGICAL_DEPTH = 30
"""Types inside each other in a text of logical types."""
LOGICAL_MEMBERS = 20_000
"""Members and symbols of a text of logical types, those that names stand for included."""
SCHEMA_NAMES = 20_000
"""Named types that one schema may define."""
SCHEMA_MEMBERS = 20_000
"""Fields, symbols or branches that one type may have."""
NUMBER_DIGITS = 1_000
"""Characters of one number inside a schema text."""
DEFAULT_STEPS = 1_000_000
"""Steps that checking one field's default may take."""
COMPARE_STEPS = 5_000_000
"""Steps, of about a microsecond each, that one comparison of two schemas may take."""
PARSE_STEPS = 20_000_000
"""Steps, of about a microsecond each, that reading one new schema may take."""
COMBINATION_BRANCHES = 200
"""Schemas of one combination that are new or changed and looked at for partners among those of another one."""
PROOF_STEPS = 300_000
"""Steps of a comparison of JSON Schemas that look for further differences where the established rules refuse already."""
FINDINGS = 1_000
"""Findings that one comparison may list."""
FAULTS = 20
"""Faults that are told about one schema; the rest is found once these are mended."""
FULL_NAME = 2_048
"""Characters of a Protobuf definition's name together with the names of all that it stands in."""
REFERENCES = 200
"""References that one schema may list."""
REFERENCE_DEPTH = 32
"""Links in the longest chain of references."""
VERSIONS_PER_SUBJECT = 10_000
"""Live versions that a subject may have."""
VERSIONS_KEPT_PER_SUBJECT = 100_000
"""Versions that a subject may have in all, softly deleted and hidden ones included; at the limit the oldest hidden ones go."""
VERSIONS_DROPPED = 64
"""Oldest hidden versions that one registration looks at, and removes at most, where a subject has as many versions as it may."""
CONTEXTS = 100_000
"""Contexts that there may be."""
SUBJECTS_PER_CONTEXT = 10_000_000
"""Subjects that a context may have, softly deleted ones included."""
SCHEMAS_PER_CONTEXT = 10_000_000
"""Schemas that a context may have: those that some version has."""
NAME_LENGTH = 4_096
"""Characters of a subject's, context's or version's name."""
SETTINGS_PAGE = 1_000
"""Scopes in one page of a listing of settings."""
COUNTER = 2**31 - 1
"""The highest id, number or ordinal: Confluent's clients read 32 bits."""
ID_GAP = 1_000_000
"""Ids that an importer may leave out above the highest one of a context: all of them are used up then."""
COMMAND_ID = 128
"""Characters of a command's id."""
OUTCOMES = 10_000
"""Commits for which the outcome of a command is remembered."""
OUTCOMES_DROPPED = 64
"""Outcomes that one commit drops at most; there are more to drop where empty commits came between."""
APPENDS_KEPT = 10_000
"""Appends whose place in history a SQL log remembers; at least as long as its tombstones live."""
CHAIN_COMMITS = 256
"""Commits in one append."""
CHAIN_BYTES = 900_000
"""Bytes of rows in one append."""
QUEUE = 4_096
"""Commands that wait in one node's writer."""
REQUEST_BYTES = 4_194_304
"""Bytes of a request body."""
DISCARDED_BYTES = 67_108_864
"""Bytes of a body past its limit that are read and thrown away, so that the sender can read why it is refused."""
ERROR_CHARACTERS = 65_536
"""Characters of an error's message; what somebody sent is told back to them cut short."""
REQUEST_SECONDS = 60
"""Seconds from the first byte of a request to its last; a slower sender is cut off."""
IN_FLIGHT = 1_024
"""Requests that one worker handles at once; past it they get 503."""
IN_FLIGHT_EACH = 512
"""Requests of one client (its principal, or the address it comes from) that one worker handles at once; past it they get 429."""
CONNECTIONS = 10_000
"""Connections that one worker holds at once, fewer where it may open fewer files; past it one without a request is closed, or the new one refused."""
CONNECTIONS_EACH = 5_000
"""Connections from one address (of IPv6 from one network of 64 bits) that one worker holds at once; a trusted proxy has no such limit."""
UNREAD_SECONDS = 30
"""Seconds in which a client has to take 65,536 bytes of an answer that waits for it, or all that is left; who takes less is cut off."""
UNREAD_BYTES = 268_435_456
"""Bytes of answers that wait for clients of one worker; past it those that have taken nothing for two seconds are cut off."""
MEMO_BYTES = 67_108_864
"""Bytes of schema texts whose answers a node's engine remembers."""
MODEL_ENTRIES = 10_000
"""Parsed schemas that a process keeps."""
MODEL_BYTES = 16_777_216
"""Bytes of schema text whose parsed forms a process keeps; a form takes about ten times its text."""
GZIP_BYTES = 4_096
"""Bytes of an answer from which on it is compressed, for clients that take that."""
LIST_ENTRIES_KEPT = 400_000
"""Names of subjects in lists that a node remembers until the next commit; each list counts for ten more, and for the characters of its question."""
HOT_BYTES = 67_108_864
"""Bytes of finished answers that a worker keeps for hot reads."""
RIGHTS_KNOWN = 65_536
"""Answers about rights, each for one class of rights and one subject, that a process remembers."""
RIGHTS_BYTES = 4_194_304
"""Bytes of a file that says who may do what, or has their passwords or keys."""
CREDENTIALS_BYTES = 16_384
"""Bytes of an Authorization header; a longer one is refused unread."""
CREDENTIALS_KNOWN = 10_000
"""Verified credentials that a worker remembers, and as many that turned out wrong."""
PASSWORD_CHECKS = 64
"""Passwords that wait to be checked in one worker; past it requests get 503, those of unknown users first."""
PASSWORD_CHECKS_EACH = 4
"""Passwords of one user, and those from one address that has had PASSWORD_FAILURES, that wait to be checked in one worker; past it requests get 503."""
PASSWORD_FAILURES = 10
"""Wrong passwords from one address within a minute after which each further one is checked later: by a tenth of a second each, up to five."""
PASSWORD_COST = 15
"""The highest cost of a password's bcrypt hash: each step doubles the time, and 15 takes seconds."""
PRINCIPAL_LENGTH = 256
"""Characters of the name of somebody who asks, or of one of their groups."""
PRINCIPAL_GROUPS = 256
"""Groups that a bearer token may name."""
KEYS = 100
"""Public keys in one set for bearer tokens."""
HOT_BLOCKS = 4_096
"""Header blocks that a worker with rights remembers for hot reads: one or two for each kind of client and credential."""
AUDIT_LINES = 10_000
"""Lines of the audit log that wait to be written; past it a line is lost, and counted."""
CACHE_SCHEMAS = 10_000
"""Schemas that a client remembers."""
RULES = 200
"""Rules in one rule set."""
RULE_NAME = 256
"""Characters of a rule's name."""
DECODE_WRITERS = 1_000
"""Schema ids that one decode plan reads."""
UNKNOWN_IDS = 100
"""Unknown schema ids that one batch of a stream asks the registry for; rows of further ones are bad rows."""
ARROW_ROWS = 20_000
"""Frames that are decoded to Arrow at once."""
ARROW_BYTES = 8_000_000
"""Bytes of Protobuf frames that are decoded at once; a message in memory may be twenty times as large as on the wire."""
INFLATED_BYTES = 50_000_000
"""Bytes that one compressed payload may become when a job or a program decodes it; a longer one is a bad row."""
AVRO_ITEMS = 1_000_000
"""Items of one array or map that a Spark job decodes."""
AVRO_NESTING = 32
"""Records of a recursive Avro schema inside each other in one payload; without it, a long row ends the JVM or the Python worker."""
AVRO_TEXT_BYTES = 50_000_000
"""Bytes of one string or bytes value that a Spark job decodes."""
HISTORY_TROUBLES = 200
"""Kinds of bad rows, by schema id and code, that a history check lists."""
LAKE_TRIES = 8
"""Times that a lake table is written to while others change it, before the write fails."""
REGISTRY_TRIES = 6
"""Times that a batch asks a registry that can't answer, before the batch fails."""
SOURCE_RESTARTS = 3
"""Times that a run of a pipeline starts its stream again after the fault of Spark's Kafka source, before it fails."""
COMMIT_BYTES = 4_194_304
"""Bytes of rows in one commit; a chain passes CHAIN_BYTES only where its single commit does."""
INLINE_STEPS = 8_000
"""Steps, of about a microsecond each, that answers about schemas take in the event loop; what needs more goes to a pool."""
INLINE_BYTES = 65_536
"""Characters of schema text that one decision reads in the event loop; what is more goes to a pool."""
DECISION_ANSWERS = 50_000
"""Answers about schemas that one decision keeps until it ends."""
DECISION_ROUNDS = 1_000
"""Times that a decision waits for answers about schemas, because others changed the subject meanwhile; past it it is refused."""
POOL_PROCESSES = 2
"""Processes in which a server answers large questions about schemas; no principal has all of them."""
POOL_DECISIONS = 1_024
"""Decisions of one node that wait for the pool; past it they get 503."""
POOL_DECISIONS_EACH = 256
"""Decisions of one principal that wait for the pool; past it they get 503."""
POOL_BYTES = 1_073_741_824
"""Characters that all questions read which wait for the pool; past it decisions get 503."""
POOL_BYTES_EACH = 268_435_456
"""Characters that the questions of one principal read which wait for the pool; past it its decisions get 503."""
POSITIONS_KEPT = 1_000
"""Places in the log's history that a node remembers, to check tokens against."""
NUMBER_EXPONENT = 1_000
"""Power of ten of one number inside a JSON Schema, either way."""
REGEX_LENGTH = 4_096
"""Characters of one regular expression inside a JSON Schema."""
SUBSCHEMAS = 50_000
"""Schemas inside one JSON Schema and the texts that it refers to."""
VALUE_BYTES = 16_777_216
"""Bytes of one value that the command line checks against a schema."""
TRANSFER_ROWS = 2_000_000
"""Versions, settings or associations that are read of one registry for an export or import."""
DUMP_LINE_BYTES = 16_777_216
"""Bytes of one line of a dump; a record is a text of SCHEMA_BYTES with escapes, references and rules."""
COLUMNS = 20_000
"""Columns, those inside others included, that one schema may become."""
COLUMN_RECURSION = 3
"""Records that contain themselves, one inside the other, that become columns; what lies deeper is left out."""
EXAMPLE_VALUES = 50_000
"""Values, those inside others included, that one example may have."""
EXAMPLE_BYTES = 65_536
"""Bytes of one fixed value in an example."""
VALUE_STEPS = 1_000_000
"""Steps that judging one value by a JSON Schema may take, where references repeat each other's work."""
COLUMN_DEPTH = 100
"""Columns inside each other that one JSON Schema may become."""
EXPLAINED_STEPS = 100_000
"""Pieces that the explanation of one record may have."""
TIME_AHEAD = 86_400_000
"""Milliseconds by which the registration of an imported version may lie in the future: clocks differ."""
REGEXES = 1_000
"""Regular expressions inside one JSON Schema and the texts that it refers to."""
DIFFERING_ROWS = 1_000
"""Rows that `treaty log verify --against` names; of further ones it says how many they are."""
RESTORE_GAP = 10_000
"""Ids that a restore leaves free after the highest one known: they may have been given after the dump was taken."""
RESTORE_FAULTS = 1_000
"""Rows of a dump that break an invariant and that a restore counts; it looks for no more of them."""
RESTORE_CACHE = 20_000
"""Rows that the check of a dump keeps decoded; all others lie in a temporary file meanwhile."""
RESTORE_BYTES = 4_194_304
"""Bytes of rows in one append of a restore."""
TAGGED = 1_000
"""Places inside one schema whose tags one request may change."""
TAG_LENGTH = 256
"""Characters of one tag inside a schema."""
ENTITY_PATH = 4_096
"""Characters of the path of something inside a schema that can have tags; what lies deeper has none."""
ASSOCIATIONS_PER_SUBJECT = 10_000
"""Weak associations that one subject may have."""
ASSOCIATIONS_PER_RESOURCE = 100
"""Associations of one resource, or changes to them, that one request may name."""
ASSOCIATION_BATCH = 100
"""Resources whose associations one request may ask for, or change."""
ASSOCIATIONS_LISTED = 1_000
"""Associations that one list holds; more of them come with an offset."""
METADATA_KEYS = 100
"""Keys in a file for sensitive metadata."""
PEER_BYTES = 16_777_216
"""Bytes of a command that one node hands to another, or of what that one says of it."""
PEER_BATCH = 256
"""Commands that one node hands to another in one request."""
PEER_BATCH_BYTES = 1_048_576
"""Bytes of commands in one such request; a larger command travels alone."""
PEER_REQUESTS = 16
"""Such requests that one node has under way to another; past it commands wait where they are."""
HANDED_WITHIN = 5_000
"""Commits within which a command must be decided by the node that it is handed to; fewer than outcomes are remembered."""
PEER_COMMANDS = 2_048
"""Commands of other nodes that one worker holds at once; past it they get 503."""
SNAPSHOT_CHUNK_BYTES = 900_000
"""Compressed bytes of one chunk of a snapshot, which is one record of a log on Kafka."""
SNAPSHOT_CHUNKS = 20_000
"""Chunks of one snapshot."""
SNAPSHOT_RECORDS = 20_000
"""Records since the last snapshot after which a log on Kafka gets a new one; half of the snapshot's rows where that is more."""
SNAPSHOT_BYTES = 67_108_864
"""Bytes of records since the last snapshot after which a log on Kafka gets a new one; the snapshot's own where that is more."""
ORPHAN_ROWS_COMPARED = 1_000_000
"""Rows that are compared to find those between two end records of a log with one owner that belong to no append; more are not looked for."""
SNAPSHOT_MARGIN = 1_000
"""Appends at the end of a log on Kafka that a snapshot leaves alone, so that nodes a little behind need not read everything again."""
SCAN_BYTES = 67_108_864
"""Bytes of records that a node has in memory while it reads a whole log on Kafka; further ones lie in a file meanwhile."""
WINDOW_BYTES = 33_554_432
"""Bytes of the last appends of a log on Kafka that a node keeps at hand; who is behind them costs a replay."""
