"""Texts of rows in a SQLite file: plain, or compressed with a dictionary that is stored in its own row."""

import logging
import sqlite3

import zstandard

from treaty.log.sql import bind_text

log = logging.getLogger("treaty.log")

COMPRESSED_TABLE = "schema"
"""The table whose rows are compressed: the others are short."""
MIN_TEXT_BYTES = 200
"""Bytes of a text from which on it is worth it."""
TRAINING_ROWS = 2_000
"""Rows that must be there before a dictionary is made of them."""
MAX_DICTIONARIES = 255
"""Dictionaries that a log may have: a row's first byte names its one."""
DICTIONARY_BYTES = 131_072
LEVEL = 3
MAX_WARNINGS = 20
"""Damaged texts that one connection warns of at most."""
ROWS_AT_ONCE = 500
"""Rows that one transaction compresses, so that writers never wait for long."""

DICTIONARY_TABLE = "create table dictionary (number integer primary key, data blob not null)"
_KNOWN = "select number, data from dictionary where number > ? order by number"
_SAMPLES = (
    "select value from state_row not indexed where state_table = 'schema' and typeof(value) = 'text' "
    "and (rowid / 8) % ? = 0 limit ?"
)
_UNCOMPRESSED = (
    "select rowid, value from state_row not indexed where rowid > ? and state_table = 'schema' and typeof(value) = 'text' "
    "and length(value) >= ? order by rowid limit ?"
)
_COMPRESS = "update state_row set value = ? where rowid = ?"


class RowCompressor:
    """The dictionaries that one connection knows. A text may be compressed with any of them, or be as it is."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        """Learn the dictionaries that are there."""
        self._db, self._path = connection, path
        self._decompressors: dict[int, zstandard.ZstdDecompressor] = {}
        self._compressor: zstandard.ZstdCompressor | None = None
        self._number = 0
        self._warnings = 0
        self.load_dictionaries()

    @property
    def can_compress(self) -> bool:
        """Whether there is a dictionary to compress with."""
        return self._compressor is not None

    def load_dictionaries(self) -> None:
        """Learn dictionaries that others have made since."""
        for number, data in self._db.execute(_KNOWN, (self._number,)).fetchall():
            dictionary = zstandard.ZstdCompressionDict(data)
            self._decompressors[number] = zstandard.ZstdDecompressor(dict_data=dictionary)
            self._compressor = zstandard.ZstdCompressor(
                level=LEVEL, dict_data=dictionary, write_checksum=True, write_dict_id=False
            )
            self._number = number

    def compress(self, kind: str, text: str | None) -> tuple[str | bytes | None, bool]:
        """A text as it is written, and whether it is compressed."""
        if text is None:
            return None, False
        if self._compressor is not None and kind == COMPRESSED_TABLE:
            data = text.encode("utf-8", "surrogatepass")
            if len(data) >= MIN_TEXT_BYTES:
                return bytes([self._number]) + self._compressor.compress(data), True
        return bind_text(text), False

    def decompress(self, kind: str, key: str, value: str | bytes | None) -> str | None:
        """A text as it was. One that is damaged is warned of by its row; what is given back then can't be read by
        anybody, and moves the state root.
        """
        if value is None or isinstance(value, str):
            return value
        number = value[0] if value else 0
        if number not in self._decompressors:
            self.load_dictionaries()
        try:
            return str(
                self._decompressors[number].decompress(value[1:], allow_extra_data=False), "utf-8", "surrogatepass"
            )
        except (KeyError, zstandard.ZstdError, UnicodeDecodeError) as error:
            why = f"its dictionary {number} is missing" if isinstance(error, KeyError) else str(error)
            self._warnings += 1
            if self._warnings <= MAX_WARNINGS:
                log.warning("%s: the text of row %s in table %s is damaged (%s)", self._path, key, kind, why)
            return f"damaged, compressed: {value.hex()}"

    # ---------------------------------------------------------------------------------------------------- compressing

    def train_dictionary(self) -> bool:
        """Make the first dictionary from rows all over the file, in the transaction that is open; False where there is
        one, or too few rows.
        """
        self.load_dictionaries()
        highest = self._db.execute("select coalesce(max(rowid), 0) from state_row").fetchone()[0]
        if self.can_compress or highest < TRAINING_ROWS:
            return False
        step = max(1, highest // (4 * TRAINING_ROWS))
        samples: list[bytes | bytearray | memoryview] = [
            bytes(row[0], "utf-8", "surrogatepass") for row in self._db.execute(_SAMPLES, (step, 4 * TRAINING_ROWS))
        ]
        if len(samples) < TRAINING_ROWS // 2:
            return False
        try:
            data = zstandard.train_dictionary(DICTIONARY_BYTES, [*samples]).as_bytes()
        except zstandard.ZstdError:  # nothing repeats
            return False
        self._db.execute("insert into dictionary (data) values (?)", (data,))
        return True

    def compress_some(self, after: int) -> int:
        """Compress some rows that are not, after a row's number, in the transaction that is open; return the last
        number, 0 where there was none left.
        """
        rows = self._db.execute(_UNCOMPRESSED, (after, MIN_TEXT_BYTES, ROWS_AT_ONCE)).fetchall()
        packed = ((self.compress(COMPRESSED_TABLE, text)[0], number) for number, text in rows)
        self._db.executemany(_COMPRESS, packed)
        return int(rows[-1][0]) if rows else 0
