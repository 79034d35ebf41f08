import { z } from 'zod';
import { MAX_SIWE_LENGTH } from '../../../auth/login/siwe-message.ts';
import { ADDRESS, COUNT, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { rawWalletInput, signatureInput } from '../server/parsing/wallet-parameters.ts';

/** Interface, section 4.2. */
export const LOGIN_BODY = z.strictObject({
  wallet: rawWalletInput,
  signature: signatureInput,
  timestamp: z
    .int('must be a whole number: Unix time in seconds or milliseconds')
    .min(0, 'must not be negative')
    .describe('Unix time as it stands in the signed message, in seconds or milliseconds; within 5 minutes of the time here'),
});

export const SIWE_BODY = z.strictObject({
  message: z
    .string()
    .max(MAX_SIWE_LENGTH, `must have at most ${MAX_SIWE_LENGTH} characters`)
    .describe('The signed message of EIP-4361, with the nonce, domain, URI and chain id of `GET /api/svc/oracle/nonce`'),
  signature: signatureInput,
});

const DECIMAL = z.string().regex(/^\d+(\.\d+)?$/);
const PAID_TIER = z.enum(['basic', 'premium']);
const BALANCE = DECIMAL.describe('Gate tokens of the wallet: whole tokens, an exact decimal');
const BLOCK = COUNT.describe('Block that the balance was read at: the newest one that counts as confirmed');

/** Interface, section 2.10: the fields of both shapes. */
export const SESSION_REPLY = z.object({
  success: SUCCESS,
  token: z.string().describe('Access token, to be sent as `Authorization: Bearer <token>`'),
  tier: PAID_TIER.describe('What the balance opens'),
  expires_in: COUNT.describe('Seconds until the token expires'),
  expiresAt: TIME.describe('When the token expires'),
  wallet: ADDRESS.describe('The wallet that logged in, with its checksum'),
  balance: BALANCE,
  requirement: z.string().describe('What the tier requires, in words'),
  blockNumber: BLOCK,
});

export const NONCE_REPLY = z.object({
  success: SUCCESS,
  nonce: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .describe('To be put into one message; it works once'),
  expiresAt: TIME.describe('Until when it can be used'),
  domain: z.string().describe('`domain` that the message must have'),
  uri: z.string().describe('`URI` that the message must have; a path below it is taken too'),
  version: z.literal('1').describe('`Version` that the message must have'),
  chainId: COUNT.describe('`Chain ID` that the message must have'),
});

export const LOGOUT_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('The wallet whose session ended'),
  revokedAt: TIME.describe('Since when the token is refused'),
});

const REQUIREMENT = z.object({
  balance: DECIMAL.describe('Whole gate tokens that the tier requires'),
  met: z.boolean().describe('Whether the wallet has them'),
});

export const WALLET_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('The wallet, with its checksum'),
  balance: BALANCE,
  tier: z.enum(['public', ...PAID_TIER.options]).describe('What a login with this wallet would open; `public`: a login is refused'),
  requirements: z
    .object({ basic: REQUIREMENT.describe('The Basic tier'), premium: REQUIREMENT.describe('The Premium tier') })
    .describe('What each tier requires'),
  gateToken: ADDRESS.describe('The ERC-20 contract whose balance counts'),
  chain: z.string().describe('Chain of that contract, CAIP-2, e.g. `eip155:8453`'),
  blockNumber: BLOCK,
});

const PUBLIC_KEY = z.object({
  kty: z.literal('OKP').describe('Kind of key'),
  crv: z.literal('Ed25519').describe('Its curve'),
  x: z.string().describe('The public key, base64url'),
  kid: z.string().describe('Its name, as in the `kid` header of tokens: the thumbprint of RFC 7638'),
  alg: z.literal('EdDSA').describe('What it signs with'),
  use: z.literal('sig').describe('What it is for'),
});

export const JWKS_REPLY = z.object({
  keys: z.array(PUBLIC_KEY).describe('Keys that a valid access token may be signed with, the active one first (RFC 7517)'),
});
