import { type Address, getAddress } from 'viem';
import { parseSiweMessage, type SiweMessage } from 'viem/siwe';
import { OracleError } from '../../platform/errors.ts';
import { LOGIN_WINDOW_MS, loginRejected } from './login-message.ts';

export const MAX_SIWE_LENGTH = 4_096;

export interface SiweExpectation {
  domain: string;
  /** Origin, e.g. `https://oracle.example`. */
  origin: string;
  chainId: number;
}

/** Matches the whole message: viem's parser alone would find the fields anywhere in a longer text. */
const SIWE_PATTERN =
  /^[^\s]+ wants you to sign in with your Ethereum account:\n0x[0-9a-fA-F]{40}\n\n(?:[^\n]+\n)?\nURI: \S+\nVersion: \S+\nChain ID: \d{1,15}\nNonce: [a-zA-Z0-9]{8,}\nIssued At: \S+(?:\nExpiration Time: \S+)?(?:\nNot Before: \S+)?(?:\nRequest ID: [^\n]*)?(?:\nResources:(?:\n- \S+)*)?$/;

/** Whether a text has the form of EIP-4361. */
export function isSiweMessage(message: string): boolean {
  return message.length <= MAX_SIWE_LENGTH && SIWE_PATTERN.test(message);
}

type SiweFields = Partial<SiweMessage>;

/** All but signature and nonce. @throws OracleError INPUT_INVALID for a malformed message, UNAUTHENTICATED naming e.g. `message.domain` */
export function checkSiweMessage(message: string, expected: SiweExpectation, now: Date): { wallet: Address; nonce: string } {
  if (!isSiweMessage(message)) throw invalid('', 'is not an EIP-4361 message');
  const fields = parseSiweMessage(message);
  const { address, nonce } = fields;
  if (address === undefined || nonce === undefined) throw invalid('', 'is not an EIP-4361 message');
  if (getAddress(address) !== address) throw invalid('address', 'has no valid checksum (EIP-55)');
  checkAudience(fields, expected, now);
  checkTimes(fields, now);
  return { wallet: address, nonce };
}

function checkAudience(fields: SiweFields, expected: SiweExpectation, now: Date): void {
  const rejected = (name: string, problem: string) => loginRejected(toField(name), problem, now);
  const { domain, scheme, uri, version, chainId } = fields;
  if (version !== '1') throw invalid('version', 'must be 1');
  if (domain !== expected.domain) throw rejected('domain', `The message must be made out to ${expected.domain}`);
  if (scheme !== undefined && `${scheme}:` !== new URL(expected.origin).protocol) {
    throw rejected('scheme', `The message must be made out to ${expected.origin}`);
  }
  if (parseUriOrigin(uri) !== expected.origin) throw rejected('uri', `The URI must be one of ${expected.origin}`);
  if (chainId !== expected.chainId) throw rejected('chainId', `The chain id must be ${expected.chainId}`);
}

function checkTimes({ issuedAt, expirationTime, notBefore }: SiweFields, now: Date): void {
  const rejected = (name: string, problem: string) => loginRejected(toField(name), problem, now);
  const times = { issuedAt, expirationTime, notBefore };
  for (const [name, time] of Object.entries(times)) {
    if (time !== undefined && Number.isNaN(time.getTime())) throw invalid(name, 'must be a date-time of RFC 3339');
  }
  if (issuedAt === undefined || Math.abs(now.getTime() - issuedAt.getTime()) > LOGIN_WINDOW_MS) {
    throw rejected('issuedAt', 'The message was not issued within 5 minutes of the server time');
  }
  if (expirationTime !== undefined && expirationTime <= now) throw rejected('expirationTime', 'The message has expired');
  if (notBefore !== undefined && notBefore > now) throw rejected('notBefore', 'The message is not valid yet');
}

function parseUriOrigin(uri: string | undefined): string | null {
  return uri !== undefined && URL.canParse(uri) ? new URL(uri).origin : null;
}

function toField(name: string): string {
  return name === '' ? 'message' : `message.${name}`;
}

function invalid(name: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `body field "${toField(name)}" ${problem}`, {
    field: toField(name),
    suggestedAction: 'Create an EIP-4361 message with the nonce, domain, uri and chainId of GET /api/svc/oracle/nonce.',
  });
}
