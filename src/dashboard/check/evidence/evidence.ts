import type { AttestationRead } from '../../chain/attestations.ts';
import type { Neighbours, ShownRecord } from '../../record/neighbours.ts';
import type { ApiResponses, ScorecardRow } from '../../state/responses.ts';
import type { Check, OpenCheck } from '../check-list.ts';

export interface CheckTask {
  rows: readonly ScorecardRow[];
  shown: ShownRecord;
  info: ApiResponses['info'];
  endpoint: string;
  token: string | null;
  signal: AbortSignal;
  onFinding: (row: ScorecardRow, finding: Finding) => void;
}

export interface CommittedPrediction {
  uid: string;
  time: number;
  day: number;
  horizonDays: number;
}

/** All predictions of the wallet in blocks `from` to `to`. Times in seconds since 1970. */
export interface CommitmentsRead {
  from: number;
  to: number;
  since: number;
  /** Time of the newest block. */
  newest: number;
  committed: readonly CommittedPrediction[];
  /** The limit that was exceeded, in which case none was read. */
  tooMany?: number;
}

export type Commitments = CommitmentsRead | { problem: string };

/** Evidence for one row. `resolution`, `previous`: null when the row names none. */
export interface Evidence {
  row: ScorecardRow;
  /** Chosen by the reader, in days. */
  horizon: number;
  attester: string;
  prediction: AttestationRead;
  resolution: AttestationRead | null;
  neighbours: Neighbours;
  previous: AttestationRead | null;
  commitments: Commitments;
  /** Opens an unresolved call for readers who may see it. */
  salt: string | null;
  metadata: { bytes: Uint8Array } | { problem: string } | null;
  now: Date;
}

/** `verified`: every comparison agrees; `mismatch`: one does not; `unchecked`: none could be made. `stage`: state that the row claims. */
export interface Finding {
  verdict: 'verified' | 'mismatch' | 'unchecked';
  stage: 'over' | 'open' | 'void';
  summary: string;
  checks: readonly Check[];
  open: readonly OpenCheck[];
}
