import { createCheckList } from './check-list.js';
import { checkOpenRow, checkPrediction } from './verify-prediction.js';
import { checkResolution } from './verify-resolution.js';

/** @import { ScorecardRow } from './answers.ts' */
/** @import { Check, Open } from './check-list.js' */
/** @import { Attestation } from './eas.js' */

/**
 * An attestation as an endpoint answers with it; null where its chain has none. A problem is that it could not be read at all.
 * @typedef {{ attestation: Attestation | null } | { problem: string }} Reading
 */

/**
 * What a row is held against. `previousUid` is that of the day before of the same horizon, null where it is not known; `resolution` is
 * null where the row names none; `salt` opens a forecast that is not resolved, for those who may know it.
 * @typedef {{
 *   row: ScorecardRow, attester: string, prediction: Reading, resolution: Reading | null, previousUid: string | null,
 *   salt: string | null, metadata: { bytes: Uint8Array } | { problem: string } | null, now: Date,
 * }} Evidence
 */

/**
 * What came of checking a row. `verified`: everything that could be compared agrees; `mismatch`: something does not; `unchecked`: it
 * could not be compared, which says nothing of the row.
 * @typedef {{ verdict: 'verified' | 'mismatch' | 'unchecked', words: string, checks: readonly Check[], open: readonly Open[] }} Finding
 */

/**
 * A row of the scorecard against the chain.
 * @param {Evidence} evidence
 * @returns {Finding}
 */
export function checkRow(evidence) {
  const { row, prediction, resolution } = evidence;
  if (row.attestationUid === null) return unchecked(`it is not on chain yet: that has to be before ${row.windowOpensAt.slice(0, 16)} UTC`);
  if ('problem' in prediction) return unchecked(prediction.problem);
  const first = createCheckList('prediction');
  const second = createCheckList('resolution');
  const committed = checkPrediction(first, evidence, prediction.attestation);
  if (committed !== null && resolution === null) checkOpenRow(first, evidence, committed);
  if (committed !== null && resolution !== null && 'attestation' in resolution) {
    checkResolution(second, evidence, { found: resolution.attestation, committed });
  }
  const reason = resolution !== null && 'problem' in resolution ? resolution.problem : null;
  return findingOf({ checks: [...first.checks, ...second.checks], open: [...first.open, ...second.open] }, reason);
}

/**
 * @param {{ checks: readonly Check[], open: readonly Open[] }} compared
 * @param {string | null} reason why not everything could be compared that should have been
 * @returns {Finding}
 */
function findingOf({ checks, open }, reason) {
  const wrong = [...new Set(checks.filter(({ ok }) => !ok).map(({ about, field }) => `${about} ${field}`))];
  if (wrong.length > 0) return { verdict: 'mismatch', words: `Does not match: ${wrong.join(', ')}`, checks, open };
  if (reason !== null) return { ...unchecked(reason), checks, open };
  return { verdict: 'verified', words: `Verified: ${checks.length} checks`, checks, open };
}

/**
 * @param {string} reason
 * @returns {Finding}
 */
export function unchecked(reason) {
  return { verdict: 'unchecked', words: `Could not be checked: ${reason}`, checks: [], open: [] };
}
