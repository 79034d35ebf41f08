import type { Finding } from '../../../verify/findings.ts';
import type { ShownRecord } from '../../record/neighbours.ts';
import type { ApiResponses, ScorecardRow } from '../../state/responses.ts';

export interface CheckTask {
  rows: readonly ScorecardRow[];
  shown: ShownRecord;
  info: ApiResponses['info'];
  endpoint: string;
  token: string | null;
  signal: AbortSignal;
  onFinding: (row: ScorecardRow, finding: RowFinding) => void;
}

/** `verified`: every check that is due passes; `mismatch`: one fails; `unchecked`: one could not be made. `stage`: state that the row claims. */
export interface RowFinding {
  verdict: 'verified' | 'mismatch' | 'unchecked';
  stage: 'over' | 'open' | 'void';
  summary: string;
  findings: readonly Finding[];
}
