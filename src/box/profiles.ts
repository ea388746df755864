/** The profiles of a folder: one file each, strictly read. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { Profile } from './profile.js';

export const SCHEMA_FILE = 'profile.schema.json';

/** A file that is no profile. The product ships its own, so this is a mistake of whoever has put one there. */
export class ProfileFault extends Error {
  override readonly name = 'ProfileFault';
}

/** @throws ProfileFault naming the file and the member. */
export function readProfiles(folder: string): readonly Profile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== SCHEMA_FILE)
    .sort()
    .map((name) => readProfile(path.join(folder, name)));
}

function readProfile(file: string): Profile {
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(file, 'utf8'));
  } catch (fault) {
    throw new ProfileFault(`the hardware profile ${file} cannot be read: ${(fault as Error).message}`);
  }
  const read = v.safeParse(Profile, document);
  if (!read.success) {
    const [issue] = read.issues;
    throw new ProfileFault(`the hardware profile ${file} is not one: ${v.getDotPath(issue) ?? 'it'}: ${issue.message}`);
  }
  const { name } = read.output;
  if (`${name}.json` !== path.basename(file)) throw new ProfileFault(`the hardware profile ${file} calls itself ${name}: name must be that of its file`);
  return read.output;
}
