/**
 * The secrets of devices (decisions 7.5; ADR 0075): set through the routes and stored sealed, or put there as files
 * `<secrets.dir>/site-<site>/<name>/<member>`. One that is stored goes before the files of its name. Their content leaves this file
 * for a probe alone (credentials.ts).
 */
import { existsSync, readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { readPlainFile } from '../../platform/base/plain-file.js';
import type { Sealing } from '../../platform/base/sealing.js';
import type { Store } from '../../platform/store/store.js';
import { Secret, SECRET_MEMBERS, type SecretMember, type Secrets } from './secret-kind.js';

/** In clear. */
export type SecretContent = Readonly<Partial<Record<SecretMember, string>>>;

/** `unreadable`: it is there, and this box cannot read it. */
export type FoundSecret = SecretContent | 'unreadable' | undefined;

/** A PEM chain of a device; a file that is longer is something else. */
export const MEMBER_BYTES_MAX = 64 * 1024;

/** As Kubernetes names secrets; no name leads out of the folder of its site. */
const FILE_NAME = /^[A-Za-z0-9][-._A-Za-z0-9]{0,252}$/;

/** What is known of a secret without its content. */
export interface SecretView {
  readonly name: string;
  readonly members: readonly SecretMember[];
  readonly storedIn: 'box' | 'files';
  /** False: it is there, and cannot be read. */
  readonly isReadable: boolean;
  /** Empty of files. */
  readonly changedAt: string;
}

/** Where secrets lie as files. */
export function secretsIn(folder: string): Secrets {
  return {
    exists(site, name) {
      if (!FILE_NAME.test(name)) return false;
      try {
        return existsSync(folder) ? readdirSync(path.join(folder, `site-${site}`)).includes(name) : false;
      } catch (fault) {
        return isAbsent(fault) ? false : undefined;
      }
    },
  };
}

export class DeviceSecrets implements Secrets {
  readonly #store: Store;
  readonly #sealing: Sealing;
  readonly #folder: string;
  readonly #files: Secrets;

  /** @param folder setting `secrets.dir`. */
  constructor({ store, sealing, folder }: { readonly store: Store; readonly sealing: Sealing; readonly folder: string }) {
    this.#store = store;
    this.#sealing = sealing;
    this.#folder = folder;
    this.#files = secretsIn(folder);
  }

  exists(site: string, name: string): boolean | undefined {
    const stored = this.stored(site, name);
    if (stored === undefined) return this.#files.exists(site, name);
    return stored === 'unreadable' ? undefined : true;
  }

  /** Undefined where none of the name is stored; there may be files. */
  stored(site: string, name: string): FoundSecret {
    const resource = this.#store.get(Secret, site, name);
    if (!resource) return undefined;
    const content: Partial<Record<SecretMember, string>> = {};
    for (const member of SECRET_MEMBERS) {
      const sealed = resource.spec.members[member];
      if (sealed === undefined) continue;
      const text = this.#sealing.open(sealed, placeOf(site, name, member));
      if (text === undefined) return 'unreadable';
      content[member] = text;
    }
    return content;
  }

  /** One line end at the end of a file is the editor's. */
  async inFiles(site: string, name: string): Promise<FoundSecret> {
    if (!FILE_NAME.test(name)) return undefined;
    const folder = path.join(this.#folder, `site-${site}`, name);
    try {
      const there = new Set(await readdir(folder));
      const members = SECRET_MEMBERS.filter((member) => there.has(member));
      return Object.fromEntries(
        members.map((member) => [
          member,
          readPlainFile(path.join(folder, member), MEMBER_BYTES_MAX)
            .toString('utf8')
            .replace(/\r?\n$/, ''),
        ]),
      );
    } catch (fault) {
      return isAbsent(fault) ? undefined : 'unreadable';
    }
  }

  /** By name. */
  async list(site: string): Promise<readonly SecretView[]> {
    const stored = this.#store.list(Secret, site).map(({ metadata: { name } }) => name);
    const names = new Set([...stored, ...(await this.#fileNames(site))]);
    const views = await Promise.all([...names].sort().map((name) => this.view(site, name)));
    return views.filter((view) => view !== undefined);
  }

  async view(site: string, name: string): Promise<SecretView | undefined> {
    const resource = this.#store.get(Secret, site, name);
    if (resource) {
      const { members } = resource.spec;
      const isReadable = this.stored(site, name) !== 'unreadable';
      return { name, members: SECRET_MEMBERS.filter((member) => members[member] !== undefined), storedIn: 'box', isReadable, changedAt: resource.metadata.updatedAt };
    }
    const found = await this.inFiles(site, name);
    if (found === undefined) return undefined;
    const isReadable = found !== 'unreadable';
    return { name, members: isReadable ? SECRET_MEMBERS.filter((member) => found[member] !== undefined) : [], storedIn: 'files', isReadable, changedAt: '' };
  }

  /** The spec that keeps the content; members that are left out of `content` are not set. */
  sealed(site: string, name: string, content: SecretContent): { readonly members: Record<string, string> } {
    return { members: Object.fromEntries(Object.entries(content).map(([member, text]) => [member, this.#sealing.seal(text, placeOf(site, name, member))])) };
  }

  async #fileNames(site: string): Promise<readonly string[]> {
    try {
      const entries = await readdir(path.join(this.#folder, `site-${site}`), { withFileTypes: true });
      return entries.filter((entry) => FILE_NAME.test(entry.name) && (entry.isDirectory() || entry.isSymbolicLink())).map(({ name }) => name);
    } catch {
      return []; // none can be read: those that a module names are told by its verdict
    }
  }
}

/** A sealed text opens in its own place only. */
function placeOf(site: string, name: string, member: string): string {
  return `${site}/${name}/${member}`;
}

function isAbsent(fault: unknown): boolean {
  const { code } = fault as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
