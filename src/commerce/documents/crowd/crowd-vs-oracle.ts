import { compareCrowdWithOracle } from '../../../record/crowd/crowd-against-oracle.ts';
import type { WeekComparison } from '../../../record/crowd/weekly-comparison.ts';
import { sanitizeText } from '../../../record/sanitize-text.ts';
import { type DocumentDeps, PAYER_CALLER } from '../deps.ts';
import type { DocumentBody } from '../document-head.ts';
import { probabilityToPercent } from '../format.ts';
import { composeCrowdEvidence } from './evidence.ts';

const MAX_QUESTION_CHARS = 160;

const COMMITMENT_NOTE =
  "Committed on chain are the forecasts; the oracle's probability of a strike is computed from them by the formula in `evidence`, and quotes and winners are the venue's words.";

/** Probabilities of market and oracle for the running week, and the scores of both over all settled weeks. */
export async function composeCrowdVsOracle(deps: DocumentDeps): Promise<DocumentBody> {
  const { source, timestamp, throughDate, total, nextCursor, ...comparison } = await compareCrowdWithOracle(deps, PAYER_CALLER);
  const { weeks, totals } = comparison;
  const now = deps.now();
  const running = weeks.find(({ expiresAt, status }) => status === 'PENDING' && Date.parse(expiresAt) > now.getTime()) ?? null;
  const forecastId = running?.predictionId ?? null;
  const [doc] = forecastId === null ? [] : await deps.record.listByIds([forecastId]);
  return {
    forecastId,
    attestationUid: doc?.attestation?.uid ?? null,
    sentences: [formatRunningWeek(running), `Over ${totals.weeks} settled weeks: ${totals.verdict}.`, ...comparison.notes, COMMITMENT_NOTE],
    running,
    ...comparison,
    evidence: await composeCrowdEvidence(deps, weeks),
  };
}

function formatRunningWeek(running: WeekComparison | null): string {
  if (running === null) return 'No strike of a week that is still running has been priced yet.';
  const { weekId, question, strike, marketProbability, oracleProbability, date } = running;
  const oracle = oracleProbability === null ? 'unknown' : probabilityToPercent(oracleProbability);
  return `${weekId}, "${sanitizeText(question, MAX_QUESTION_CHARS)}": for a price above ${strike} USD the market asked ${probabilityToPercent(marketProbability)} on ${date}, the oracle says ${oracle}.`;
}
