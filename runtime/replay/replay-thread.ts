/** Entry of a replay: a worker thread of its own executes one recording file and sends the rows asked for, then its verdict. */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { RecordingPart, ReplayBound, ReplayOutbound, ReplayRequest, ReplayRow } from '../port.js';
import { Divergence, Player } from './player.js';
import { RecordingDamage, recordingParts } from './recording-reader.js';

const ROWS_PER_MESSAGE = 500;

const request = workerData as ReplayRequest;
const send = (message: ReplayOutbound): void => parentPort?.postMessage(message);

/** Rows of the ports asked for: where one of them changes, or of every scan. */
class Rows {
  readonly #player: Player;
  #rows: ReplayRow[] = [];
  #last = '';

  constructor(player: Player) {
    this.#player = player;
  }

  take(): void {
    const { scan, wallMs: atMs, ports } = this.#player;
    if (request.ports.length === 0 || !reached(request.from, scan, atMs) || passed(request.to, scan, atMs)) return;
    const readings = request.ports.map((name) => ports.read(name) ?? { value: null, quality: 'Bad' });
    const text = request.everyScan ? '' : JSON.stringify(readings);
    if (text !== '' && text === this.#last) return;
    this.#last = text;
    this.#rows.push({ scan, atMs, values: readings.map(({ value }) => value), qualities: readings.map(({ quality }) => quality) });
    if (this.#rows.length >= ROWS_PER_MESSAGE) this.flush();
  }

  flush(): void {
    if (this.#rows.length > 0) send({ type: 'rows', rows: this.#rows });
    this.#rows = [];
  }
}

function reached(from: ReplayBound | undefined, scan: number, atMs: number): boolean {
  if (from === undefined) return true;
  return 'scan' in from ? scan >= from.scan : atMs >= from.atMs;
}

function passed(to: ReplayBound | undefined, scan: number, atMs: number): boolean {
  if (to === undefined) return false;
  return 'scan' in to ? scan > to.scan : atMs > to.atMs;
}

function replay(parts: Iterator<RecordingPart>): void {
  const first = parts.next().value as RecordingPart | undefined;
  if (first?.kind !== 'start') throw new RecordingDamage('the recording has no start');
  const { site, unit, scan, wallMs, madeBy = '' } = first.start;
  send({ type: 'opened', site, unit, scan, atMs: wallMs, madeBy });
  const player = new Player(first.start);
  send({ type: 'ports', ports: request.list ? player.ports.list() : [], unknown: request.ports.filter((name) => !player.ports.has(name)) });
  if (request.list) return send({ type: 'verdict', outcome: 'identical', scan, scans: 0, checksums: 0, ended: false, message: '' });
  const rows = new Rows(player);
  const verdict = (outcome: 'identical' | 'different' | 'damaged', at: number, message: string): void => {
    rows.flush();
    send({ type: 'verdict', outcome, scan: at, scans: player.scan - scan, checksums: player.checksums, ended: player.ended, message });
  };
  try {
    for (let next = parts.next(); !next.done; next = parts.next()) player.play(next.value, () => rows.take());
    verdict('identical', player.scan, '');
  } catch (fault) {
    if (fault instanceof Divergence) verdict('different', fault.scan, fault.message);
    else if (fault instanceof RecordingDamage) verdict('damaged', fault.first || player.scan + 1, fault.message);
    else throw fault;
  }
}

try {
  replay(recordingParts(readFileSync(request.file)));
} catch (fault) {
  send({ type: 'verdict', outcome: 'unusable', scan: 0, scans: 0, checksums: 0, ended: false, message: fault instanceof Error ? fault.message : String(fault) });
}
