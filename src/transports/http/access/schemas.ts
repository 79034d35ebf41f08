import { z } from 'zod';
import { MAX_SIWE_LENGTH } from '../../../auth/login/siwe-message.ts';
import { ADDRESS, COUNT, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { signatureInput, walletInput } from '../server/parsing/wallet-parameters.ts';

const MAX_LABEL_LENGTH = 60;
const MAX_KEY_DAYS = 3_650;

/** Letters, digits and punctuation of one line, visible from the first on: no control characters, none that reverse text, no halves of surrogates. */
const LABEL =
  /^[!-~\u00a1-\u1fff\u2c00-\ud7ff\uf900-\ufefe\uff00-\uffef][ -~\u00a0-\u1fff\u2010-\u2027\u2c00-\ud7ff\uf900-\ufefe\uff00-\uffef]*$/;

const TIER = z.enum(['basic', 'premium'], 'must be basic or premium');

/** What a wallet signs is composed for it: the address is written with its checksum. */
export const KEY_TEXT_BODY = z.strictObject({
  wallet: walletInput,
  label: z
    .string()
    .min(1, 'must not be empty')
    .max(MAX_LABEL_LENGTH, `must have at most ${MAX_LABEL_LENGTH} characters`)
    .regex(LABEL, 'must be one line of letters, digits and punctuation')
    .describe('What the key is for; shown to the owner alone'),
  tier: TIER.describe('Upper bound of what the key may do; the balance of the wallet must give it now, and bounds it at each use'),
  expiresInDays: z
    .int('must be a whole number of days')
    .min(1, 'must be at least 1')
    .max(MAX_KEY_DAYS, `must be at most ${MAX_KEY_DAYS}`)
    .nullable()
    .optional()
    .describe('Days until the key ends by itself; absent or null: never'),
});

const accessId = z.string().regex(/^[\w.~:-]{1,128}$/, 'must be the id of an entry of GET /api/svc/oracle/access');

export const ACCESS_TEXT_BODY = z.strictObject({
  wallet: walletInput,
  revoke: accessId.nullable().optional().describe('Id of the key or the application that the text ends; absent or null: it lists alone'),
});

/** A composed text and its signature. */
export const SIGNED_BODY = z.strictObject({
  message: z
    .string()
    .max(MAX_SIWE_LENGTH, `must have at most ${MAX_SIWE_LENGTH} characters`)
    .describe('The composed EIP-4361 text, unchanged'),
  signature: signatureInput,
});

export const TEXT_REPLY = z.object({
  success: SUCCESS,
  message: z.string().describe('EIP-4361 text for `personal_sign`, to be sent back as it is with its signature'),
  expiresAt: TIME.describe('Accepted until'),
});

const ENTRY = z.object({
  id: z.string().describe('Id for `DELETE /api/svc/oracle/access/{id}`; grants nothing'),
  kind: z.enum(['key', 'application']).describe('`key`: an API key of a bot; `application`: authorised by OAuth'),
  name: z.string().describe('Label of the key, or the host of the client id of the application'),
  tier: z.enum(['basic', 'premium']).describe('Upper bound of its tier'),
  createdAt: TIME.describe('When it was granted'),
  lastUsedAt: TIME.nullable().describe('Last use, exact to a minute; null: never used'),
  expiresAt: TIME.nullable().describe('When it ends by itself; null: when it is revoked'),
});

export const KEY_REPLY = z.object({
  success: SUCCESS,
  key: z.string().describe('The key, for `Authorization: Bearer <key>`. Shown in this answer only'),
  wallet: ADDRESS.describe('Wallet that made it, checksummed'),
  ...ENTRY.shape,
});

export const ACCESS_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('The wallet, checksummed'),
  access: z.array(ENTRY).describe('Live keys and applications, newest first'),
  count: COUNT.describe('Number of entries'),
  maxKeys: COUNT.describe('API keys that a wallet may have at a time'),
});

export const ACCESS_ID = z.object({
  id: accessId.describe('Id of a key or an application'),
});

export const ENDED_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('The wallet, checksummed'),
  id: z.string().describe('What was revoked; requests with it are rejected from now on'),
  revokedAt: TIME.describe('When it was revoked'),
});
