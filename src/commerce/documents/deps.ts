import type { Caller } from '../../auth/caller.ts';
import type { OracleDeps } from '../../record/oracle/deps.ts';
import type { PredictionVerificationDeps } from '../../record/verification/verify-prediction.ts';

export type DocumentDeps = OracleDeps & PredictionVerificationDeps;

export const PAYER_CALLER: Caller = { tier: 'public', paid: true };
export const SOLD_HORIZON_DAYS = 7;
