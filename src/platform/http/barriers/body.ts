/**
 * Step 11, second half: the body whole, its JSON syntax, fields, reason policy (decisions Q-ERR-06 to Q-ERR-08). A route
 * without a defined body accepts an empty body or `{}`.
 */
import * as v from 'valibot';
import type { BodyTurnLimits } from '../body-turns.js';
import type { Exchange } from '../exchange.js';
import { decodeBody, decodeChange, parseJson } from '../json-body.js';
import { parseLongJson } from '../long-json.js';
import { checkReason } from '../reason.js';
import { authentication } from './authentication.js';
import type { Barrier, Guard } from './barrier.js';
import { isYaml, limitOf, tooLarge } from './body-form.js';
import { existence } from './existence.js';
import { fence } from './fence.js';
import { requireFreshToken } from './fresh-token.js';
import { permission } from './permission.js';
import { siteScope } from './site-scope.js';

const NOTHING = v.strictObject({});

export const body: Barrier = (exchange, guard) => {
  if (!exchange.row.mutating) return undefined;
  if (!exchange.hasBody) {
    accept(exchange, guard, new Uint8Array(0));
    return undefined;
  }
  const { bodyMembers, bodyTurns } = exchange.row.bound.row;
  if (bodyTurns) return readInTurn(exchange, guard, bodyTurns);
  const parse = bodyMembers ? (json: Uint8Array) => parseLongJson(json, guard.clock, bodyMembers) : undefined;
  if (isYaml(exchange)) return readLong(exchange, guard, (text) => exchange.incoming.attended((gone) => guard.yaml.read(text, exchange.caller.accountId, gone, parse)));
  if (parse) return readLong(exchange, guard, parse);
  return exchange.collect(
    limitOf(exchange, guard),
    () => tooLarge(exchange, guard),
    (bytes) => {
      judgeAgain(exchange, guard);
      accept(exchange, guard, bytes);
    },
  );
};

/** The client decides how long its body takes, and the disk how long what is past: whoever was dismissed meanwhile does nothing any more. */
export function judgeAgain(exchange: Exchange, guard: Guard): void {
  if (exchange.judgedAt === guard.authenticator.changes) return;
  for (const barrier of [authentication, fence, siteScope, permission, existence]) {
    if (barrier(exchange, guard) instanceof Promise) throw new Error('a barrier that is passed again must not wait: nobody would hear its refusal');
  }
}

/** What takes longer to read than one turn may. */
async function readLong(exchange: Exchange, guard: Guard, read: (text: Uint8Array) => Promise<unknown>): Promise<void> {
  let text = new Uint8Array(0);
  const limitBytes = limitOf(exchange, guard);
  const announced = Number(exchange.header('content-length') ?? limitBytes);
  exchange.atEnd = guard.bodyRoom.take(exchange.caller.accountId, Math.min(announced, limitBytes));
  await exchange.collect(
    limitBytes,
    () => tooLarge(exchange, guard),
    (bytes) => {
      text = new Uint8Array(bytes);
    },
  );
  const value = text.length === 0 ? {} : await read(text);
  judgeAgain(exchange, guard);
  acceptValue(exchange, guard, value);
}

/** Waits, also for a body that is there: what a request holds is given back behind a wait (pipeline.ts). */
async function readInTurn(exchange: Exchange, guard: Guard, turns: BodyTurnLimits): Promise<void> {
  exchange.atEnd = guard.bodyTurns.take(turns, exchange.caller.accountId);
  await exchange.collect(
    limitOf(exchange, guard),
    () => tooLarge(exchange, guard),
    (bytes) => {
      judgeAgain(exchange, guard);
      accept(exchange, guard, bytes);
    },
  );
}

function accept(exchange: Exchange, guard: Guard, bytes: Uint8Array): void {
  if (exchange.row.bound.row.bodyMedia)
    exchange.body = new Uint8Array(bytes); // a copy: they are only lent
  else acceptValue(exchange, guard, parseJson(bytes));
}

function acceptValue(exchange: Exchange, guard: Guard, parsed: unknown): void {
  const { row, served } = exchange.row.bound;
  if (typeof row.freshToken === 'function' && row.freshToken({ body: parsed, query: exchange.query })) requireFreshToken(exchange, guard);
  const decoded = row.body && served ? decodeChange(row.body, parsed, () => served(exchange.params), exchange.header('if-match')) : decodeBody(row.body ?? NOTHING, parsed);
  exchange.body = row.body ? decoded : undefined;
  if (row.reason) {
    const reason = checkReason((decoded as { reason?: unknown }).reason, row.reason === 'policy' ? guard.reasonLengthMin : 1);
    exchange.body = { ...(decoded as object), reason };
  }
}
