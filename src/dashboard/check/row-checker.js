import { findNeighbours } from '../record/neighbours.js';
import { checkRows } from './check-rows.js';
import { buildUncheckedFinding } from './verify-row.js';

/** @import { ApiResponses, ScorecardRow } from '../state/responses.ts' */
/** @import { ShownRecord } from '../record/neighbours.js' */
/** @import { Session } from '../state/session.js' */
/** @import { Finding } from './verify-row.js' */

/**
 * The finding of a row; `open`: whether its details are open.
 * @typedef {{ finding: Finding, at: Date, from: string, open: boolean }} StoredFinding
 */

/** @typedef {ReturnType<typeof createRowChecker>} RowChecker */

/**
 * Checks rows and caches the findings while row and neighbours stay the same.
 * @param {{ session: Session, getInfo: () => Promise<ApiResponses['info'] | null>, endpointNow: () => { url: string } | { problem: string }
 * | null }} now
 */
export function createRowChecker({ session, getInfo, endpointNow }) {
  /** @type {Map<string, StoredFinding>} */
  const found = new Map();

  return {
    /** @param {ScorecardRow} row @param {ShownRecord} shown */
    foundOf: (row, shown) => found.get(buildRowKey(row, shown)),
    /**
     * @param {readonly ScorecardRow[]} rows
     * @param {{ shown: ShownRecord, signal: AbortSignal, onFound: (row: ScorecardRow, finding: Finding) => void }} options
     */
    async check(rows, { shown, signal, onFound }) {
      const info = await getInfo();
      const endpoint = endpointNow();
      const missing = explainMissingSetup(info, endpoint);
      const url = endpoint !== null && 'url' in endpoint ? endpoint.url : '';
      const from = url === '' ? '' : new URL(url).host;
      const onFinding = (/** @type {ScorecardRow} */ row, /** @type {Finding} */ finding) => {
        const key = buildRowKey(row, shown);
        found.set(key, { finding, at: new Date(), from, open: found.get(key)?.open ?? false });
        onFound(row, finding);
      };
      if (missing !== null || info === null) for (const row of rows) onFinding(row, buildUncheckedFinding(missing ?? ''));
      else await checkRows({ rows, shown, info, endpoint: url, token: session.current?.token ?? null, signal, onFinding });
    },
  };
}

/** The cache key contains everything that a finding depends on. @param {ScorecardRow} row @param {ShownRecord} shown */
export function buildRowKey(row, { horizon, known }) {
  const { before, ...closes } = findNeighbours(row, known);
  return JSON.stringify([horizon, row, before?.attestationUid, before?.sequence, closes]);
}

/** @param {unknown} info @param {{ url: string } | { problem: string } | null} endpoint */
function explainMissingSetup(info, endpoint) {
  if (info === null || endpoint === null) return 'the service has not named its chain';
  return 'problem' in endpoint ? 'no usable RPC endpoint is entered above' : null;
}
