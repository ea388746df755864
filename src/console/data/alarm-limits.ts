/** The limit of an alarm definition. */
import { ApiError, put, read } from './api.js';
import { atSite, readEngineeringSoon } from './plant.js';
import type { AlarmDefinition } from './types.js';

/**
 * @param from what was shown beside the new one when it was confirmed.
 * @throws ApiError 409 `equipment_executing` while the equipment works, 404 when it is gone, 412 where somebody else has changed it meanwhile.
 */
export async function changeThreshold(name: string, threshold: string, from: string): Promise<void> {
  const path = atSite(`alarmdefinitions/${encodeURIComponent(name)}`);
  const found = await read<AlarmDefinition>(path);
  if (found && found.value.threshold !== from)
    throw new ApiError(412, { error: `the limit is ${found.value.threshold} by now, and was ${from} when it was confirmed here`, code: 'precondition_failed' });
  await put(path, { threshold }, { ifMatch: found?.etag });
  readEngineeringSoon();
}
