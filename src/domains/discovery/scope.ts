/**
 * Whose servers a caller may ask (ADR 0097): one that only modules of other sites are for is not theirs, by whatever name, port or path it is reached. Modules that
 * are disabled count too: a server is no less theirs for that.
 */
import type { ServerComparison } from '../../../runtime/port.js';
import type { Clock } from '../../platform/base/clock.js';
import { Deadline } from '../../platform/base/elapsed.js';
import { Refusal } from '../../platform/base/refusal.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { asked } from './asked.js';
import type { Explorer } from './explorer.js';
import { type Module, modulesOf, serverOf, type Target } from './target.js';

/** A server that was told from another one is so for this time: who looks through one asks many questions. */
const TOLD_MS = 60_000;
/** At this bound all is forgotten, and asked again. */
const TOLD_MAX = 1000;

interface Told {
  readonly isSame: boolean;
  readonly until: Deadline;
}

export function outsideScope(): Refusal {
  return new Refusal('forbidden', 'the server is that of an I/O module outside your scope', { code: 'site_scope' });
}

export class ServerScope {
  readonly #parts: { readonly store: StoreReader; readonly explorer: Explorer; readonly clock: Clock };
  /** By the two servers. */
  readonly #told = new Map<string, Told>();

  constructor(parts: { readonly store: StoreReader; readonly explorer: Explorer; readonly clock: Clock }) {
    this.#parts = parts;
  }

  /** As the addresses are written. @returns whether a module of the caller is for it. @throws Refusal `site_scope` */
  refuseKnown({ server }: Pick<Target, 'server'>, caller: Caller): boolean {
    return refuseOthers(
      modulesOf(this.#parts.store).filter((module) => serverOf(module) === server),
      caller,
    );
  }

  /** By whatever it is named. What cannot be told is asked: a server of another site that is away bars no other one. @throws Refusal `site_scope`, `device_unreachable` */
  async refuse(target: Target, caller: Caller): Promise<void> {
    if (this.refuseKnown(target, caller)) return;
    const { store } = this.#parts;
    if (modulesOf(store).every((module) => isOf(module, caller))) return;
    const same = await this.#sameAs(target, [...new Set(modulesOf(store).map(serverOf))], caller);
    refuseOthers(
      modulesOf(store).filter((module) => same.has(serverOf(module))),
      caller,
    );
  }

  async #sameAs(target: Target, servers: readonly string[], caller: Caller): Promise<ReadonlySet<string>> {
    const { explorer, clock } = this.#parts;
    const keyOf = (server: string): string => `${target.server} ${server}`;
    const isTold = (server: string): boolean => this.#told.get(keyOf(server))?.until.hasPassed === false;
    const urls = servers.filter((server) => !isTold(server));
    if (urls.length > 0) {
      const answer = await asked<{ readonly servers: readonly ServerComparison[] }>(target, { what: 'same-server', urls }, caller, explorer, 'endpointUrl');
      if (this.#told.size + urls.length > TOLD_MAX) this.#told.clear();
      urls.forEach((url, place) => {
        const verdict = answer.servers[place]?.verdict ?? 'unknown';
        if (verdict === 'unknown') this.#told.delete(keyOf(url));
        else this.#told.set(keyOf(url), { isSame: verdict === 'same', until: new Deadline(clock, TOLD_MS) });
      });
    }
    return new Set(servers.filter((server) => this.#told.get(keyOf(server))?.isSame));
  }
}

function isOf({ metadata }: Module, caller: Caller): boolean {
  return mayVisit(caller, metadata.site);
}

/** Of the modules that are for one server. @returns whether one of them is the caller's. @throws Refusal */
function refuseOthers(modules: readonly Module[], caller: Caller): boolean {
  if (modules.some((module) => isOf(module, caller))) return true;
  if (modules.length > 0) throw outsideScope();
  return false;
}
