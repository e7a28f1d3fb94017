"""The tables on PostgreSQL: all spaces together, partitioned by space.

Every table has the number of the space as the first column of its key and is partitioned by it, so
a distributed PostgreSQL can use it as the sharding key: all rows of a space are in one place. The
partitions of two tables with the same number belong to the same spaces, so foreign keys are between
partitions and cost what they cost between plain tables.

A space is a schema of its own with eight views, each showing the rows of that space. The statements
in `tables/` use the views and know nothing of partitions; the number is a constant in each view, so
a statement is planned for one partition. The views are also why an older server, which knows a
space by its schema, can still read after an upgrade.
"""

from __future__ import annotations

from zlib import crc32

from holdfast.store.tables.database import TABLES

VERSION = 8
"""The tables on PostgreSQL. Until 6 it is that of `database.SCHEMA_VERSION`.

7  the tables of all spaces are together, partitioned by space; a space is a schema of views
8  a row's checksum covers the name of its space
"""

TOGETHER = 7
"""The version since which the tables of all spaces are together."""

STORE = f"holdfast_store_{TOGETHER}"
"""The schema of the tables. Those of another layout are made beside it."""

PARTITIONS = 8

NOW = "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

# "C" collation: ids and names sort by code point, as they do in SQLite and on the wire.
_COLUMNS = {
    "invocation": f"""
  ref text COLLATE "C" NOT NULL,
  iss text NOT NULL,
  aud text,
  cmd text NOT NULL,
  sub text NOT NULL,
  invocation text NOT NULL,
  created_at text NOT NULL DEFAULT {NOW}""",
    "authorization": f"""
  ref text COLLATE "C" NOT NULL,
  "authorization" text NOT NULL,
  created_at text NOT NULL DEFAULT {NOW}""",
    "commit": f"""
  seq bigint NOT NULL,
  branch text COLLATE "C" NOT NULL DEFAULT '',
  session_id text COLLATE "C" NOT NULL,
  local_seq bigint NOT NULL,
  chain bytea NOT NULL,
  invocation_ref text COLLATE "C",
  authorization_ref text COLLATE "C",
  original text NOT NULL,
  resolution text NOT NULL,
  created_at text NOT NULL DEFAULT {NOW},
  merged text""",
    "revision": """
  branch text COLLATE "C" NOT NULL DEFAULT '',
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  op_index integer NOT NULL,
  op text NOT NULL,
  data text,
  commit_seq bigint NOT NULL,
  crc bigint NOT NULL""",
    "head": """
  branch text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  op_index integer NOT NULL,
  crc bigint NOT NULL""",
    "snapshot": """
  branch text COLLATE "C" NOT NULL DEFAULT '',
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  value text NOT NULL,
  crc bigint NOT NULL""",
    "branch": f"""
  name text COLLATE "C" NOT NULL,
  parent_branch text COLLATE "C",
  fork_seq bigint,
  created_seq bigint NOT NULL DEFAULT 0,
  head_seq bigint NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'active',
  created_at text NOT NULL DEFAULT {NOW},
  deleted_at text,
  oldest_seq bigint NOT NULL DEFAULT 0,
  crc bigint NOT NULL DEFAULT 0,
  head_crc bigint NOT NULL DEFAULT 0""",
    "blob_store": """
  hash text COLLATE "C" NOT NULL,
  data bytea NOT NULL,
  content_type text NOT NULL,
  size bigint NOT NULL,
  put_at text COLLATE "C" NOT NULL DEFAULT '',
  crc bigint NOT NULL""",
}

_KEYS = {
    "invocation": "ref",
    "authorization": "ref",
    "commit": "seq",
    "revision": "branch, id, seq, op_index",
    "head": "branch, id",
    "snapshot": "branch, id, seq",
    "branch": "name",
    "blob_store": "hash",
}

_REFERENCES = {
    "commit": (
        ("invocation_ref", "invocation", "ref"),
        ("authorization_ref", "authorization", "ref"),
    ),
    "revision": (("commit_seq", "commit", "seq"),),
    "branch": (("parent_branch", "branch", "name"),),
}

assert set(_COLUMNS) == set(_KEYS) == set(TABLES)


def columns(table: str) -> list[str]:
    """The columns of a table that every engine has, in order."""
    lines = [line.split()[0] for line in _COLUMNS[table].strip().splitlines()]
    return [f'"{name.strip(chr(34))}"' for name in lines]


def table_statements() -> list[str]:
    """Make the tables of all spaces, once for a database."""
    statements = [
        f"CREATE SCHEMA {STORE}",
        f"CREATE TABLE {STORE}.space (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        'name text COLLATE "C" NOT NULL UNIQUE)',
    ]
    for table, body in _COLUMNS.items():
        unique = ",\n  UNIQUE (space, session_id, local_seq)" if table == "commit" else ""
        statements.append(
            f'CREATE TABLE {STORE}."{table}" (\n  space bigint NOT NULL,{body},\n'
            f"  PRIMARY KEY (space, {_KEYS[table]}){unique}\n) PARTITION BY HASH (space)"
        )
        statements += [
            f'CREATE TABLE {STORE}."{table}_{number}" PARTITION OF {STORE}."{table}" '
            f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
            for number in range(PARTITIONS)
        ]
    statements.append(
        f'CREATE INDEX commit_merged ON {STORE}."commit" (space, seq) WHERE merged IS NOT NULL'
    )
    statements += [
        f'ALTER TABLE {STORE}."{table}_{number}" ADD FOREIGN KEY (space, {column}) '
        f'REFERENCES {STORE}."{other}_{number}" (space, {key})'
        for table, references in _REFERENCES.items()
        for column, other, key in references
        for number in range(PARTITIONS)
    ]
    return statements


def view_statements(number: int) -> list[str]:
    """Make the views of a space, in the schema that the search path names."""
    statements = []
    for table in _COLUMNS:
        shown = ", ".join([*columns(table), "space"])
        statements += [
            f'CREATE VIEW "{table}" AS SELECT {shown} FROM {STORE}."{table}" '
            f"WHERE space = {number}",
            f'ALTER VIEW "{table}" ALTER COLUMN space SET DEFAULT {number}',
        ]
    return statements


_SUMS = {
    "revision": ("crc",),
    "head": ("crc",),
    "snapshot": ("crc",),
    "branch": ("crc", "head_crc"),
    "blob_store": ("crc",),
}


def mask(space: str) -> int:
    """What the checksums of a space's rows are stored with (`Database.mask`)."""
    return crc32(space.encode())


def mask_statements(mask: int) -> list[str]:
    """Change the checksums of a space between those of version 7 and those of version 8."""
    return [
        f'UPDATE "{table}" SET ' + ", ".join(f"{column} = {column} # {mask}" for column in columns)
        for table, columns in _SUMS.items()
    ]


def foreign_blobs_statement(number: int) -> str:
    """Find the blobs of other spaces, with the names of those."""
    return (
        "SELECT space, hash, content_type, size, put_at, crc, name "
        f"FROM {STORE}.blob_store JOIN {STORE}.space ON number = space "
        f"WHERE space <> {number} AND (space, hash) > ($1, $2) ORDER BY space, hash LIMIT $3"
    )


def empty_statements(number: int) -> list[str]:
    """Delete every row of a space. Dropping its schema does not delete them."""
    return [
        f'DELETE FROM {STORE}."{table}" WHERE space = {number}'
        for table in ("head", "snapshot", "revision", "commit", "branch", "blob_store",
                      "invocation", "authorization")
    ]  # fmt: skip


def stray_statement(table: str) -> str:
    """Find numbers in a table that no space has: rows with them are missing in their space.

    It goes from one number to the next in the index and does not read the rows.
    """
    place = f'SELECT space FROM {STORE}."{table}"'
    return (
        f"WITH RECURSIVE used AS (({place} ORDER BY space LIMIT 1) UNION ALL "
        f"SELECT ({place} WHERE space > used.space ORDER BY space LIMIT 1) "
        "FROM used WHERE used.space IS NOT NULL) SELECT space FROM used "
        f"WHERE space NOT IN (SELECT number FROM {STORE}.space) ORDER BY space"
    )


def move_statements(old: str) -> list[str]:
    """Bring the rows of tables of version 6, named with a prefix, into the views of their space."""
    moved = []
    for table in ("invocation", "authorization", "commit", "revision", "head", "snapshot",
                  "branch", "blob_store"):  # fmt: skip
        named = ", ".join(columns(table))
        moved.append(f'INSERT INTO "{table}" ({named}) SELECT {named} FROM "{old}{table}"')
    dropped = ("head", "snapshot", "revision", "commit", "branch", "blob_store", "invocation",
               "authorization")  # fmt: skip
    return [*moved, *(f'DROP TABLE "{old}{table}"' for table in dropped)]
