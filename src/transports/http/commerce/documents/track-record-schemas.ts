import { z } from 'zod';
import { ADDRESS, COUNT, DATE } from '../../../../platform/validation/fields.ts';
import { HORIZON } from '../../../../record/schemas/forecast.ts';
import { PREDICTION_VERIFICATION } from '../../../../record/schemas/prediction-verification.ts';
import { TRACK_RECORD } from '../../../../record/schemas/track-record.ts';
import { buildHeadMembers } from './head-schemas.ts';

const COLUMNS = z.array(
  z.object({ name: z.string().describe('Name of the column'), description: z.string().describe('What stands in it, with its unit') }),
);

const ROWS = z.array(z.array(z.union([z.string(), z.number(), z.null()])));

const TABLE = z.object({
  columns: COLUMNS.describe('What the cells of a row are, in their order'),
  rows: ROWS.describe('One array a row'),
});

/** `svc_verified_track_record`. */
export const VERIFIED_TRACK_RECORD = z.object({
  ...buildHeadMembers('verified_track_record'),
  audit: z
    .object({
      ...PREDICTION_VERIFICATION.shape.byHand.shape,
      schemaRegistry: ADDRESS.describe("EAS's registry of schemas there"),
      firstBlock: COUNT.nullable().describe(
        'Block of the first attestation: events of the attester are complete from here on; null before it',
      ),
      firstDate: DATE.describe('First day of the record, UTC'),
      resolutionRule: z.string().describe('How an outcome follows from two closes, in words'),
      priceRule: z.string().describe('How a close is made of the prices of venues, in words'),
      priceVenues: z.array(z.string()).describe('Venues whose closes outcomes were decided with'),
    })
    .describe('What a stranger needs to compute all of it again'),
  columns: COLUMNS.describe('What the cells of a row of `horizons` are, in their order'),
  horizons: z
    .array(
      z.object({
        horizon: HORIZON.describe('Days of the outcome window'),
        statistics: TRACK_RECORD.shape.statistics.describe('Counts, accuracy and what they are worth, over all rows'),
        rows: ROWS.describe('Every forecast, by rising sequence; HOLD, void, missed and pending ones included'),
      }),
    )
    .describe('The whole record of 1, 2, 3 and 7 days'),
  days: TABLE.describe('What all forecasts of a day have in common, by rising date'),
  transactions: TABLE.describe('Transactions of the attestations; rows of `horizons` name them by their index, from 0'),
});
