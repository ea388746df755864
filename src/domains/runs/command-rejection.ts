/** How a batch or an ad-hoc root shows that it was given a command it does not obey (contract 3, Command rules). */
import * as v from 'valibot';
import { ToldSchema } from './told-schema.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { CommandGiver } from './holds.js';
import type { Condition } from '../../platform/store/resource.js';

/** The last command that was refused; gone with the next one that is accepted. */
export const CommandRejection = v.strictObject({
  command: v.string(),
  state: v.string(),
  rule: v.string(),
  message: v.string(),
  /** Missing in what a release before this one has kept. */
  told: v.optional(ToldSchema),
  at: v.string(),
  correlationID: v.string(),
  /** Who gave it; missing in what a release before this one has kept. */
  by: v.optional(CommandGiver),
  /** The alarm whose exceptionAction it was. */
  alarm: v.optional(v.string()),
});
export type CommandRejection = ToldBy<typeof CommandRejection>;

nameSchemas({ CommandRejection });

const REJECTED = 'CommandRejected';

interface Judged {
  readonly commandRejection?: CommandRejection;
  readonly conditions: readonly Condition[];
}

/** The next verdict replaces the last one: with `rejection` the command was refused, without it was accepted. */
export function withVerdict<Status extends Judged>(before: Status, rejection?: CommandRejection): Omit<Status, 'commandRejection'> & Judged {
  const { commandRejection: _gone, ...status } = before;
  const conditions = before.conditions.filter(({ type }) => type !== REJECTED);
  if (!rejection) return { ...status, conditions };
  const condition: Condition = { type: REJECTED, status: 'True', reason: rejection.rule, message: rejection.message };
  return { ...status, commandRejection: rejection, conditions: [...conditions, condition] };
}
