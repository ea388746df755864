/** The one place where SQLite is imported. */
import Database from 'better-sqlite3';

// Node sends an error from thread to thread with its message only when it looks like one of its own: without this all that arrives is `{code}`
Object.defineProperty(Database.SqliteError.prototype, Symbol.toStringTag, { value: 'Error', configurable: true });

export default Database;
