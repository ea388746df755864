/** What is the matter with a receiver, in words of whoever runs the plant: each sentence names the receiver, and the setting that helps where one does. */

/** The connection is over. */
export class ReceiverFault extends Error {
  override readonly name = 'ReceiverFault';
}

type Words = (receiver: string, fault: NodeJS.ErrnoException) => string;

const untrusted: Words = (receiver) => `the certificate of ${receiver} is not of an authority that is trusted (audit.syslog.caFile): nothing is sent to it`;

const WORDS: Readonly<Record<string, Words>> = {
  ECONNREFUSED: (receiver) => `${receiver} refuses the connection: is the receiver running, and is audit.syslog.port its port for TLS`,
  ETIMEDOUT: (receiver) => `${receiver} does not answer`,
  EHOSTUNREACH: (receiver) => `there is no way to ${receiver}`,
  ENETUNREACH: (receiver) => `there is no way to ${receiver}`,
  ENOTFOUND: (receiver) => `nobody knows the name of ${receiver} (audit.syslog.address)`,
  EAI_AGAIN: (receiver) => `the name of ${receiver} could not be looked up: no name server answers`,
  ECONNRESET: (receiver) => `${receiver} has broken the connection`,
  EPIPE: (receiver) => `${receiver} has closed the connection`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_UNTRUSTED: untrusted,
  CERT_HAS_EXPIRED: (receiver) => `the certificate of ${receiver} has expired: nothing is sent to it`,
  CERT_NOT_YET_VALID: (receiver) => `the certificate of ${receiver} is not valid yet, or the clock of this box is wrong: nothing is sent to it`,
  CERT_REVOKED: (receiver) => `the certificate of ${receiver} was revoked: nothing is sent to it`,
  ERR_TLS_CERT_ALTNAME_INVALID: (receiver, { message }) => `the certificate of ${receiver} is for another name (audit.syslog.address): nothing is sent to it (${message})`,
  ERR_SSL_WRONG_VERSION_NUMBER: (receiver) => `${receiver} does not speak TLS on this port (audit.syslog.port)`,
};

const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);
const UNNAMED = '; one that wants to know this box does so (audit.syslog.certFile)';

/** A receiver that wants to know the box says so by an alert, whose name differs with the version of TLS. */
const WANTS_CERTIFICATE = /certificate_required|certificate required|handshake_failure|handshake failure|bad certificate|bad_certificate|unknown ca|unknown_ca/i;

/** @param isNamed whether the box has shown a certificate. */
export function receiverFault(receiver: string, fault: NodeJS.ErrnoException, isNamed: boolean): ReceiverFault {
  if (fault instanceof ReceiverFault) return fault;
  const words = WORDS[fault.code ?? ''];
  if (words) return new ReceiverFault(`${words(receiver, fault)}${!isNamed && BROKEN.has(fault.code ?? '') ? UNNAMED : ''}`);
  if (WANTS_CERTIFICATE.test(`${fault.code ?? ''} ${fault.message}`))
    return new ReceiverFault(`${receiver} does not take this box: it wants a certificate that it trusts (audit.syslog.certFile, audit.syslog.keyFile) (${fault.message})`);
  return new ReceiverFault(`the connection to ${receiver} failed: ${fault.message}`);
}
