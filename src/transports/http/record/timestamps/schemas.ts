import { z } from 'zod';
import { HORIZON_NAMES } from '../../../../forecast/horizon-input.ts';
import { ADDRESS, BYTES32, COUNT, DATE, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';

const CALENDAR = z.object({
  url: z.url().describe('Calendar'),
  status: z
    .enum(['waiting', 'submitted', 'confirmed', 'abandoned'])
    .describe('`waiting`: not accepted yet; `submitted`: accepted, without a block; `confirmed`: in a block; `abandoned`: given up'),
});

const BLOCK = z.object({
  height: COUNT.describe('Height of a Bitcoin block that the proof names'),
  merkleRoot: z
    .string()
    .regex(/^[0-9a-f]+$/)
    .describe('Merkle root that the proof arrives at, as block explorers show it: compare it with that of the block'),
});

const TIMESTAMP = z.object({
  date: DATE.describe('Day of the forecasts'),
  document: z.string().describe('Exact text that is stamped: canonical JSON of the uids and commitments of the day, as they are on chain'),
  sha256: BYTES32.describe('SHA-256 of the document'),
  documentUrl: z.url().describe('The document as a file'),
  proofUrl: z.url().nullable().describe('The proof as a detached OpenTimestamps file; null before a calendar has accepted the day'),
  proof: z.base64().nullable().describe('The bytes of that file'),
  createdAt: TIME.describe('When stamping began'),
  calendars: z.array(CALENDAR).describe('Calendars that were asked'),
  blocks: z.array(BLOCK).describe('What the proof names, unverified: this service reads no Bitcoin block'),
});

/** Exact bytes: canonical JSON (RFC 8785). */
export const STAMPED_DOCUMENT = z.object({
  attester: ADDRESS.describe('Wallet of the attestations'),
  chainId: COUNT.describe('Chain of the attestations'),
  commitments: z
    .array(
      z.object({
        commitment: BYTES32.describe('Commitment on chain; zero for a day without a forecast'),
        horizon: z.enum(HORIZON_NAMES).describe('Horizon'),
        sequence: COUNT.describe('Number of the forecast in its horizon'),
        uid: BYTES32.describe('Attestation'),
      }),
    )
    .describe('Every forecast of the day'),
  date: DATE.describe('Day of the forecasts'),
  eas: ADDRESS.describe('EAS contract of the attestations'),
});

export const TIMESTAMPS = z.object({
  success: SUCCESS,
  data: z.array(TIMESTAMP).describe('Stamped days, newest first; none where the operator has set no calendar'),
  count: COUNT.describe('Number of entries'),
  nextCursor: DATE.nullable().describe('`before` of the next page; null on the last one'),
});

export type TimestampsReply = z.input<typeof TIMESTAMPS>;
