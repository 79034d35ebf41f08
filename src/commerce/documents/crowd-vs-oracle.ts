import { crowdAgainstOracle } from '../../record/crowd/against-oracle.ts';
import type { ComparisonTotals, WeekComparison } from '../../record/crowd/weekly-comparison.ts';
import { plainText } from '../../record/plain-text.ts';
import { crowdEvidence } from './crowd-evidence.ts';
import type { DocumentBody } from './document.ts';
import { type DocumentParts, PAYER } from './parts.ts';
import { percent } from './words.ts';

/** Longest question of a venue in a sentence. */
const MAX_QUESTION = 160;

const COMMITTED =
  "Committed on chain are the forecasts; the oracle's probability of a strike is computed from them by the formula in `evidence`, and quotes and winners are the venue's words.";

/** The running week's probabilities of both, and how both have scored in all weeks before. */
export async function crowdVsOracle(parts: DocumentParts): Promise<DocumentBody> {
  const { source: _, timestamp: __, throughDate: ___, ...comparison } = await crowdAgainstOracle(parts, PAYER);
  const { weeks, totals } = comparison;
  const now = parts.now();
  const running = weeks.find(({ expiresAt, status }) => status === 'PENDING' && Date.parse(expiresAt) > now.getTime()) ?? null;
  const forecastId = running?.predictionId ?? null;
  const [doc] = forecastId === null ? [] : await parts.record.byIds([forecastId]);
  return {
    forecastId,
    attestationUid: doc?.attestation?.uid ?? null,
    sentences: [runningSentence(running), totalsSentence(totals), ...comparison.notes, COMMITTED],
    running,
    ...comparison,
    evidence: await crowdEvidence(parts, weeks),
  };
}

function runningSentence(running: WeekComparison | null): string {
  if (running === null) return 'No strike of a week that is still running has been priced yet.';
  const { weekId, question, strike, marketProbability, oracleProbability, date } = running;
  const oracle = oracleProbability === null ? 'unknown' : percent(oracleProbability);
  return `${weekId}, "${plainText(question, MAX_QUESTION)}": for a price above ${strike} USD the market asked ${percent(marketProbability)} on ${date}, the oracle says ${oracle}.`;
}

function totalsSentence({ weeks, verdict }: ComparisonTotals): string {
  return `Over ${weeks} settled weeks: ${verdict}.`;
}
