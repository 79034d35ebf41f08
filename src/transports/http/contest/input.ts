import { z } from 'zod';
import { MARKET_ID_PATTERN } from '../../../contest/rounds/round.ts';
import { MAX_PROBABILITY_BPS, MIN_PROBABILITY_BPS } from '../../../contest/scoring/score.ts';
import { signatureInput, walletInput } from '../server/parsing/wallet-parameters.ts';

export const MARKET = z
  .string({ error: 'must be given once, as a market id' })
  .max(40, 'is too long for a market id')
  .regex(MARKET_ID_PATTERN, 'must be a market id, e.g. 2026-W32-62000')
  .describe('Market id, from GET /api/svc/clawstake/markets');

const PROBABILITY_RANGE = `must be a whole number of basis points from ${MIN_PROBABILITY_BPS} to ${MAX_PROBABILITY_BPS}`;
const TIME_RANGE = 'must be a time in whole milliseconds since 1970';

export const COMMIT_BODY = z.strictObject({
  market: MARKET,
  wallet: walletInput.describe('Committing wallet; in mixed case its EIP-55 checksum must be valid'),
  probabilityBps: z
    .int({ error: PROBABILITY_RANGE })
    .min(MIN_PROBABILITY_BPS, PROBABILITY_RANGE)
    .max(MAX_PROBABILITY_BPS, PROBABILITY_RANGE)
    .describe('P(close above the strike), basis points'),
  issuedAtMs: z
    .int({ error: TIME_RANGE })
    .min(0, TIME_RANGE)
    .describe('Time of the signature, Unix milliseconds; the newest commitment per wallet and market counts'),
  signature: signatureInput.describe('EIP-712 signature of the four fields above; contract wallets by EIP-1271 or ERC-6492'),
});
