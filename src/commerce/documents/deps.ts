import type { Caller } from '../../auth/caller.ts';
import type { OracleDeps } from '../../record/oracle/deps.ts';
import type { RecordCheckDeps } from '../../record/verification/forecast-evidence.ts';

export type DocumentDeps = OracleDeps & RecordCheckDeps;

export const PAYER_CALLER: Caller = { tier: 'public', paid: true };
export const SOLD_HORIZON_DAYS = 7;
