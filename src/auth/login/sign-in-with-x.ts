import { type Address, type Hex, hashMessage } from 'viem';
import { z } from 'zod';
import type { Chain } from '../../chain/client.ts';
import { isSignedBy, MAX_SIGNATURE_BYTES } from '../../chain/verify-signature.ts';
import { OracleError } from '../../platform/errors.ts';
import type { LoginClaimStore } from './login-claim-store.ts';
import { LOGIN_WINDOW_MS } from './login-message.ts';
import { readSiweMessage, type SiweErrors, type SiweExpectation } from './siwe-message.ts';

/**
 * Request header of the x402 extension `sign-in-with-x`: base64 JSON of a message by CAIP-122, which is EIP-4361 on EVM chains, and its signature.
 * https://github.com/x402-foundation/x402/blob/main/specs/extensions/sign-in-with-x.md
 */
export const SIGN_IN_HEADER = 'SIGN-IN-WITH-X';

const line = z.string().max(1_024);

const PROOF = z.object({
  domain: line,
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex characters'),
  statement: line.optional(),
  uri: line,
  version: line,
  chainId: z.string().regex(/^eip155:\d{1,15}$/, 'must be eip155 and the chain id, as in supportedChains'),
  type: z.literal('eip191', 'must be eip191'),
  nonce: line,
  issuedAt: line,
  expirationTime: line.optional(),
  notBefore: line.optional(),
  requestId: line.optional(),
  resources: z.array(line).max(8).optional(),
  signature: z
    .string()
    .regex(/^0x([0-9a-fA-F]{2})+$/, 'must be 0x and hex characters')
    .max(2 + 2 * MAX_SIGNATURE_BYTES)
    .transform((text) => text as Hex),
});

type SignInProof = z.output<typeof PROOF>;

export interface SignInDeps {
  chain: Chain;
  claims: LoginClaimStore;
  siwe: SiweExpectation;
  now(): Date;
}

export interface SignIn {
  wallet: Address;
  /** Before what the sign-in entitles to is delivered. @throws OracleError CONFLICT naming the nonce when it was used before, in any process */
  useNonce(): Promise<void>;
}

/** @param hint what a rejected client is to do @throws OracleError INPUT_INVALID for a malformed header, UNAUTHENTICATED, both naming e.g. `SIGN-IN-WITH-X.domain`; CHAIN_UNREACHABLE */
export async function verifySignIn({ chain, claims, siwe, now }: SignInDeps, header: string, hint = CHALLENGE_HINT): Promise<SignIn> {
  const errors = createSignInErrors(hint);
  const proof = parseProof(header, errors);
  const message = formatSignInMessage(proof);
  const { wallet, nonce } = readSiweMessage(message, siwe, { now: now(), errors });
  if (!(await isSignedBy(chain, { wallet, hash: hashMessage(message), signature: proof.signature }))) {
    throw errors.rejected('signature', 'The signature is not one of this address over this message');
  }
  return {
    wallet,
    async useNonce() {
      // The message may be issued up to a window ahead, and clocks of processes differ.
      const expiresAt = new Date(now().getTime() + 3 * LOGIN_WINDOW_MS);
      if ((await claims.acquire(`sign-in:${nonce}`, expiresAt)) === null) throw nonceUsedError(hint);
    },
  };
}

function parseProof(header: string, errors: SiweErrors): SignInProof {
  let sent: unknown;
  try {
    sent = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    throw errors.invalid('', 'is not base64 of JSON');
  }
  const { success, data, error } = PROOF.safeParse(sent);
  if (success) return data;
  const [{ path, message }] = error.issues;
  throw errors.invalid(path.map(String).join('.'), message);
}

/** EIP-4361 text of the fields, each as sent. */
function formatSignInMessage(proof: SignInProof): string {
  const { domain, address, statement, uri, version, chainId, nonce, issuedAt, expirationTime, notBefore, requestId, resources } = proof;
  const optional = (name: string, value: string | undefined) => (value === undefined ? [] : [`${name}: ${value}`]);
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    address,
    '',
    ...(statement === undefined ? [] : [statement]),
    '',
    `URI: ${uri}`,
    `Version: ${version}`,
    `Chain ID: ${chainId.replace('eip155:', '')}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    ...optional('Expiration Time', expirationTime),
    ...optional('Not Before', notBefore),
    ...optional('Request ID', requestId),
    ...(resources === undefined ? [] : ['Resources:', ...resources.map((resource) => `- ${resource}`)]),
  ].join('\n');
}

const toField = (name: string) => (name === '' ? SIGN_IN_HEADER : `${SIGN_IN_HEADER}.${name}`);

const CHALLENGE_HINT =
  'Sign the challenge in `extensions["sign-in-with-x"]` of a new 402, with the wallet that paid, and send it within 5 minutes. Nothing was charged.';

function createSignInErrors(suggestedAction: string): SiweErrors {
  return {
    invalid: (name, problem) =>
      new OracleError('INPUT_INVALID', `header "${toField(name)}" ${problem}`, { field: toField(name), suggestedAction }),
    rejected: (name, problem) => new OracleError('UNAUTHENTICATED', problem, { field: toField(name), suggestedAction }),
  };
}

function nonceUsedError(suggestedAction: string): OracleError {
  return new OracleError('CONFLICT', 'This sign-in was used before: each is good for one request', {
    field: toField('nonce'),
    suggestedAction,
  });
}
