import { z } from 'zod';
import { listOf, objectOf } from '../../../../platform/validation/described.ts';
import { ADDRESS, COUNT, DATE } from '../../../../platform/validation/fields.ts';
import { HORIZON } from '../../../../record/schemas/forecast.ts';
import { PREDICTION_VERIFICATION } from '../../../../record/schemas/prediction-verification.ts';
import { TRACK_RECORD } from '../../../../record/schemas/track-record.ts';
import { buildHeadMembers } from './head-schemas.ts';

const COLUMNS = z.array(z.object({ name: z.string().describe('Column name'), description: z.string().describe('Content with its unit') }));

const ROWS = z.array(z.array(z.union([z.string(), z.number(), z.null()])));

const TABLE = z.object({
  columns: COLUMNS.describe('Columns, in the order of the cells'),
  rows: ROWS.describe('One array per row'),
});

export const VERIFIED_TRACK_RECORD = z.object({
  ...buildHeadMembers('verified_track_record'),
  audit: objectOf('What a verifier needs to recompute the record', {
    ...PREDICTION_VERIFICATION.shape.byHand.shape,
    schemaRegistry: ADDRESS.describe('EAS schema registry'),
    firstBlock: COUNT.nullable().describe("Block of the first attestation: the attester's events are complete from here; null before it"),
    firstDate: DATE.describe('First day of the record, UTC'),
    resolutionRule: z.string().describe('How an outcome follows from two closes'),
    priceRule: z.string().describe('How a close is computed from venue prices'),
    priceVenues: z.array(z.string()).describe('Venues of the closes'),
  }),
  columns: COLUMNS.describe('Columns of `horizons` rows, in the order of the cells'),
  horizons: listOf('The whole record of 1, 2, 3 and 7 days', {
    horizon: HORIZON.describe('Days of the outcome window'),
    statistics: TRACK_RECORD.shape.statistics.describe('Counts, accuracy and their significance, over all rows'),
    rows: ROWS.describe('All forecasts by sequence, HOLD, void, missed and pending included'),
  }),
  days: TABLE.describe('Shared facts of all forecasts of a day, by date'),
  transactions: TABLE.describe('Attestation transactions; rows of `horizons` reference them by index, from 0'),
});
