/** The limit of an alarm definition. */
import { put } from './api.js';
import { atSite, readEngineeringSoon } from './plant.js';

/** @throws ApiError 409 `equipment_executing` while the equipment works, 404 when it is gone. */
export async function changeThreshold(name: string, threshold: string): Promise<void> {
  await put(atSite(`alarmdefinitions/${encodeURIComponent(name)}`), { threshold });
  readEngineeringSoon();
}
