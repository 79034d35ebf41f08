import { z } from 'zod';
import { FEED_KINDS } from '../../../../market/feed.ts';
import { BYTES32, TIME } from '../../../../platform/validation/fields.ts';
import { ORACLE_SIGNAL } from '../../../../record/schemas/oracle.ts';
import { PREMIUM_SIGNAL } from '../../forecast/signal/premium-schemas.ts';

/** What every document begins with. */
export function buildHeadMembers<Kind extends string>(kind: Kind) {
  return {
    kind: z.literal(kind).describe('What it is: the name of its offering without `svc_`'),
    title: z.string().describe('Title of the offering'),
    generatedAt: TIME.describe('When it was made, and what it is about'),
    forecastId: z.string().nullable().describe('Id of the 7-day forecast that is sold with it, `YYYY-MM-DD:7d`; null where none is'),
    attestationUid: BYTES32.nullable().describe("Uid of that forecast's attestation; null where none is sold, or none is on chain yet"),
    source: z.string().describe('Where the market data comes from, e.g. `live` or `simulated (seed 2)`'),
    marketKind: z.enum(FEED_KINDS).describe('Kind of market data; `simulated` is a made-up market, `csv` a recorded one'),
    sentences: z.array(z.string()).describe('What it says, in plain sentences'),
  };
}

/** A forecast as it is sold: its values with what opens them. */
export const SOLD_FORECAST = {
  forecast: ORACLE_SIGNAL.omit({ success: true, access: true }).describe('The forecast, with what opens its commitment'),
  quantiles: PREMIUM_SIGNAL.shape.quantiles,
};
