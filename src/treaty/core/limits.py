"""Limits: the maximum of everything that can grow. They are fixed; `/status` lists them."""

from treaty.core.column_types.limits import *

SCHEMA_BYTES = 1_048_576
"""Bytes of one schema text, as received."""
OPAQUE_BYTES = 8_388_608
"""Bytes of one schema of a format without a plug-in, as sent; in base64 they fit into one commit."""
OPAQUE_BODY_BYTES = 11_534_336
"""Bytes of a request body with a schema in base64, where its format may have no plug-in."""
SCHEMA_DEPTH = 200
"""Levels of nesting inside one schema text."""
LOGICAL_DEPTH = 30
"""Nesting of types in a text of logical types."""
LOGICAL_MEMBERS = 20_000
"""Members and symbols of a text of logical types, after names are expanded."""
SCHEMA_NAMES = 20_000
"""Named types that one schema may define."""
SCHEMA_MEMBERS = 20_000
"""Fields, symbols or branches that one type may have."""
NUMBER_DIGITS = 1_000
"""Characters of one number inside a schema text."""
DEFAULT_STEPS = 1_000_000
"""Steps for checking the default of one field."""
COMPARE_STEPS = 5_000_000
"""Steps, of about a microsecond each, for one comparison of two schemas."""
PARSE_STEPS = 20_000_000
"""Steps, of about a microsecond each, for parsing one new schema."""
VALIDATOR_STEPS = 5_000_000
"""Steps, of about a microsecond each, of one validator on one schema; past it the schema is refused."""
VALIDATOR_SECONDS = 15.0
"""Seconds of one plug-in validator on one schema; past it its work is stopped and the schema is refused."""
VALIDATORS = 100
"""Validators of one policy."""
VALIDATOR_CHARACTERS = 1_000
"""Characters of one validator with its parameters."""
VALIDATED_VERSIONS = 1_000
"""Earlier versions that the validators of one registration look at."""
VALIDATED_CHARACTERS = 16_777_216
"""Characters of the texts of these versions, with what they refer to."""
POLICIES = 10_000
"""Named policies of a registry."""
POLICIES_PAGE = 1_000
"""Policies in one page of a listing."""
POLICY_NAME = 100
"""Characters of the name of a policy."""
COMBINATION_BRANCHES = 200
"""New or changed branches of one JSON Schema combination that a comparison matches with those of another."""
PROOF_STEPS = 300_000
"""Steps that a comparison of JSON Schemas spends on further differences once the established rules refuse."""
FINDINGS = 1_000
"""Findings that one comparison may list."""
FINDINGS_CHARACTERS = 524_288
"""Characters of the findings that one comparison lists; further findings are left out. The first one is always listed."""
SHOWN_CHARACTERS = 4_194_304
"""Characters of a schema text that is laid out in lines; past it the text is shown as it is stored. Eight times as many are read to find places of differences."""
TOUCHED = 1_000
"""Subjects, sources and queries that a tried change lists, and newest versions of a subject whose users it looks for."""
SEARCH_TERMS = 20
"""Terms of a search."""
SEARCH_PAGE = 100
"""Hits in one page of a search."""
SEARCH_COUNTED = 1_000
"""Hits of a search that are counted; a count and facets say that there are more."""
FAULTS = 20
"""Diagnostics reported for one schema; later ones appear once these are corrected."""
FAULT_CHARACTERS = 2_000
"""Characters of the path, of the message and of what was expected of one such diagnostic; the rest is cut off."""
FULL_NAME = 2_048
"""Characters of the full name of a Protobuf definition."""
REFERENCES = 200
"""References that one schema may list."""
REFERENCE_DEPTH = 32
"""Links in the longest chain of references."""
VERSIONS_PER_SUBJECT = 10_000
"""Live versions of a subject."""
VERSIONS_KEPT_PER_SUBJECT = 100_000
"""Versions of a subject, soft-deleted ones included; at the limit the oldest soft-deleted ones are removed."""
VERSIONS_DROPPED = 64
"""Oldest soft-deleted versions that one registration removes at most, when its subject is at its limit."""
CONTEXTS = 100_000
"""Contexts of a registry."""
SUBJECTS_PER_CONTEXT = 10_000_000
"""Subjects of a context, soft-deleted ones included."""
SCHEMAS_PER_CONTEXT = 10_000_000
"""Schemas of a context."""
NAME_LENGTH = 4_096
"""Characters of the name of a subject, a context or a version."""
CODECS_PER_SUBJECT = 1_000
"""Codecs of a subject."""
CODEC_CHARACTERS = 1_048_576
"""Characters of all properties of one codec, names and values."""
GROUP_PROPERTIES = 1_000
"""Properties of a subject."""
GROUP_PROPERTY_CHARACTERS = 1_048_576
"""Characters of all properties of a subject, names and values."""
ORIGIN_LENGTH = 100
"""Characters of the origin of a subject."""
ID_SCHEMES = 8
"""Id schemes of a subject."""
NAMES_PER_VERSION = 16
"""Names of a version that registrations gave it, all together; names that id schemes compute do not count."""
SCHEME_LENGTH = 100
"""Characters of the name of an id scheme."""
VERSIONS_PER_NAME = 1_000
"""Versions of a subject that share a computed name."""
DRAFTS = 100_000
"""Drafts of schemas in a registry."""
PUBLISHED_PAGE = 1_000
"""Versions in one page of a listing of published schemas."""
WARNINGS = 20
"""Findings in the answer to a registration."""
GROUPS_PAGE = 1_000
"""Subjects in one page of a listing of groups."""
USERS_NAMED = 10
"""Users that a refusal names at most, where other subjects refer to what was to be removed."""
SETTINGS_PAGE = 1_000
"""Scopes in one page of a listing of settings."""
COUNTER = 2**31 - 1
"""The highest id, version number or ordinal: Confluent's clients read 32 bits."""
ID_GAP = 1_000_000
"""Unused ids below an imported id; they are never assigned later. So with ordinals, encoding ids and numbers of a type."""
ABSENT_NUMBERS = 32
"""Ids in a row that a registry of Pravega's kind does not have, after which an import looks for no more."""
IMPORT_ANSWER_BYTES = 67_108_864
"""Bytes of an answer of a registry from which schemas are imported: a whole group of schemas is one answer."""
EXPORT_PAGE = 1_000
"""Subjects, or versions, in one page of an export."""
EXPORT_CHARACTERS = 4_000_000
"""Characters of the texts and bytes after which a page of an export ends."""
COMMAND_ID = 128
"""Characters of an idempotency key."""
OUTCOMES = 10_000
"""Commits for which the outcome of a command is stored."""
OUTCOMES_DROPPED = 64
"""Expired outcomes that one commit removes at most; empty commits leave several at once."""
APPENDS_KEPT = 10_000
"""Appends whose digests a SQL log stores; at least as long as its tombstones live."""
CHAIN_COMMITS = 256
"""Commits in one append."""
CHAIN_BYTES = 900_000
"""Bytes of rows in one append."""
QUEUE = 4_096
"""Commands that wait for the writer of one node; further ones get 503."""
REQUEST_BYTES = 4_194_304
"""Bytes of a request body."""
DISCARDED_BYTES = 67_108_864
"""Bytes of an oversized body that the server reads and discards, so that the client can read the error."""
ERROR_CHARACTERS = 65_536
"""Characters of an error message; quoted input is shortened."""
REQUEST_SECONDS = 60
"""Seconds from the first byte of a request to its last; a slower client is disconnected."""
IN_FLIGHT = 1_024
"""Requests that one worker handles at once; further ones get 503."""
IN_FLIGHT_EACH = 512
"""Requests of one client (its principal, or its address) that one worker handles at once; further ones get 429."""
CONNECTIONS = 10_000
"""Connections of one worker, fewer if it may open fewer files; at the limit an idle one is closed, or the new one refused."""
CONNECTIONS_EACH = 5_000
"""Connections of one worker from one address (for IPv6 from one /64 network); a trusted proxy has no such limit."""
UNREAD_SECONDS = 30
"""Seconds in which a client must read 65,536 bytes of an answer, or its rest; a slower client is disconnected."""
UNREAD_BYTES = 268_435_456
"""Bytes of unread answers of one worker; past it, clients that have read nothing for two seconds are disconnected."""
MEMO_BYTES = 67_108_864
"""Bytes of schema texts whose answers the schema service of a node caches."""
MODEL_ENTRIES = 10_000
"""Parsed schemas that a process caches."""
MODEL_BYTES = 16_777_216
"""Bytes of schema text whose parsed forms a process caches; a parsed form takes about ten times its text."""
GZIP_BYTES = 4_096
"""Size in bytes from which answers are compressed, for clients that accept gzip."""
LIST_ENTRIES_KEPT = 400_000
"""Names of subjects in lists that a node caches until the next commit; each list counts for ten more, and for the characters of its question."""
HOT_BYTES = 67_108_864
"""Bytes of the response cache of a worker."""
RIGHTS_KNOWN = 65_536
"""Cached decisions about permissions, each for one set of rules and one subject."""
RIGHTS_BYTES = 4_194_304
"""Bytes of a file of rights, passwords or keys."""
CREDENTIALS_BYTES = 16_384
"""Bytes of an Authorization header; a longer one is refused unread."""
CREDENTIALS_KNOWN = 10_000
"""Verified credentials that a worker caches, and as many wrong ones."""
PASSWORD_CHECKS = 64
"""Password checks that wait in one worker; further requests get 503, those of unknown users first."""
PASSWORD_CHECKS_EACH = 4
"""Password checks that wait in one worker for one user, or for one address after PASSWORD_FAILURES; further requests get 503."""
PASSWORD_FAILURES = 10
"""Wrong passwords from one address within a minute, after which each further check is delayed: by a tenth of a second each, up to five."""
PASSWORD_COST = 15
"""The highest cost of a bcrypt hash: each step doubles the time, and 15 takes seconds."""
PRINCIPAL_LENGTH = 256
"""Characters of the name of a principal or a group."""
PRINCIPAL_GROUPS = 256
"""Groups that a bearer token may name."""
KEYS = 100
"""Public keys in one set for bearer tokens."""
API_KEYS = 100_000
"""API keys of a registry."""
API_KEYS_AT_ONCE = 10
"""API keys that one request may add."""
API_KEYS_PAGE = 1_000
"""API keys in one page of a list."""
HOT_BLOCKS = 4_096
"""Header blocks that a worker with rights caches for the response cache: one or two for each kind of client and credential."""
AUDIT_LINES = 10_000
"""Lines of the audit log that wait to be written; further ones are lost, and counted."""
RULES = 200
"""Rules in one rule set."""
RULE_NAME = 256
"""Characters of a rule's name."""
DECODE_WRITERS = 1_000
"""Schema ids of one decode plan."""
UNKNOWN_IDS = 100
"""Unknown schema ids that one batch of a stream looks up in the registry; rows of further ones are bad rows."""
SOURCE_FILES = 10_000
"""Files that one stream of the data source reads; its offsets name them all."""
ARROW_ROWS = 20_000
"""Frames that are decoded to Arrow at once."""
ARROW_CELLS = 10_000_000
"""Values that frames decoded to Arrow at once may have in all their columns, those that they lack among them; more frames are decoded in parts."""
ARROW_BYTES = 8_000_000
"""Bytes of Protobuf frames that are decoded at once; a message in memory may be twenty times as large as on the wire."""
ENCODINGS_PAGE = 10_000
"""Encoding ids in one page of a listing."""
ENCODINGS_CACHED = 1_000
"""Encodings that a deserializer of a group keeps; the least recently used one is asked for again."""
INFLATED_BYTES = 50_000_000
"""Bytes of one payload after decompression; a longer one is a bad row."""
INFLATED_RATIO = 200
"""Bytes after decompression for each byte of a packed payload, beyond the first INFLATED_FLOOR; a denser one is a bad row."""
INFLATED_FLOOR = 262_144
"""Bytes that a packed payload of any length may have after decompression."""
AVRO_ITEMS = 1_000_000
"""Items of one array or map that a Spark job decodes."""
AVRO_FREE_VALUES = 100_000
"""Values of one Avro payload that take no bytes: nulls, empty records and defaults; beside AVRO_FREE_PER_BYTE for each of its bytes."""
AVRO_FREE_PER_BYTE = 256
"""Such values for each of the first AVRO_FREE_BYTES bytes of a payload; for each further one there are eight."""
AVRO_FREE_BYTES = 1_000
"""Bytes of a payload that give AVRO_FREE_PER_BYTE values; a packed payload of so few bytes may be a thousand times as long."""
DEFAULT_CHARACTERS = 20_000
"""Characters of all long defaults of the reader of a decode plan: each row may have them again."""
ABSENT_CELLS = 3_000_000
"""Values that one row may lack in wide records of lists, maps and unions: as Arrow columns each takes as much as one that is there."""
AVRO_NESTING = 32
"""Nesting of a recursive Avro record in one payload; deeper ones would end the JVM or the Python worker."""
ANY_NESTING = 32
"""Nesting of `google.protobuf.Any` in itself that is printed as JSON; a deeper one keeps its bytes, as Base64."""
AVRO_TEXT_BYTES = 50_000_000
"""Bytes of one string or bytes value that a Spark job decodes."""
HISTORY_TROUBLES = 200
"""Kinds of bad rows, by schema id and code, that a history check lists."""
LAKE_TRIES = 8
"""Attempts to write a lake table while others change it, before the write fails."""
REGISTRY_TRIES = 6
"""Attempts to reach the registry, before a batch fails."""
SOURCE_RESTARTS = 3
"""Restarts of a stream after an error of Spark's Kafka source, before the pipeline fails."""
COMMIT_BYTES = 12_582_912
"""Bytes of rows in one commit; a commit larger than CHAIN_BYTES is an append of its own."""
INLINE_STEPS = 8_000
"""Steps, of about a microsecond each, of work on schemas in the event loop; longer work goes to a pool."""
LOOP_BYTES = 131_072
"""Bytes of one text, row, request or answer that are decided, encoded and decoded in the event loop; larger ones on a thread."""
INLINE_BYTES = 65_536
"""Characters of schema text that one decision parses in the event loop; more goes to a pool."""
DECISION_ANSWERS = 50_000
"""Answers about schemas that one decision keeps until it ends."""
DECISION_ROUNDS = 1_000
"""Rounds of questions about schemas in one decision, because others changed the subject meanwhile; further ones get 503."""
POOL_PROCESSES = 2
"""Processes of a server for large questions about schemas; no principal occupies all of them."""
POOL_DECISIONS = 1_024
"""Decisions of one node that wait for the pool; further ones get 503."""
POOL_DECISIONS_EACH = 256
"""Decisions of one principal that wait for the pool; further ones get 503."""
POOL_BYTES = 1_073_741_824
"""Characters of schema text in all questions that wait for the pool; further decisions get 503."""
POOL_BYTES_EACH = 268_435_456
"""Characters of schema text in the questions of one principal that wait for the pool; its further decisions get 503."""
POSITIONS_KEPT = 1_000
"""Positions that a node remembers to check position tokens against."""
NUMBER_EXPONENT = 1_000
"""Absolute value of the exponent of a number inside a JSON Schema."""
REGEX_LENGTH = 4_096
"""Characters of one regular expression inside a JSON Schema."""
SUBSCHEMAS = 50_000
"""Schemas inside one JSON Schema and its references."""
VALUE_BYTES = 16_777_216
"""Bytes of one value that the command line checks against a schema."""
TRANSFER_ROWS = 2_000_000
"""Versions, settings or associations of one registry in an export or import."""
TRANSFER_PROBLEMS = 1_000
"""Problems of one source that an import or export keeps; the others are counted."""
PROBLEM_CHARACTERS = 1_000
"""Characters of a reason in such a problem; the rest is cut off."""
DUMP_LINE_BYTES = 33_554_432
"""Bytes of one line of a dump; a row is at most one commit, and is a text inside a text there, with escapes."""
COLUMNS = 20_000
"""Columns of one schema, nested ones included."""
COLUMN_RECURSION = 3
"""Levels of a recursive record that become columns; deeper levels are left out."""
EXAMPLE_VALUES = 50_000
"""Values of one example, nested ones included."""
EXAMPLE_BYTES = 65_536
"""Bytes of one fixed value in an example."""
VALUE_STEPS = 1_000_000
"""Steps for validating one value against a JSON Schema."""
VALUE_COMPARISONS = 5_000_000
"""Comparisons with members of enums, where these are not all texts, for validating one value against a JSON Schema."""
VIOLATIONS_CHARACTERS = 4_000_000
"""Characters that the validator may write about the violations of one value; past it the first one is reported, or that there are some."""
VIOLATION_CHARACTERS = 2_000
"""Characters of the message, of the path and of all targets of one violation of a self-describing value."""
VALUE_INLINE_WEIGHT = 4_194_304
"""Characters of a value times those of its schema up to which a server validates it itself; larger ones go to the pool."""
COLUMN_DEPTH = 100
"""Nesting of the columns of one JSON Schema."""
EXPLAINED_STEPS = 100_000
"""Parts in the explanation of one record."""
TIME_AHEAD = 86_400_000
"""Milliseconds by which the timestamp of an imported version may lie in the future, for clocks that differ."""
REGEXES = 1_000
"""Regular expressions inside one JSON Schema and its references."""
DIFFERING_ROWS = 1_000
"""Rows that `treaty log verify --against` lists; further ones are counted."""
RESTORE_GAP = 10_000
"""Ids that a restore skips after the highest known one, because they may have been assigned after the dump was made."""
RESTORE_FAULTS = 1_000
"""Rows of a dump with broken invariants that a restore reports before it stops."""
RESTORE_CACHE = 20_000
"""Decoded rows that the check of a dump keeps in memory; all others are in a temporary file."""
RESTORE_BYTES = 4_194_304
"""Bytes of rows in one append of a restore; a larger row is an append of its own."""
TAGGED = 1_000
"""Parts of one schema whose tags one request may change."""
TAG_LENGTH = 256
"""Characters of one tag inside a schema."""
ENTITY_PATH = 4_096
"""Characters of the path to a tagged part of a schema; deeper parts have no tags."""
ASSOCIATIONS_PER_SUBJECT = 10_000
"""Weak associations of one subject."""
ASSOCIATIONS_PER_RESOURCE = 100
"""Associations of one resource in one request."""
ASSOCIATION_BATCH = 100
"""Resources in one batch request about associations."""
ASSOCIATIONS_LISTED = 1_000
"""Associations in one page of a list."""
METADATA_KEYS = 100
"""Keys in the file for sensitive metadata."""
PEER_BYTES = 16_777_216
"""Bytes of a forwarded command, or of its answer."""
PEER_BATCH = 256
"""Commands that one node forwards in one request."""
PEER_BATCH_BYTES = 100_000
"""Bytes of commands in one such request; a larger command is sent alone, so that small ones do not wait for its decoding."""
PEER_REQUESTS = 16
"""Such requests that one node has in flight to another; further commands wait."""
HANDED_WITHIN = 5_000
"""Commits within which a forwarded command must be decided; less than OUTCOMES."""
PEER_COMMANDS = 2_048
"""Commands of other nodes that one worker handles at once; further ones get 503."""
SNAPSHOT_CHUNK_BYTES = 900_000
"""Compressed bytes of one chunk of a snapshot, which is one record of a log on Kafka."""
SNAPSHOT_CHUNKS = 20_000
"""Chunks of one snapshot."""
SNAPSHOT_RECORDS = 20_000
"""Records since the last snapshot after which a log on Kafka gets a new one, or half of the snapshot's rows if that is more."""
SNAPSHOT_BYTES = 67_108_864
"""Bytes of records since the last snapshot after which a log on Kafka gets a new one, or the snapshot's own if that is more."""
ORPHAN_ROWS_COMPARED = 1_000_000
"""Rows that are compared to find orphan rows in a log with one owner."""
SNAPSHOT_MARGIN = 1_000
"""Appends before the end of a log on Kafka that compaction keeps, so that nodes slightly behind need no full replay."""
SCAN_BYTES = 67_108_864
"""Bytes of records that a node holds in memory while it reads a whole log on Kafka; further ones go to a temporary file."""
WINDOW_BYTES = 33_554_432
"""Bytes of the last appends of a log on Kafka that a node caches; a reader that is further behind triggers a full replay."""
IGLU_DEPTH = 40
"""Levels of nesting in a self-describing schema or value; a resolver and ``serve --iglu-depth`` take another limit."""
IGLU_ANSWER_BYTES = 2_097_152
"""Bytes of one answer, or one file, of an Iglu registry that a resolver reads."""
IGLU_CACHE = 1_000_000
"""Entries of a resolver's cache."""
IGLU_ERRORS = 32
"""Distinct failures that a resolver remembers of one registry for one schema."""
IGLU_BATCH_SCHEMAS = 10_000
"""Schemas that one batch of self-describing values may name."""
IGLU_FAMILY = 10_000
"""Versions in one list, or in one family, that a resolver reads."""
IGLU_BODY_BYTES = 100_000
"""Bytes of the body of a request to Iglu's API; ``serve --iglu-body-bytes`` sets another limit."""
IGLU_FINDINGS = 1_000
"""Findings of Iglu's linter about one schema."""
IGLU_PAGE = 200
"""Schemas in one page of a list by vendor, name and format."""
