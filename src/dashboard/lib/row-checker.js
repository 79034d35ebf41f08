import { checkRows } from './check-rows.js';
import { unchecked } from './verify.js';

/** @import { Answers, ScorecardRow } from './answers.ts' */
/** @import { Session } from './session.js' */
/** @import { Finding } from './verify.js' */

/**
 * What was found of a row as it stood, from which host, and whether the reader has the comparisons open.
 * @typedef {{ finding: Finding, from: string, open: boolean }} Found
 */

/** @typedef {ReturnType<typeof createRowChecker>} RowChecker */

/**
 * Checks rows, and remembers what was found of each for as long as the row says the same.
 * @param {{ session: Session, getInfo: () => Promise<Answers['info'] | null>, endpointNow: () => { url: string } | { problem: string } | null }} now
 */
export function createRowChecker({ session, getInfo, endpointNow }) {
  /** @type {Map<string, Found>} */
  const found = new Map();

  /** @param {ScorecardRow} row @param {Finding} finding @param {string} from */
  function keep(row, finding, from) {
    const key = keyOf(row);
    found.set(key, { finding, from, open: found.get(key)?.open ?? false });
  }

  return {
    /** @param {ScorecardRow} row */
    foundOf: (row) => found.get(keyOf(row)),
    /**
     * @param {readonly ScorecardRow[]} rows
     * @param {{ known: readonly ScorecardRow[], signal: AbortSignal, onFound: (row: ScorecardRow) => void }} options `known`: all rows of
     * the horizon
     */
    async check(rows, { known, signal, onFound }) {
      const info = await getInfo();
      const endpoint = endpointNow();
      const missing = whatIsMissing(info, endpoint);
      const from = endpoint !== null && 'url' in endpoint ? endpoint.url : '';
      const onFinding = (/** @type {ScorecardRow} */ row, /** @type {Finding} */ finding) => {
        keep(row, finding, from === '' ? '' : new URL(from).host);
        onFound(row);
      };
      if (missing !== null || info === null) for (const row of rows) onFinding(row, unchecked(missing ?? ''));
      else await checkRows({ rows, known, info, endpoint: from, token: session.current?.token ?? null, signal, onFinding });
    },
  };
}

/** A row that says something else is another row. @param {ScorecardRow} row */
export function keyOf(row) {
  return JSON.stringify(row);
}

/** @param {unknown} info @param {{ url: string } | { problem: string } | null} endpoint */
function whatIsMissing(info, endpoint) {
  if (info === null || endpoint === null) return 'the service has not said which chain it is on';
  return 'problem' in endpoint ? 'no RPC endpoint that can be asked is named above' : null;
}
