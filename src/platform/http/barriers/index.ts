/** The order of evaluation, first refusal answers (contract 1, Errors; decisions Q-ERR-06). */
import { antiReplay } from './anti-replay.js';
import { authentication } from './authentication.js';
import type { Barrier } from './barrier.js';
import { body } from './body.js';
import { bodyForm } from './body-form.js';
import { existence } from './existence.js';
import { fence } from './fence.js';
import { freshToken } from './fresh-token.js';
import { origin } from './origin.js';
import { parameters } from './parameters.js';
import { permission } from './permission.js';
import { plantMode } from './plant-mode.js';
import { rateLimit } from './rate-limit.js';
import { routeKnown } from './route-known.js';
import { siteScope } from './site-scope.js';
import { streamCount } from './stream-count.js';

export const BEFORE_EXISTENCE: readonly Barrier[] = [
  rateLimit, // 429
  routeKnown, // 404, 405
  streamCount, // 429; needs the row, spends nothing
  origin, // 403; before the credential is looked at
  authentication, // 401; waits for the signature of a token that is new here
  fence, // 403
  siteScope, // 403
  antiReplay, // 400, 409
  permission, // 403
  freshToken, // 401
];

/** What may be otherwise once a signature was waited for: others have opened streams meanwhile. */
export const AFTER_PROOF: readonly Barrier[] = BEFORE_EXISTENCE.slice(BEFORE_EXISTENCE.indexOf(streamCount));

/** What a request needs of the past is read before these (pipeline.ts). */
export const FROM_EXISTENCE: readonly Barrier[] = [
  existence, // 404
  plantMode, // 403
  bodyForm, // 413, 415
  parameters, // 400, 406
  body, // 413, 400
];
