/** Of the installation: certificates, randomness, open files, hardware profile. */
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { certificateSource } from '../../appliance/gateway-tls.js';
import { isLoopback } from '../../platform/base/ip-address.js';
import { readPlainFile, UnfitFile } from '../../platform/base/plain-file.js';
import { type Check, type Finding, untold } from '../check.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;
/** A chain of certificates is some kilobytes. */
const CERTIFICATE_BYTES_MAX = 1024 ** 2;

export const certificates: Check = {
  name: 'certificates',
  look({ settings, clock }) {
    const { listen } = settings;
    const source = certificateSource(settings, clock);
    const limit = `a certificate that holds for ${SOON_DAYS} days more`;
    if (!source) {
      const isHeard = !isLoopback(listen);
      return {
        verdict: isHeard ? 'warning' : 'ok',
        measured: `plain HTTP on ${listen}: no certificate is set`,
        limit,
        meaning: isHeard ? 'passwords and tokens travel in clear, and whoever is in between can change what is sent' : 'only this machine hears it',
        whatToDo: isHeard ? 'set gateway.tls.certFile and gateway.tls.keyFile, or gateway.tls.selfSigned' : '',
      };
    }
    const { certFile } = source.files;
    if (source.kind === 'self-signed' && !existsSync(certFile))
      return { verdict: 'ok', measured: 'a certificate of its own, not made yet', limit, meaning: 'the first start makes it', whatToDo: '' };
    try {
      const certificate = new X509Certificate(readPlainFile(certFile, CERTIFICATE_BYTES_MAX));
      const days = Math.floor((new Date(certificate.validTo).getTime() - clock.wallMs()) / DAY_MS);
      return expiry(days, `${certificate.subject.replaceAll('\n', ', ')}, until ${new Date(certificate.validTo).toISOString()}`, limit);
    } catch (fault) {
      return {
        verdict: 'fault',
        measured: fault instanceof UnfitFile ? fault.message : `${certFile}: ${(fault as Error).message}`,
        limit,
        meaning: 'the gateway does not start',
        whatToDo: 'put a PEM certificate there, or name another file',
      };
    }
  },
};

function expiry(days: number, measured: string, limit: string): Finding {
  const verdict = days < 0 ? 'fault' : days < SOON_DAYS ? 'warning' : 'ok';
  return {
    verdict,
    measured: `${measured} (${days} days)`,
    limit,
    meaning: days < 0 ? 'browsers and the MES refuse to connect' : verdict === 'warning' ? 'browsers and the MES will refuse to connect soon' : 'browsers and the MES connect',
    whatToDo: verdict === 'ok' ? '' : 'renew the certificate: the gateway takes it by itself',
    figures: { days },
  };
}

const ENTROPY_MIN_BITS = 128;

export const entropy: Check = {
  name: 'entropy',
  look({ machine }) {
    const bits = machine.number('proc/sys/kernel/random/entropy_avail');
    const limit = `at least ${ENTROPY_MIN_BITS} bits`;
    if (bits === undefined) return untold('the kernel does not tell', limit, 'whether keys are random is not known');
    const fit = bits >= ENTROPY_MIN_BITS;
    const hardware = machine.text('sys/class/misc/hw_random/rng_current') ?? 'none';
    return {
      verdict: fit ? 'ok' : 'warning',
      measured: `${bits} bits; hardware source ${hardware}`,
      limit,
      meaning: fit ? 'keys and tokens are random' : 'the first start waits until there is enough to make keys of',
      whatToDo: fit ? '' : 'switch the hardware source on, or wait some minutes after the first boot',
    };
  },
};

/** A stream, a device and a file are one each; beside ten of a stream for each of the largest profile there is room for the rest. */
const FILES_MIN = 4096;

export const openFiles: Check = {
  name: 'open-files',
  look({ machine }) {
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(machine.text('proc/self/limits') ?? '')?.[1];
    const limit = `at least ${FILES_MIN}`;
    if (soft === undefined) return untold('the kernel does not tell', limit, 'how many can connect at once is not known');
    const fit = soft === 'unlimited' || Number(soft) >= FILES_MIN;
    return {
      verdict: fit ? 'ok' : 'warning',
      measured: `${soft} for this process; the service has its own limit`,
      limit,
      meaning: fit ? 'connections find room' : 'connections are refused when many come at once',
      whatToDo: fit ? '' : 'LimitNOFILE=65536 in the service, ulimit -n in a shell',
    };
  },
};

export const hardwareProfile: Check = {
  name: 'profile',
  look({ box: { profile, by, notes, facts } }) {
    const { name, title, verified, limits } = profile;
    return {
      verdict: notes.length > 0 ? 'warning' : 'ok',
      measured: `${name} (${title}), ${verified ? 'verified' : 'a draft'}, chosen by the ${by}`,
      limit: 'a verified profile of this very box',
      meaning:
        notes.length > 0
          ? notes.join('; ')
          : `the box takes ${limits.units} units, ${limits.tags} tags and ${limits.streams} live streams, scanned every ${limits.scanIntervalMinMs} ms or slower`,
      whatToDo: notes.length > 0 ? 'see docs/add/firmware-profile.md for how a profile is made and verified' : '',
      figures: { profile: name, limits, facts },
    };
  },
};
