/** The one place where SQLite is imported. */
export { default } from 'better-sqlite3';
