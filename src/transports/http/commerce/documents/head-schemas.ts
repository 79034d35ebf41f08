import { z } from 'zod';
import { FEED_KINDS } from '../../../../market/feed.ts';
import { BYTES32, TIME } from '../../../../platform/validation/fields.ts';
import { ORACLE_SIGNAL } from '../../../../record/schemas/oracle.ts';
import { PREMIUM_SIGNAL } from '../../forecast/signal/premium-schemas.ts';

export function buildHeadMembers<Kind extends string>(kind: Kind) {
  return {
    kind: z.literal(kind).describe('Document kind: its offering name without `svc_`'),
    title: z.string().describe('Title of the offering'),
    generatedAt: TIME.describe('When it was generated, and its reference time'),
    forecastId: z.string().nullable().describe('Id of the included 7-day forecast, `YYYY-MM-DD:7d`; null where none is'),
    attestationUid: BYTES32.nullable().describe('UID of its attestation; null where none is included or on chain yet'),
    source: z.string().describe('Market data source, e.g. `live` or `simulated (seed 2)`'),
    marketKind: z.enum(FEED_KINDS).describe('Kind of market data; `simulated` is synthetic, `csv` recorded'),
    sentences: z.array(z.string()).describe('Summary in plain sentences'),
  };
}

/** A sold forecast with the opening of its commitment. */
export const SOLD_FORECAST = {
  forecast: ORACLE_SIGNAL.omit({ success: true, access: true }).describe('Forecast with the opening of its commitment'),
  quantiles: PREMIUM_SIGNAL.shape.quantiles,
};
