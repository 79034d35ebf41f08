import { type Address, getAddress, type Hex, hashMessage } from 'viem';
import { z } from 'zod';
import type { OpenedSession } from '../../auth/auth.ts';
import { requireWithinLoginWindow, toTimestampMs } from '../../auth/login-message.ts';
import { MAX_SIWE_LENGTH } from '../../auth/signed-acts.ts';
import { formatTierRequirement, getRequiredBalance, isTierAtLeast, type PaidTier } from '../../auth/tiers.ts';
import { TOKEN_LIFETIME_SECONDS, unauthenticated } from '../../auth/tokens.ts';
import { OracleError } from '../../errors.ts';
import { ADDRESS, COUNT, DECIMAL, listOf, namedObject, objectOf, SUCCESS, TIME } from '../../platform/validation.ts';
import { rawWalletInput, signatureInput, walletInput } from '../parameters.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

const LOGIN_ERRORS = ['UNAUTHENTICATED', 'TIER_REQUIRED', 'CONFLICT', 'CHAIN_UNREACHABLE'] as const;

/** Interface, sections 2.10 and 4.2: wallet login, gate token balances, and the JWKS of the tokens. */
export function accessRoutes({ access, chain: { addresses, chainId }, now }: Services): Route[] {
  return [
    route('POST /api/svc/oracle/verify', 'logInWithWallet', {
      tag: 'access',
      summary: 'Access token for a wallet that has a tier and signs a message',
      description:
        'The wallet signs `Verify svc balance: <wallet>:<timestamp>` (EIP-191), the address in any case, the timestamp exactly as sent. Contract wallets sign by EIP-1271, undeployed ones by ERC-6492. A message opens one session: a second login with it answers 409. A failed login (403, 503) does not consume it.',
      cost: 'rpc',
      body: LOGIN_BODY,
      reply: SESSION_REPLY,
      errors: LOGIN_ERRORS,
      handle: async ({ body }) => ({ body: toSessionReply(await access.logIn(body)) }),
    }),
    route('GET /api/svc/oracle/nonce', 'getLoginNonce', {
      tag: 'access',
      summary: 'Nonce for one EIP-4361 login, with the required message fields',
      reply: NONCE_REPLY,
      isLive: true,
      async handle() {
        const { nonce, expiresAt } = await access.acts.issueLoginNonce();
        const { domain, origin: uri } = access.siwe;
        return {
          headers: { 'Cache-Control': 'no-store' },
          body: {
            success: true as const,
            nonce,
            expiresAt: expiresAt.toISOString(),
            domain,
            uri,
            version: '1' as const,
            chainId: access.siwe.chainId,
          },
        };
      },
    }),
    route('POST /api/svc/oracle/siwe', 'logInWithSiwe', {
      tag: 'access',
      summary: 'Access token for a wallet that signs in with EIP-4361',
      cost: 'rpc',
      body: SIWE_BODY,
      reply: SESSION_REPLY,
      errors: LOGIN_ERRORS,
      handle: async ({ body }) => ({ body: toSessionReply(await access.logInBySiwe(body)) }),
    }),
    route('DELETE /api/svc/oracle/session', 'logOut', {
      tag: 'access',
      summary: 'Revokes the session of the token, whatever its tier',
      reply: LOGOUT_REPLY,
      errors: ['UNAUTHENTICATED'],
      variesByCaller: true,
      async handle({ caller: { sessionId, wallet, rejectedToken } }) {
        if (sessionId === undefined || wallet === undefined) throw unauthenticated(rejectedToken ?? 'Send the access token to revoke');
        const revokedAt = now();
        await access.logOut(sessionId);
        return { body: { success: true as const, wallet, revokedAt: revokedAt.toISOString() } };
      },
    }),
    route('GET /api/svc/verify/{wallet}', 'getWalletTier', {
      tag: 'access',
      summary: 'Gate token balance of a wallet and its tier',
      cost: 'rpc',
      params: z.object({ wallet: walletInput }),
      reply: WALLET_REPLY,
      errors: ['CHAIN_UNREACHABLE'],
      async handle({ params: { wallet } }) {
        const { tier, balance, blockNumber } = await access.getGateBalance(wallet);
        const requirement = (of: PaidTier) => ({ balance: getRequiredBalance(of), met: isTierAtLeast(tier, of) });
        const requirements = { basic: requirement('basic'), premium: requirement('premium') };
        const { gateToken } = addresses;
        return {
          body: { success: true as const, wallet, balance, tier, requirements, gateToken, chain: `eip155:${chainId}`, blockNumber },
        };
      },
    }),
    route('GET /.well-known/jwks.json', 'getTokenKeys', {
      tag: 'access',
      summary: 'Public keys of access tokens',
      reply: JWKS_REPLY,
      // Bounds how long a verifier trusts a revoked key.
      handle: async () => ({ headers: { 'Cache-Control': 'public, max-age=60' }, body: { keys: await access.keys.listPublicKeys() } }),
    }),
  ];
}

export function toSessionReply({ token, tier, wallet: address, gate, expiresAt }: OpenedSession): z.input<typeof SESSION_REPLY> {
  return {
    success: true,
    token,
    tier,
    expires_in: TOKEN_LIFETIME_SECONDS,
    expiresAt: expiresAt.toISOString(),
    wallet: address,
    balance: gate.balance,
    requirement: formatTierRequirement(tier),
    blockNumber: gate.blockNumber,
  };
}

/** Interface, section 4.2. */
export const LOGIN_BODY = z
  .strictObject({
    wallet: rawWalletInput,
    signature: signatureInput,
    timestamp: z
      .int('must be a whole number: Unix time in seconds or milliseconds')
      .min(0, 'must not be negative')
      .describe('Unix time in the signed message, seconds or milliseconds; within 5 minutes of the server clock'),
  })
  .meta({
    examples: [{ wallet: '0xa4510Be758e35c58cb09D0F558850000d2011bFf', signature: `0x${'0'.repeat(130)}`, timestamp: 1_796_015_666_047 }],
  });

const SIWE_BODY = z.strictObject({
  message: z
    .string()
    .max(MAX_SIWE_LENGTH, `must have at most ${MAX_SIWE_LENGTH} characters`)
    .describe('Signed EIP-4361 message with nonce, domain, URI and chain id of `GET /api/svc/oracle/nonce`'),
  signature: signatureInput,
});

const PAID_TIER = z.enum(['basic', 'premium']);
const BALANCE = DECIMAL.describe('Balance in whole gate tokens, an exact decimal; 0 without a gate token');
const BLOCK = COUNT.describe('Block of the balance: the newest confirmed one');

/** Interface, section 2.10, both shapes. */
export const SESSION_REPLY = namedObject('SessionResponse', {
  success: SUCCESS,
  token: z.string().describe('Access token, for `Authorization: Bearer <token>`'),
  tier: PAID_TIER.describe('Tier of the wallet'),
  expires_in: COUNT.describe('Lifetime of the token in seconds, from this answer on'),
  expiresAt: TIME.describe('Expiry of the token'),
  wallet: ADDRESS.describe('Wallet that logged in, checksummed'),
  balance: BALANCE,
  requirement: z.string().describe('Requirement of the tier'),
  blockNumber: BLOCK,
});

export const NONCE_REPLY = z.object({
  success: SUCCESS,
  nonce: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .describe('Single-use nonce'),
  expiresAt: TIME.describe('Valid until'),
  domain: z.string().describe('Required `domain` of the message'),
  uri: z.string().describe('Required `URI` of the message; paths below it are accepted'),
  version: z.literal('1').describe('Required `Version` of the message'),
  chainId: COUNT.describe('Required `Chain ID` of the message'),
});

export const LOGOUT_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('Wallet of the session'),
  revokedAt: TIME.describe('When the token was revoked'),
});

const REQUIREMENT = z.object({
  balance: DECIMAL.nullable().describe("Required whole gate tokens; null where the operator's list decides"),
  met: z.boolean().describe('Whether the wallet has the tier'),
});

export const WALLET_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('The wallet, checksummed'),
  balance: BALANCE,
  tier: z.enum(['public', ...PAID_TIER.options]).describe('Tier that a login would open; `public`: a login is rejected'),
  requirements: objectOf('Requirements by tier', {
    basic: REQUIREMENT.describe('Basic tier'),
    premium: REQUIREMENT.describe('Premium tier'),
  }),
  gateToken: ADDRESS.nullable().describe('ERC-20 gate token; null where the operator lists the wallets of the tiers'),
  chain: z.string().describe('Chain of the gate token, CAIP-2, e.g. `eip155:8453`'),
  blockNumber: BLOCK,
});

export const JWKS_REPLY = z.object({
  keys: listOf('Valid signing keys of access tokens, the active one first (RFC 7517)', {
    kty: z.literal('OKP').describe('Key type'),
    crv: z.literal('Ed25519').describe('Curve'),
    x: z.string().describe('Public key, base64url'),
    kid: z.string().describe('Key id, as `kid` in tokens: the RFC 7638 thumbprint'),
    alg: z.literal('EdDSA').describe('Signature algorithm'),
    use: z.literal('sig').describe('Purpose'),
  }),
});

interface SignedMessage {
  /** The signed text (EIP-191), with the timestamp as sent; of several spellings of it, any one may be signed. */
  message: string | string[];
  /** The same with placeholders, for the error. */
  template: string;
  wallet: Address;
  /** Unix time in seconds or milliseconds. */
  timestamp: number;
  signature: Hex;
}

/** @throws OracleError UNAUTHENTICATED naming `timestamp` or `signature`, CHAIN_UNREACHABLE */
export async function requireWalletSignature({ commerce, now }: Services, signed: SignedMessage): Promise<void> {
  const { message, template, wallet, timestamp, signature } = signed;
  requireWithinLoginWindow(toTimestampMs(timestamp), now(), 'timestamp');
  if (await commerce.isSignedBy({ wallet: getAddress(wallet), hash: [message].flat().map((text) => hashMessage(text)), signature })) return;
  throw new OracleError('UNAUTHENTICATED', 'The signature is not of this wallet over this message', {
    field: 'signature',
    suggestedAction: `Sign \`${template}\` with this wallet.`,
  });
}
