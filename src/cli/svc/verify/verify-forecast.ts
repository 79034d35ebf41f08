import { zeroHash } from 'viem';
import { type AuditPrices, fetchPriceEvidence } from '../../../audit/prices/audit-prices.ts';
import { type CheckedRow, checkForecast } from '../../../verify/checks/forecast.ts';
import { checkInTime, checkLink, checkOnePrediction, checkWindow, getCloseDays, toSubject } from '../../../verify/checks/prediction.ts';
import { matchResolutions } from '../../../verify/checks/resolution.ts';
import { checkFollows, checkHorizon } from '../../../verify/checks/sequence.ts';
import type { Prediction, Resolution } from '../../../verify/evidence.ts';
import { createFindings, type Findings, NO_SUBJECT } from '../../../verify/findings.ts';
import { describeQuery, type ForecastQuery } from './forecast-query.ts';
import { type ForecastSearch, findCommitments, locatePrediction, locateResolutions, readByUid } from './locate.ts';

interface VerifyOptions extends Omit<ForecastSearch, 'findings'> {
  query: ForecastQuery;
  /** Independent closes; null: those on chain are not checked. */
  prices: AuditPrices | null;
}

export interface ForecastVerification {
  /** Null: no readable prediction of the query is on chain. */
  row: CheckedRow | null;
  findings: Findings;
}

/**
 * Reads a forecast from the chain and checks everything that the chain shows about it.
 * @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID
 */
export async function verifyForecast({ query, prices, ...where }: VerifyOptions): Promise<ForecastVerification> {
  const search = { ...where, findings: createFindings() };
  const { findings, now } = search;
  const prediction = await locatePrediction(search, query);
  if (prediction === null) {
    if (findings.list.length === 0) findings.fail('found', NO_SUBJECT, reportMissing(query));
    return { row: null, findings };
  }
  checkHorizon(prediction, findings);
  checkWindow(prediction, findings);
  checkInTime(prediction, undefined, findings);
  checkOnePrediction(prediction, await findCommitments(search, prediction.data), findings);
  await checkPredecessor(search, prediction);
  const resolution = await findResolution(search, prediction);
  const row = checkForecast(prediction, resolution, {
    prices:
      prices === null || resolution === null
        ? { problem: 'no independent prices were named: --prices live, or a CSV file' }
        : await fetchPriceEvidence(prices, Object.values(getCloseDays(prediction))),
    ...(resolution === null && {
      opening: { problem: 'the resolution reveals the values (Basic and Premium see salt and values before)' },
    }),
    ...{ now, findings },
  });
  findings.leave('sequence', toSubject(prediction), 'the rest of the record was not read: svc verify all, or svc audit', false);
  return { row, findings };
}

function reportMissing(query: ForecastQuery) {
  const because = `no readable ${describeQuery(query)} of this attester is on chain`;
  return { field: 'uid', expected: 'an attestation', actual: null, because };
}

/** The forecast must refer to that of the day before, so that a dropped or rewritten one shows. */
async function checkPredecessor(search: ForecastSearch, prediction: Prediction): Promise<void> {
  const { sequence, horizonDays } = prediction.data;
  const { refUid } = prediction;
  // Findings about the predecessor are discarded; only its existence counts here.
  const isFirst = sequence === 1 || refUid === zeroHash;
  const before = isFirst ? null : await readByUid({ ...search, findings: createFindings() }, 'prediction', refUid);
  const fits = before !== null && before.data.horizonDays === horizonDays && before.data.sequence === sequence - 1;
  if (fits) checkFollows(prediction, before, search.findings);
  else checkLink(prediction, undefined, search.findings);
}

async function findResolution(search: ForecastSearch, prediction: Prediction): Promise<Resolution | null> {
  if (prediction.data.resolvesAt > search.now) return null;
  const { resolutions, throughBlock, head } = await locateResolutions(search, prediction);
  const first = matchResolutions([prediction], resolutions, search.findings).get(prediction.uid) ?? null;
  if (first === null && throughBlock < head) {
    const because = `its resolution was searched up to block ${throughBlock} of ${head}; svc audit searches all`;
    search.findings.leave('revealed', toSubject(prediction), because);
  }
  return first;
}
