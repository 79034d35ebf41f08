import type { Unread } from '../../verify/evidence.ts';
import { findNeighbours, type ShownRecord } from '../record/neighbours.ts';
import type { ApiResponses, ScorecardRow } from '../state/responses.ts';
import type { Session } from '../state/session.ts';
import { type CheckTask, checkRows, type OnFinding } from './check-rows.ts';
import { buildUncheckedFinding, type RowFinding } from './verify-row.ts';

export interface StoredFinding {
  finding: RowFinding;
  /** Time of the check. */
  at: Date;
  /** Host of the endpoint. */
  from: string;
  /** Whether its details are open. */
  open: boolean;
}

export type RowChecker = ReturnType<typeof createRowChecker>;

/** Chain and endpoint to check against; they may be missing when the reader clicks. */
export interface CheckSetup {
  getInfo: () => Promise<ApiResponses['info'] | null>;
  endpointNow: () => { url: string } | { problem: string } | null;
}

/** Checks rows and caches the findings while row and neighbours stay the same. */
export function createRowChecker(session: Session, setup: CheckSetup) {
  const stored = new Map<string, StoredFinding>();

  return {
    foundOf: (row: ScorecardRow, shown: ShownRecord) => stored.get(buildRowKey(row, shown)),
    async check(rows: readonly ScorecardRow[], options: { shown: ShownRecord; signal: AbortSignal; onFound: OnFinding }) {
      const { shown, signal, onFound } = options;
      const found = await loadSetup(setup);
      const from = 'problem' in found ? '' : new URL(found.endpoint).host;
      const onFinding: OnFinding = (row, finding) => {
        const key = buildRowKey(row, shown);
        stored.set(key, { finding, at: new Date(), from, open: stored.get(key)?.open ?? false });
        onFound(row, finding);
      };
      if ('problem' in found) for (const row of rows) onFinding(row, buildUncheckedFinding(found.problem));
      else await checkRows({ ...found, rows, shown, token: session.current?.token ?? null, signal, onFinding });
    },
  };
}

/** The cache key contains everything that a finding depends on. */
export function buildRowKey(row: ScorecardRow, { horizon, known }: ShownRecord) {
  const { before, ...closes } = findNeighbours(row, known);
  return JSON.stringify([horizon, row, before?.attestationUid, before?.sequence, closes]);
}

export async function loadSetup({ getInfo, endpointNow }: CheckSetup): Promise<Pick<CheckTask, 'info' | 'endpoint'> | Unread> {
  const info = await getInfo();
  const endpoint = endpointNow();
  if (info === null || endpoint === null) return { problem: 'the service has not named its chain' };
  return 'problem' in endpoint ? { problem: 'no usable RPC endpoint is entered' } : { info, endpoint: endpoint.url };
}
