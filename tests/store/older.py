"""Tables as older versions left them, to be opened by this one."""

from pathlib import Path

from holdfast.store.postgres import schema_name
from holdfast.store.store import Store, open_store
from holdfast.store.tables import TABLES, partitions

SQLITE_5 = """
CREATE TABLE "commit" (
  seq INTEGER NOT NULL PRIMARY KEY,
  branch TEXT NOT NULL DEFAULT '',
  session_id TEXT NOT NULL,
  local_seq INTEGER NOT NULL,
  invocation_ref TEXT REFERENCES invocation (ref),
  authorization_ref TEXT REFERENCES "authorization" (ref),
  original JSON NOT NULL,
  resolution JSON NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  UNIQUE (local_seq, session_id)
);
CREATE TABLE revision (
  branch TEXT NOT NULL DEFAULT '',
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  op_index INTEGER NOT NULL,
  op TEXT NOT NULL,
  data JSON,
  commit_seq INTEGER NOT NULL REFERENCES "commit" (seq),
  PRIMARY KEY (branch, id, seq, op_index)
) WITHOUT ROWID;
CREATE TABLE head (
  branch TEXT NOT NULL,
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  op_index INTEGER NOT NULL,
  PRIMARY KEY (branch, id)
) WITHOUT ROWID;
CREATE TABLE snapshot (
  branch TEXT NOT NULL DEFAULT '',
  id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  value JSON NOT NULL,
  PRIMARY KEY (branch, id, seq)
) WITHOUT ROWID;
CREATE TABLE branch (
  name TEXT NOT NULL PRIMARY KEY,
  parent_branch TEXT REFERENCES branch (name),
  fork_seq INTEGER,
  created_seq INTEGER NOT NULL DEFAULT 0,
  head_seq INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'active',
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  deleted_at TEXT
) WITHOUT ROWID;
CREATE TABLE invocation (
  ref TEXT NOT NULL PRIMARY KEY,
  iss TEXT NOT NULL,
  aud TEXT,
  cmd TEXT NOT NULL,
  sub TEXT NOT NULL,
  invocation JSON NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID;
CREATE TABLE "authorization" (
  ref TEXT NOT NULL PRIMARY KEY,
  "authorization" JSON NOT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID;
CREATE TABLE blob_store (
  hash TEXT NOT NULL PRIMARY KEY,
  data BLOB NOT NULL,
  content_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  put_at TEXT NOT NULL DEFAULT ''
);
"""

POSTGRES_5 = """
CREATE TABLE invocation (
  ref text COLLATE "C" NOT NULL PRIMARY KEY,
  iss text NOT NULL,
  aud text,
  cmd text NOT NULL,
  sub text NOT NULL,
  invocation text NOT NULL,
  created_at text NOT NULL
);
CREATE TABLE "authorization" (
  ref text COLLATE "C" NOT NULL PRIMARY KEY,
  "authorization" text NOT NULL,
  created_at text NOT NULL
);
CREATE TABLE "commit" (
  seq bigint NOT NULL PRIMARY KEY,
  branch text COLLATE "C" NOT NULL DEFAULT '',
  session_id text COLLATE "C" NOT NULL,
  local_seq bigint NOT NULL,
  invocation_ref text REFERENCES invocation (ref),
  authorization_ref text REFERENCES "authorization" (ref),
  original text NOT NULL,
  resolution text NOT NULL,
  created_at text NOT NULL,
  UNIQUE (session_id, local_seq)
);
CREATE TABLE revision (
  branch text COLLATE "C" NOT NULL DEFAULT '',
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  op_index integer NOT NULL,
  op text NOT NULL,
  data text,
  commit_seq bigint NOT NULL REFERENCES "commit" (seq),
  PRIMARY KEY (branch, id, seq, op_index)
);
CREATE TABLE head (
  branch text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  op_index integer NOT NULL,
  PRIMARY KEY (branch, id)
);
CREATE TABLE snapshot (
  branch text COLLATE "C" NOT NULL DEFAULT '',
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (branch, id, seq)
);
CREATE TABLE branch (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  parent_branch text COLLATE "C" REFERENCES branch (name),
  fork_seq bigint,
  created_seq bigint NOT NULL DEFAULT 0,
  head_seq bigint NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'active',
  created_at text NOT NULL,
  deleted_at text
);
CREATE TABLE blob_store (
  hash text COLLATE "C" NOT NULL PRIMARY KEY,
  data bytea NOT NULL,
  content_type text NOT NULL,
  size bigint NOT NULL,
  put_at text COLLATE "C" NOT NULL DEFAULT ''
);
"""

POSTGRES_6 = """
CREATE TABLE invocation (
  ref text COLLATE "C" NOT NULL PRIMARY KEY,
  iss text NOT NULL,
  aud text,
  cmd text NOT NULL,
  sub text NOT NULL,
  invocation text NOT NULL,
  created_at text NOT NULL DEFAULT now()::text
);
CREATE TABLE "authorization" (
  ref text COLLATE "C" NOT NULL PRIMARY KEY,
  "authorization" text NOT NULL,
  created_at text NOT NULL DEFAULT now()::text
);
CREATE TABLE "commit" (
  seq bigint NOT NULL PRIMARY KEY,
  branch text COLLATE "C" NOT NULL DEFAULT '',
  session_id text COLLATE "C" NOT NULL,
  local_seq bigint NOT NULL,
  chain bytea NOT NULL,
  invocation_ref text REFERENCES invocation (ref),
  authorization_ref text REFERENCES "authorization" (ref),
  original text NOT NULL,
  resolution text NOT NULL,
  created_at text NOT NULL DEFAULT now()::text,
  merged text,
  UNIQUE (session_id, local_seq)
);
CREATE INDEX commit_merged ON "commit" (seq) WHERE merged IS NOT NULL;
CREATE TABLE revision (
  branch text COLLATE "C" NOT NULL DEFAULT '',
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  op_index integer NOT NULL,
  op text NOT NULL,
  data text,
  commit_seq bigint NOT NULL REFERENCES "commit" (seq),
  crc bigint NOT NULL,
  PRIMARY KEY (branch, id, seq, op_index)
);
CREATE TABLE head (
  branch text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  op_index integer NOT NULL,
  crc bigint NOT NULL,
  PRIMARY KEY (branch, id)
);
CREATE TABLE snapshot (
  branch text COLLATE "C" NOT NULL DEFAULT '',
  id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  value text NOT NULL,
  crc bigint NOT NULL,
  PRIMARY KEY (branch, id, seq)
);
CREATE TABLE branch (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  parent_branch text COLLATE "C" REFERENCES branch (name),
  fork_seq bigint,
  created_seq bigint NOT NULL DEFAULT 0,
  head_seq bigint NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'active',
  created_at text NOT NULL DEFAULT now()::text,
  deleted_at text,
  oldest_seq bigint NOT NULL DEFAULT 0,
  crc bigint NOT NULL DEFAULT 0,
  head_crc bigint NOT NULL DEFAULT 0
);
CREATE TABLE blob_store (
  hash text COLLATE "C" NOT NULL PRIMARY KEY,
  data bytea NOT NULL,
  content_type text NOT NULL,
  size bigint NOT NULL,
  put_at text COLLATE "C" NOT NULL DEFAULT '',
  crc bigint NOT NULL
);
"""

COLUMNS = {
    "invocation": "*",
    "authorization": "*",
    "commit": "seq, branch, session_id, local_seq, invocation_ref, authorization_ref, original, "
    "resolution, created_at",
    "revision": "branch, id, seq, op_index, op, data, commit_seq",
    "head": "branch, id, seq, op_index",
    "snapshot": "branch, id, seq, value",
    "branch": "name, parent_branch, fork_seq, created_seq, head_seq, status, created_at, "
    "deleted_at",
    "blob_store": "hash, data, content_type, size, put_at",
}


def downgrade(url: str, space: str, version: int) -> None:
    """Give a space the tables of version 3, 4 or 5, on PostgreSQL also 6 or 7, with its rows."""
    with open_store(url, space) as store:
        postgres = url.startswith("postgres")
        run = store.engine.writing.run
        for statement in partitions.mask_statements(store.engine.writing.mask) if postgres else ():
            run(statement)
        if version == 7:
            mark(store, space, version, postgres)
            return
        if not postgres:
            run("PRAGMA foreign_keys=OFF")
            run("DROP INDEX commit_merged")
        for table in TABLES:
            run(f'ALTER TABLE "{table}" RENAME TO "new_{table}"')
        schema = SQLITE_5
        if postgres:
            schema = POSTGRES_6 if version == 6 else POSTGRES_5
        if version == 3 and not postgres:
            schema = schema.replace("(local_seq, session_id)", "(session_id, local_seq)")
        for statement in filter(str.strip, schema.split(";\n")):
            run(statement)
        for table, some in COLUMNS.items():
            names = partitions.columns(table)
            columns = ", ".join(names) if version == 6 or some == "*" else some
            order = " ORDER BY created_seq" if table == "branch" else ""
            run(f'INSERT INTO "{table}" ({columns}) SELECT {columns} FROM "new_{table}"{order}')
        for table in reversed(COLUMNS):
            run(f'DROP {"VIEW" if postgres else "TABLE"} "new_{table}"')
        if version < 5:
            run("ALTER TABLE blob_store DROP COLUMN put_at")
        mark(store, space, version, postgres)


def mark(store: Store, space: str, version: int, postgres: bool) -> None:
    if postgres:
        comment = f"COMMENT ON SCHEMA {schema_name(space)} IS 'holdfast {version} {space}'"
        store.engine.writing.run(comment)
    else:
        store.engine.writing.run(f"PRAGMA user_version={version}")


def file_of(root: Path) -> Path:
    (file,) = root.rglob("*.sqlite")
    return file
