import { randomBytes, randomUUID } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { type Address, getAddress, type Hex, hashMessage } from 'viem';
import { createSiweMessage, parseSiweMessage } from 'viem/siwe';
import { hasValidChecksum } from '../chain/addresses.ts';
import type { Chain } from '../chain/client.ts';
import { isSignedBy } from '../chain/contracts.ts';
import { OracleError } from '../errors.ts';
import { insertFirst } from '../platform/retry.ts';
import type { NewApiKey } from './api-keys.ts';
import { LOGIN_WINDOW_MS, loginRejected } from './login-message.ts';
import type { PaidTier } from './tiers.ts';

/** What a wallet decides by one signature, besides opening a session. */
type Act =
  | { kind: 'create-key'; key: NewApiKey }
  /** Lists the access that the wallet has granted, after ending an entry of it. */
  | { kind: 'manage-access'; revoke: string | null }
  | { kind: 'allow-application'; request: string; client: string; tier: PaidTier };

type ActKind = Act['kind'];
type ActOf<K extends ActKind> = Extract<Act, { kind: K }>;

/** The URI of a text names the operation that it is for. */
const ACT_PATHS: Record<ActKind, string> = {
  'create-key': '/api/svc/oracle/keys',
  'manage-access': '/api/svc/oracle/access',
  'allow-application': '/oauth/consent',
};

interface NonceDoc {
  _id: string;
  expiresAt: Date;
  /** Null for a login by EIP-4361, whose client composes the text. */
  composed: { act: Act; wallet: Address; message: string } | null;
}

const COLLECTION = 'login_nonces';

interface SignedActsDeps {
  db: Db;
  chain: Chain;
  /** One namespace of used nonces for logins and acts. */
  claims: LoginClaimStore;
  siwe: SiweExpectation;
  now(): Date;
}

/**
 * One signature, one act: EIP-4361 texts that this service composes, each for one wallet and one act with its parameters, stored beside the
 * nonce. A text is accepted by the operation of its act, once, within five minutes, and by nothing else.
 */
export class SignedActs {
  readonly #nonces: Collection<NonceDoc>;
  readonly #deps: Omit<SignedActsDeps, 'db'>;

  constructor({ db, ...deps }: SignedActsDeps) {
    this.#nonces = db.collection(COLLECTION);
    this.#deps = deps;
  }

  /** A nonce for one login by EIP-4361. */
  async issueLoginNonce(): Promise<{ nonce: string; expiresAt: Date }> {
    const { nonce, expiresAt } = this.#createNonce();
    await insertFirst(this.#nonces, { _id: nonce, expiresAt, composed: null }, '_id');
    return { nonce, expiresAt };
  }

  /** Expiry of a nonce for logins; null when it is unknown or expired, or belongs to an act. */
  async findLoginExpiry(nonce: string): Promise<Date | null> {
    const known = await this.#nonces.findOne({ _id: nonce, composed: null });
    return known === null || known.expiresAt <= this.#deps.now() ? null : known.expiresAt;
  }

  /** The text that a wallet signs for an act. */
  async compose(wallet: Address, act: Act): Promise<{ message: string; expiresAt: Date }> {
    const { siwe, now } = this.#deps;
    const { nonce, expiresAt } = this.#createNonce();
    const message = createSiweMessage({
      domain: siwe.domain,
      address: wallet,
      statement: describeAct(act),
      uri: `${siwe.origin}${ACT_PATHS[act.kind]}`,
      version: '1',
      chainId: siwe.chainId,
      nonce,
      issuedAt: now(),
      expirationTime: expiresAt,
    });
    await insertFirst(this.#nonces, { _id: nonce, expiresAt, composed: { act, wallet, message } }, '_id');
    return { message, expiresAt };
  }

  /** The wallet that a text was composed for; null for any other text. Whether it is signed is not looked at. */
  async findWallet(message: string): Promise<Address | null> {
    return (await this.#find(message))?.composed.wallet ?? null;
  }

  /**
   * Performs what a wallet has signed. A failure of `perform` leaves the text usable.
   * @throws OracleError INPUT_INVALID for another form of text, UNAUTHENTICATED naming `message` or `signature`, CONFLICT for a used text, CHAIN_UNREACHABLE; errors of `perform`
   */
  async redeem<K extends ActKind, T>(
    kind: K,
    { message, signature }: { message: string; signature: Hex },
    perform: (wallet: Address, act: ActOf<K>) => Promise<T>,
  ): Promise<T> {
    if (!isSiweMessage(message)) throw notComposedError(kind, 'INPUT_INVALID');
    const found = await this.#find(message);
    if (found?.composed.act.kind !== kind) throw notComposedError(kind);
    const { wallet, act } = found.composed;
    if (!(await isSignedBy(this.#deps.chain, { wallet, hash: hashMessage(message), signature }))) {
      const problem = `The signature is not one of ${wallet} over this text`;
      throw new OracleError('UNAUTHENTICATED', problem, { field: 'signature', suggestedAction: AGAIN });
    }
    // Kept for longer than any process accepts the text, since their clocks differ.
    const release = await this.#deps.claims.acquire(`nonce:${found._id}`, new Date(found.expiresAt.getTime() + LOGIN_WINDOW_MS));
    if (release === null) {
      const problem = 'This signed text was used before: each is good for one act';
      throw new OracleError('CONFLICT', problem, { field: 'message', suggestedAction: AGAIN });
    }
    try {
      return await perform(wallet, act as ActOf<K>);
    } catch (error) {
      // If the release fails too, the client asks for another text.
      await release().catch(() => undefined);
      throw error;
    }
  }

  async #find(message: string) {
    const { nonce = '' } = parseSiweMessage(message);
    const found = await this.#nonces.findOne({ _id: nonce, 'composed.message': message });
    if (found === null || found.composed === null || found.expiresAt <= this.#deps.now()) return null;
    return { ...found, composed: found.composed };
  }

  #createNonce(): { nonce: string; expiresAt: Date } {
    return { nonce: randomBytes(16).toString('hex'), expiresAt: new Date(this.#deps.now().getTime() + LOGIN_WINDOW_MS) };
  }
}

/** The statement of the text: what the wallet allows, to whom, how far and for how long. */
function describeAct(act: Act): string {
  if (act.kind === 'manage-access') {
    return act.revoke === null ? 'Show the access that this wallet has granted.' : `End the access ${act.revoke} of this wallet.`;
  }
  if (act.kind === 'allow-application') {
    const { client, tier } = act;
    return toStatement(`Allow ${client} to read forecasts over MCP with ${formatTier(tier)} of this wallet, for at most a year.`);
  }
  const { label, tier, expiresInDays } = act.key;
  const end = expiresInDays === null ? 'until it is revoked' : `for ${expiresInDays} ${expiresInDays === 1 ? 'day' : 'days'}`;
  return toStatement(`Make an API key named '${label}' with ${formatTier(tier)} of this wallet, valid ${end}.`);
}

function formatTier(tier: PaidTier): string {
  return tier === 'premium' ? 'the tier, up to Premium,' : 'the Basic tier';
}

/** EIP-4361 allows the reserved and unreserved characters of RFC 3986 and spaces: what a client wrote is shown as far as that goes. */
function toStatement(text: string): string {
  return text.replaceAll(/[^\w \-.~:/?#[\]@!$&'()*+,;=]/g, '?');
}

const AGAIN = 'Ask for a new text, sign it as it is, and send it within 5 minutes. Nothing was changed.';

function notComposedError(kind: ActKind, code: 'INPUT_INVALID' | 'UNAUTHENTICATED' = 'UNAUTHENTICATED'): OracleError {
  const problem = 'This service has not composed this text for this operation, or it has expired';
  const suggestedAction = kind === 'allow-application' ? AGAIN : `POST ${ACT_PATHS[kind]}/message gives the text to sign. ${AGAIN}`;
  return new OracleError(code, problem, { field: 'message', suggestedAction });
}

export class LoginClaimStore {
  /** `claimId` identifies the claimant: only it may release the claim. */
  readonly #claims: Collection<{ _id: string; claimId: string; expiresAt: Date }>;

  constructor(db: Db) {
    this.#claims = db.collection('login_claims');
  }

  /** Returns the function that releases the claim, or null when it is taken. @param expiresAt from then on the message is invalid anyway */
  async acquire(key: string, expiresAt: Date): Promise<(() => Promise<void>) | null> {
    const claimId = randomUUID();
    if (!(await insertFirst(this.#claims, { _id: key, claimId, expiresAt }, 'claimId'))) return null;
    return async () => {
      await this.#claims.deleteOne({ _id: key, claimId });
    };
  }
}

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
function isSiweMessage(message: string): boolean {
  return message.length <= MAX_SIWE_LENGTH && SIWE_PATTERN.test(message);
}

/** All but signature and nonce. @throws OracleError INPUT_INVALID for a malformed message, UNAUTHENTICATED naming e.g. `message.domain` */
export function checkSiweMessage(message: string, expected: SiweExpectation, now: Date): { wallet: Address; nonce: string } {
  if (!isSiweMessage(message)) throw invalid('', 'is not an EIP-4361 message');
  const fields = parseSiweMessage(message);
  const { address, nonce } = fields;
  if (address === undefined || nonce === undefined) throw invalid('', 'is not an EIP-4361 message');
  if (!hasValidChecksum(address)) throw invalid('address', 'has an invalid EIP-55 checksum');
  const rejected = (name: string, problem: string) => loginRejected(toField(name), problem, now);
  const { domain, scheme, uri, version, chainId } = fields;
  if (version !== '1') throw invalid('version', 'must be 1');
  if (domain !== expected.domain) throw rejected('domain', `The message must be made out to ${expected.domain}`);
  if (scheme !== undefined && `${scheme}:` !== new URL(expected.origin).protocol) {
    throw rejected('scheme', `The message must be made out to ${expected.origin}`);
  }
  if (URL.parse(uri ?? '')?.origin !== expected.origin) throw rejected('uri', `The URI must be one of ${expected.origin}`);
  if (chainId !== expected.chainId) throw rejected('chainId', `The chain id must be ${expected.chainId}`);
  const { issuedAt, expirationTime, notBefore } = fields;
  for (const [name, time] of Object.entries({ issuedAt, expirationTime, notBefore })) {
    if (time !== undefined && Number.isNaN(time.getTime())) throw invalid(name, 'must be a date-time of RFC 3339');
  }
  if (issuedAt === undefined || Math.abs(now.getTime() - issuedAt.getTime()) > LOGIN_WINDOW_MS) {
    throw rejected('issuedAt', 'The message was not issued within 5 minutes of the server time');
  }
  if (expirationTime !== undefined && expirationTime <= now) throw rejected('expirationTime', 'The message has expired');
  if (notBefore !== undefined && notBefore > now) throw rejected('notBefore', 'The message is not valid yet');
  return { wallet: getAddress(address), nonce };
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
