/** Everybody of a plant, one after the other, on one appliance with the demonstration plant. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { applianceProcess } from '../support/appliance-process.js';
import { launchBrowser } from '../console/browser.js';
import { account, ENVIRONMENT, firstAdmin } from '../console/person.js';
import { administrator } from './administrator.js';
import { manager } from './manager.js';
import { leadOperator, operator } from './operator.js';
import type { Stage } from './walk.js';

/** Of age; nobody has its identity. */
const RECIPIENT = 'age1asg00psx02c0y398uzxrs03fagts9pttywerzemqacks9yee24gqcfxt09';
/** The administrator shows the demonstration at its end; what the operators have made is what the manager reads. */
const WALKS = { 'lead operator': leadOperator, operator, manager, administrator } satisfies Record<string, (stage: Stage) => Promise<void>>;
const PEOPLE = [
  ['otto', 'operator'],
  ['lena', 'lead-operator'],
  ['mia', 'viewer'],
] as const;

/** @param check told of each task. @param words only of persons whose name contains one of them; all without. */
export async function walkAll(check: Stage['check'], words: readonly string[]): Promise<void> {
  const backups = mkdtempSync(path.join(tmpdir(), 'lineside-persons-'));
  const box = await applianceProcess({
    environment: { ...ENVIRONMENT, LINESIDE_BACKUP__DIRECTORY: backups, LINESIDE_BACKUP__RECIPIENT: RECIPIENT, LINESIDE_BACKUP__INTERVAL: '0' },
  });
  await box.start();
  const browser = await launchBrowser();
  try {
    const admin = await firstAdmin(box.api, box.dataDir);
    for (const [username, group] of PEOPLE) await account(admin, username, group);
    for (const [person, walk] of Object.entries(WALKS)) {
      if (words.length > 0 && !words.some((word) => person.includes(word))) continue;
      await walk({ box, browser, admin, check }).catch((fault: unknown) => check(`${person}: walked to the end (${String(fault)})`, false));
    }
  } finally {
    await browser.close();
    await box.end('SIGKILL');
    box.remove();
    rmSync(backups, { recursive: true, force: true });
  }
}
