// Signatures by minisign (Ed25519): what a plant installs can be shown to come from whoever built it. A key of the builder, or one made on
// the spot, which proves nothing to anybody and is said so.
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ran, root } from './facts.mjs';

const DEVELOPMENT_KEY = path.join(root, 'artifacts/keys/development.key');

/**
 * Signs each file beside itself (`.minisig`) and puts the public key there.
 * @param keyFile secret key of minisign, with its public key beside it (`x.key` and `x.pub`); none takes the development key. minisign asks for its password.
 * @returns the public key file, and whether it is the development key
 */
export function sign(files, { keyFile, comment, publicKeyFile, log = console.log }) {
  const development = keyFile === undefined;
  const key = development ? developmentKey() : path.resolve(keyFile);
  const publicKey = key.replace(/(\.key)?$/, '.pub');
  if (!existsSync(key)) throw new Error(`--sign names ${keyFile}, which is not there; 'minisign -G -s plant.key -p plant.pub' makes a pair`);
  if (!existsSync(publicKey)) throw new Error(`the public key of ${keyFile} has to stand beside it as ${path.basename(publicKey)}`);
  for (const file of files) {
    ran('minisign', ['-S', '-s', key, '-m', file, '-x', `${file}.minisig`, '-t', `${comment} ${path.basename(file)}`], { stdio: ['inherit', 'pipe', 'inherit'] });
    verify(file, publicKey);
  }
  cpSync(publicKey, publicKeyFile);
  if (development) {
    log('*** SIGNED WITH A DEVELOPMENT KEY made on this machine: it proves nothing about who built the package.');
    log('*** A release is signed with a key of its own: npm run package -- --sign KEYFILE');
  }
  return { development, publicKey: readFileSync(publicKey, 'utf8').trim().split('\n').at(-1) };
}

/** @throws when the signature beside the file is not one of this key over these bytes */
export function verify(file, publicKeyFile) {
  ran('minisign', ['-V', '-q', '-p', publicKeyFile, '-m', file]);
}

function developmentKey() {
  if (!existsSync(DEVELOPMENT_KEY)) {
    mkdirSync(path.dirname(DEVELOPMENT_KEY), { recursive: true });
    ran('minisign', ['-G', '-W', '-s', DEVELOPMENT_KEY, '-p', DEVELOPMENT_KEY.replace(/\.key$/, '.pub'), '-c', 'lineside development key']);
    chmodSync(DEVELOPMENT_KEY, 0o600);
  }
  return DEVELOPMENT_KEY;
}
