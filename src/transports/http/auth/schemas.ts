import { z } from 'zod';
import { MAX_SIWE_LENGTH } from '../../../auth/login/siwe-message.ts';
import { ADDRESS, COUNT, DECIMAL, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { rawWalletInput, signatureInput } from '../server/parsing/wallet-parameters.ts';

/** Interface, section 4.2. */
export const LOGIN_BODY = z.strictObject({
  wallet: rawWalletInput,
  signature: signatureInput,
  timestamp: z
    .int('must be a whole number: Unix time in seconds or milliseconds')
    .min(0, 'must not be negative')
    .describe('Unix time in the signed message, seconds or milliseconds; within 5 minutes of the server clock'),
});

export const SIWE_BODY = z.strictObject({
  message: z
    .string()
    .max(MAX_SIWE_LENGTH, `must have at most ${MAX_SIWE_LENGTH} characters`)
    .describe('Signed EIP-4361 message with nonce, domain, URI and chain id of `GET /api/svc/oracle/nonce`'),
  signature: signatureInput,
});

const PAID_TIER = z.enum(['basic', 'premium']);
const BALANCE = DECIMAL.describe('Balance in whole gate tokens, an exact decimal');
const BLOCK = COUNT.describe('Block of the balance: the newest confirmed one');

/** Interface, section 2.10, both shapes. */
export const SESSION_REPLY = z.object({
  success: SUCCESS,
  token: z.string().describe('Access token, for `Authorization: Bearer <token>`'),
  tier: PAID_TIER.describe('Tier by the balance'),
  expires_in: COUNT.describe('Seconds until expiry'),
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
  balance: DECIMAL.describe('Required whole gate tokens'),
  met: z.boolean().describe('Whether the wallet holds them'),
});

export const WALLET_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('The wallet, checksummed'),
  balance: BALANCE,
  tier: z.enum(['public', ...PAID_TIER.options]).describe('Tier that a login would open; `public`: a login is rejected'),
  requirements: z
    .object({ basic: REQUIREMENT.describe('Basic tier'), premium: REQUIREMENT.describe('Premium tier') })
    .describe('Requirements by tier'),
  gateToken: ADDRESS.describe('ERC-20 gate token'),
  chain: z.string().describe('Chain of the gate token, CAIP-2, e.g. `eip155:8453`'),
  blockNumber: BLOCK,
});

const PUBLIC_KEY = z.object({
  kty: z.literal('OKP').describe('Key type'),
  crv: z.literal('Ed25519').describe('Curve'),
  x: z.string().describe('Public key, base64url'),
  kid: z.string().describe('Key id, as `kid` in tokens: the RFC 7638 thumbprint'),
  alg: z.literal('EdDSA').describe('Signature algorithm'),
  use: z.literal('sig').describe('Purpose'),
});

export const JWKS_REPLY = z.object({
  keys: z.array(PUBLIC_KEY).describe('Valid signing keys of access tokens, the active one first (RFC 7517)'),
});
