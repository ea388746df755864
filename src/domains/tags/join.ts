/** Tags: their catalog, their values as they are read, written and told live. */
import { routeSet } from '../../platform/http/route.js';
import type { ChannelHub } from '../../platform/stream/hub.js';
import type { ClientFrames } from '../../platform/stream/websocket.js';
import type { SettingValues } from '../../settings.js';
import { TagCatalog } from './catalog.js';
import { tagRoutes } from './routes.js';
import { publishTags } from './tag-sources.js';
import type { TagDeps } from './write.js';
import { writeFrame } from './write-frame.js';

export interface TagParts extends Omit<TagDeps, 'catalog' | 'modeCheckDeviceTags'> {
  readonly settings: Pick<SettingValues, 'modeCheckDeviceTags'>;
}

export function joinTags({ store, clock, runtimes, settings }: TagParts) {
  const catalog = new TagCatalog(store);
  const deps: TagDeps = { store, clock, catalog, runtimes, modeCheckDeviceTags: settings.modeCheckDeviceTags };
  const write: ClientFrames['write'] = (frame, caller, sourceIP) => writeFrame(deps, frame, caller, sourceIP);
  return {
    catalog,
    deps,
    /** The frame with which a stream writes. */
    write,
    routes: [routeSet(tagRoutes, deps)],
    publish: (hub: ChannelHub): void => publishTags({ hub, runtimes, catalog, store }),
  };
}
