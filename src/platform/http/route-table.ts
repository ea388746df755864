/** `lineside routes`: one line per row, `method\tpath\taction\ttier`, sorted by path, then method. */
import type { Route } from './route.js';

export function printRoutes(rows: readonly Route[]): string {
  const lines = rows.map(({ method, path, action, tier }) => ({ key: `${path}\t${method}`, line: [method, path, action, tier].join('\t') }));
  lines.sort((a, b) => (a.key < b.key ? -1 : 1));
  return lines.map(({ line }) => `${line}\n`).join('');
}
