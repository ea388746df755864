/** Whose certificate a server shows: authorities that a person has put into their folder, and whether what they signed is the server that is meant (OPC 10000-4, 6.1.3). */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { distrust, unfitness } from '../../runtime/io/opcua/trust.js';
import { opcuaSecurity } from '../support/opcua-module.js';
import { openssl } from '../support/openssl.js';
import { ownFolder } from '../support/own-folder.js';

const folder = ownFolder(t);
const AUTHORITIES = `${folder}/authorities`;
mkdirSync(AUTHORITIES);

function make(name: string, extensions: readonly string[], signer?: string): Buffer {
  const by = signer === undefined ? [] : ['-CA', `${folder}/${signer}.pem`, '-CAkey', `${folder}/${signer}.key`];
  const added = extensions.flatMap((extension) => ['-addext', extension]);
  openssl([
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${folder}/${name}.key`,
    '-out',
    `${folder}/${name}.pem`,
    '-subj',
    `/CN=${name}`,
    '-days',
    '9',
    ...by,
    ...added,
  ]);
  return new X509Certificate(readFileSync(`${folder}/${name}.pem`)).raw;
}

make('plant', ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign']);
const leaf = (name: string, usage: string, names: string): Buffer =>
  make(name, ['basicConstraints=CA:FALSE', `subjectAltName=${names}`, ...(usage === '' ? [] : [`extendedKeyUsage=${usage}`])], 'plant');
const plc = leaf('plc', 'serverAuth,clientAuth', 'URI:urn:plant:plc,DNS:plc-1,IP:10.0.0.7');
const trusting = (serverCertificateSha256 = '') => opcuaSecurity(folder, { serverTrust: 'ca', serverCertificateSha256 });
const hash = (der: Buffer): string => new X509Certificate(der).fingerprint256;

t.test('decisions 7.5: a certificate that an authority has signed counts for the server that it was made for, and for no other one', async (t) => {
  const of = (host: string, applicationUri = 'urn:plant:plc') => ({ host, applicationUri });
  t.equal(unfitness(plc, of('plc-1')), '');
  t.equal(unfitness(plc, of('PLC-1')), '', 'names of hosts have no case');
  t.equal(unfitness(plc, of('10.0.0.7')), '');
  t.match(unfitness(plc, of('plc-2')), /is for DNS:plc-1, IP Address:10\.0\.0\.7, and the address names plc-2/);
  t.match(unfitness(plc, of('10.0.0.8')), /the address names 10\.0\.0\.8/);
  t.match(unfitness(plc, of('plc-1', 'urn:plant:other')), /is of the application urn:plant:plc, and the server says that it is urn:plant:other/);
  t.match(unfitness(leaf('laptop', 'clientAuth', 'URI:urn:plant:plc,DNS:plc-1'), of('plc-1')), /was not made for a server/);
  t.match(unfitness(leaf('mail', 'emailProtection', 'DNS:plc-1'), of('plc-1')), /was not made for a server/);
  t.match(unfitness(leaf('bare', '', 'DNS:plc-1'), of('plc-1')), /without a URI/);
  const six = leaf('six', 'serverAuth', 'URI:urn:plant:plc,IP:0:0:0:0:0:0:0:1');
  t.equal(unfitness(six, of('[::1]')), '');
});

t.test('decisions 7.5: with serverTrust ca a fingerprint that a person has given is judged as well', async (t) => {
  writeFileSync(`${AUTHORITIES}/plant.pem`, readFileSync(`${folder}/plant.pem`));
  t.equal(await distrust(plc, trusting(), Date.now()), '');
  t.equal(await distrust(plc, trusting(hash(plc)), Date.now()), '');
  t.match(await distrust(plc, trusting('ab'.repeat(32)), Date.now()), /another certificate than the one confirmed/);
});

t.test('decisions 7.5: what stands among the authorities and is no certificate file is not waited for, and is told by name', async (t) => {
  rmSync(AUTHORITIES, { recursive: true });
  mkdirSync(AUTHORITIES);
  execFileSync('mkfifo', [`${AUTHORITIES}/pipe.pem`]);
  mkdirSync(`${AUTHORITIES}/folder.pem`);
  writeFileSync(`${AUTHORITIES}/large.pem`, Buffer.alloc(70_000, 'x'));
  writeFileSync(`${AUTHORITIES}/empty.pem`, '');
  execFileSync('ln', ['-s', '/dev/zero', `${AUTHORITIES}/zero.pem`]);
  execFileSync('ln', ['-s', 'nowhere', `${AUTHORITIES}/gone.pem`]);
  const told = await distrust(plc, trusting(), Date.now());
  t.match(told, /holds no certificate \(PEM\); not read: /);
  for (const problem of [
    /pipe\.pem \(no regular file\)/,
    /folder\.pem \(no regular file\)/,
    /large\.pem \(longer than 65536 bytes\)/,
    /zero\.pem \(no regular file\)/,
    /gone\.pem \(ENOENT/,
  ])
    t.match(told, problem);
  t.notMatch(told, /empty/, 'a file that can be read and holds nothing is only no authority');
  writeFileSync(`${AUTHORITIES}/plant.pem`, readFileSync(`${folder}/plant.pem`));
  t.equal(await distrust(plc, trusting(), Date.now()), '', 'the others count all the same');
});

t.test('decisions 7.5: a folder of authorities that cannot be read is not told as one that is empty', async (t) => {
  rmSync(AUTHORITIES, { recursive: true });
  t.match(await distrust(plc, trusting(), Date.now()), /holds no certificate \(PEM\)/, 'nobody has made it yet');
  writeFileSync(AUTHORITIES, 'a file in its place');
  t.match(await distrust(plc, trusting(), Date.now()), /authorities cannot be read \(ENOTDIR.*\): it has to be a folder that this box may read; put the certificate/);
});
