import type { Caller } from '../../auth/caller.ts';
import type { OracleDeps } from '../../record/oracle/deps.ts';
import type { PredictionVerificationDeps } from '../../record/verification/verify-prediction.ts';

/** What documents are composed from: the same as the answers of every door. */
export type DocumentDeps = OracleDeps & PredictionVerificationDeps;

/** Who reads what he has paid for. */
export const PAYER_CALLER: Caller = { tier: 'public', paid: true };

/** The horizon that a forecast is sold with unless the offering says otherwise. */
export const SOLD_HORIZON_DAYS = 7;
