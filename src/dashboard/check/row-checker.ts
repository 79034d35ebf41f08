import { findNeighbours, type ShownRecord } from '../record/neighbours.ts';
import type { ApiResponses, ScorecardRow } from '../state/responses.ts';
import type { Session } from '../state/session.ts';
import { checkRows } from './check-rows.ts';
import type { RowFinding } from './evidence/evidence.ts';
import { buildUncheckedFinding } from './verify-row.ts';

/** The finding of a row. */
export interface StoredFinding {
  finding: RowFinding;
  at: Date;
  from: string;
  /** Whether its details are open. */
  open: boolean;
}

export type RowChecker = ReturnType<typeof createRowChecker>;

interface RowCheckerOptions {
  session: Session;
  getInfo: () => Promise<ApiResponses['info'] | null>;
  endpointNow: () => { url: string } | { problem: string } | null;
}

/** Checks rows and caches the findings while row and neighbours stay the same. */
export function createRowChecker({ session, getInfo, endpointNow }: RowCheckerOptions) {
  const found = new Map<string, StoredFinding>();

  return {
    foundOf: (row: ScorecardRow, shown: ShownRecord) => found.get(buildRowKey(row, shown)),
    async check(
      rows: readonly ScorecardRow[],
      { shown, signal, onFound }: { shown: ShownRecord; signal: AbortSignal; onFound: (row: ScorecardRow, finding: RowFinding) => void },
    ) {
      const info = await getInfo();
      const endpoint = endpointNow();
      const missing = explainMissingSetup(info, endpoint);
      const url = endpoint !== null && 'url' in endpoint ? endpoint.url : '';
      const from = url === '' ? '' : new URL(url).host;
      const onFinding = (row: ScorecardRow, finding: RowFinding) => {
        const key = buildRowKey(row, shown);
        found.set(key, { finding, at: new Date(), from, open: found.get(key)?.open ?? false });
        onFound(row, finding);
      };
      if (missing !== null || info === null) for (const row of rows) onFinding(row, buildUncheckedFinding(missing ?? ''));
      else await checkRows({ rows, shown, info, endpoint: url, token: session.current?.token ?? null, signal, onFinding });
    },
  };
}

/** The cache key contains everything that a finding depends on. */
export function buildRowKey(row: ScorecardRow, { horizon, known }: ShownRecord) {
  const { before, ...closes } = findNeighbours(row, known);
  return JSON.stringify([horizon, row, before?.attestationUid, before?.sequence, closes]);
}

function explainMissingSetup(info: unknown, endpoint: { url: string } | { problem: string } | null) {
  if (info === null || endpoint === null) return 'the service has not named its chain';
  return 'problem' in endpoint ? 'no usable RPC endpoint is entered above' : null;
}
