import { checkRows } from './check-rows.js';
import { neighboursOf } from './neighbours.js';
import { unchecked } from './verify.js';

/** @import { Answers, ScorecardRow } from '../state/answers.ts' */
/** @import { Shown } from './neighbours.js' */
/** @import { Session } from '../state/session.js' */
/** @import { Finding } from './verify.js' */

/**
 * What was found of a row as it stood, when, from which host, and whether the reader has the comparisons open.
 * @typedef {{ finding: Finding, at: Date, from: string, open: boolean }} Found
 */

/** @typedef {ReturnType<typeof createRowChecker>} RowChecker */

/**
 * Checks rows, and remembers what was found of each for as long as the row, and what others say that bears on it, is the same.
 * @param {{ session: Session, getInfo: () => Promise<Answers['info'] | null>, endpointNow: () => { url: string } | { problem: string } | null }} now
 */
export function createRowChecker({ session, getInfo, endpointNow }) {
  /** @type {Map<string, Found>} */
  const found = new Map();

  return {
    /** @param {ScorecardRow} row @param {Shown} shown */
    foundOf: (row, shown) => found.get(keyOf(row, shown)),
    /**
     * @param {readonly ScorecardRow[]} rows
     * @param {{ shown: Shown, signal: AbortSignal, onFound: (row: ScorecardRow, finding: Finding) => void }} options
     */
    async check(rows, { shown, signal, onFound }) {
      const info = await getInfo();
      const endpoint = endpointNow();
      const missing = whatIsMissing(info, endpoint);
      const url = endpoint !== null && 'url' in endpoint ? endpoint.url : '';
      const from = url === '' ? '' : new URL(url).host;
      const onFinding = (/** @type {ScorecardRow} */ row, /** @type {Finding} */ finding) => {
        const key = keyOf(row, shown);
        found.set(key, { finding, at: new Date(), from, open: found.get(key)?.open ?? false });
        onFound(row, finding);
      };
      if (missing !== null || info === null) for (const row of rows) onFinding(row, unchecked(missing ?? ''));
      else await checkRows({ rows, shown, info, endpoint: url, token: session.current?.token ?? null, signal, onFinding });
    },
  };
}

/**
 * A row that says something else, or stands among others, is another row.
 * @param {ScorecardRow} row
 * @param {Shown} shown
 */
export function keyOf(row, { horizon, known }) {
  const { before, ...closes } = neighboursOf(row, known);
  return JSON.stringify([horizon, row, before?.attestationUid, before?.sequence, closes]);
}

/** @param {unknown} info @param {{ url: string } | { problem: string } | null} endpoint */
function whatIsMissing(info, endpoint) {
  if (info === null || endpoint === null) return 'the service has not said which chain it is on';
  return 'problem' in endpoint ? 'no RPC endpoint that can be asked is named above' : null;
}
