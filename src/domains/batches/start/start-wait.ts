/** What an element waits for whose turn it is (decisions 2.7, 3.3): as data for the console, as words for `blockedBecause`. */
import { type CandidateNow, waitingText } from './unit-class.js';

export interface Withheld {
  /** `permissive-<name>` */
  readonly rule: string;
  readonly message: string;
}

export type StartWait =
  | { readonly reason: 'no-unit'; readonly unit: string }
  /** Any unit of the class will do, and none has been given to it (D-C-12). */
  | { readonly reason: 'class'; readonly capability: string; readonly candidates: readonly CandidateNow[] }
  /** `holder` is '' while the unit is free and about to be taken. */
  | { readonly reason: 'allocation'; readonly unit: string; readonly holder: string }
  /** It has the unit as soon as the work before has reset what it has left there (decisions 3.3); `failed`: why it has not, '' while it does. */
  | { readonly reason: 'resetting'; readonly unit: string; readonly holder: string; readonly failed: string }
  /** The unit is free, but work may not begin on it now (decisions 1.5). */
  | { readonly reason: 'permissive'; readonly unit: string; readonly permissive: Withheld }
  | { readonly reason: 'signal'; readonly signal: string }
  | { readonly reason: 'barrier'; readonly barrier: string };

export function startWaitText(wait: StartWait): string {
  switch (wait.reason) {
    case 'no-unit':
      return `unit ${wait.unit} does not exist`;
    case 'class':
      return waitingText(wait.capability, wait.candidates);
    case 'allocation':
      return `unit ${wait.unit} is allocated to ${wait.holder || 'nobody yet'}`;
    case 'resetting':
      if (wait.failed === '') return `unit ${wait.unit} is being reset after ${wait.holder}`;
      return `unit ${wait.unit} could not be reset after ${wait.holder}: ${wait.failed}; Reset of ${wait.holder} tries again`;
    case 'permissive':
      return wait.permissive.message;
    case 'signal':
      return `signal ${wait.signal}`;
    case 'barrier':
      return `barrier ${wait.barrier}`;
  }
}
