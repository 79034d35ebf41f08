import type { Caller } from '../../record/caller.ts';
import type { OracleParts } from '../../record/oracle/parts.ts';
import type { PredictionVerificationParts } from '../../record/prediction-verification.ts';

/** What documents are composed from: the same as the answers of every door. */
export type DocumentParts = OracleParts & PredictionVerificationParts;

/** Who reads what he has paid for. */
export const PAYER: Caller = { tier: 'public', paid: true };

/** The horizon that a forecast is sold with unless the offering says otherwise. */
export const SOLD_HORIZON_DAYS = 7;
