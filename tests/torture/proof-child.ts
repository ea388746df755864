/** Writes numbered rows one commit each and prints a number when its commit has returned; for the proof that the power cut cuts. */
import Database from '../../src/platform/base/sqlite.js';

const [, , file = '', synchronous = 'FULL'] = process.argv;
const db = new Database(file);
db.pragma('journal_mode = WAL');
db.pragma(`synchronous = ${synchronous}`);
db.exec('CREATE TABLE IF NOT EXISTS rows (n INTEGER PRIMARY KEY, filling TEXT)');
const insert = db.prepare('INSERT INTO rows VALUES (?, ?)');
for (let n = 1; ; n += 1) {
  insert.run(n, 'x'.repeat(200));
  process.stdout.write(`${n}\n`);
}
