/** Whether this screen is a panel that watches, with nobody signed in (D-C-18). What changes something asks for a sign-in then. */
import { signal } from '@preact/signals';

export const watching = signal(false);
/** A button was touched that somebody must be signed in for. */
export const signInAsked = signal(false);

/** What a panel shows as somebody who may do it would see it; the gateway lets nobody do it who is not signed in. */
export const ASKED_FOR: ReadonlySet<string> = new Set([
  'alarm:acknowledge',
  'alarm:shelve',
  'alarm:unshelve',
  'command:send',
  'controlmodule:reset-fault',
  'controlmodule:tune',
  'controlmodule:write-tag',
  'interlock:bypass',
  'mode:set',
  'phase:prompt-response',
]);
