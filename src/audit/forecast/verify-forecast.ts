import type { Hex } from 'viem';
import { parseDay } from '../../forecast/day.ts';
import { HORIZONS, type HorizonName } from '../../forecast/model.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import { UsageError } from '../../platform/usage-error.ts';
import { checkForecastEvidence } from '../../verify/check-forecast-evidence.ts';
import { checkAttestation } from '../../verify/checks/attestation.ts';
import { toSubject } from '../../verify/checks/prediction.ts';
import type { CheckContext, ForecastEvidence, Prediction } from '../../verify/evidence.ts';
import { createFindings, NO_SUBJECT } from '../../verify/findings.ts';
import * as collector from '../chain/collect-forecast-evidence.ts';
import { readServedDistributions } from '../claims/check-distributions.ts';
import { type ReadBlock, readServedTimestamp } from '../claims/check-timestamps.ts';
import type { DistributionClaims } from '../claims/distribution-claims.ts';
import type { TimestampClaims } from '../claims/timestamp-claims.ts';

/** What a service serves besides the chain; null: no service is asked, or no block is read. */
interface ServedEvidence {
  distributions: DistributionClaims | null;
  timestamps: TimestampClaims | null;
  readBlock: ReadBlock | null;
}

export type ForecastVerification = Awaited<ReturnType<typeof verifyForecast>>;

const PREDICTION_ID = new RegExp(`^(\\d{4}-\\d{2}-\\d{2}):([${HORIZONS.join('')}])d$`);

/** @param id a uid, `2026-11-14:7d` or `latest` @param horizon of `latest` @throws UsageError */
export function parseForecastQuery(id: string, horizon: HorizonName): collector.ForecastQuery {
  const newestOf = Number(horizon.slice(0, -1));
  if (id === 'latest') return { newestOf, what: `forecast over ${newestOf} days in its last days` };
  const what = `forecast ${id.toLowerCase()}`;
  if (/^0x[0-9a-fA-F]{64}$/.test(id)) return { uid: id.toLowerCase() as Hex, what };
  const [, date, days] = PREDICTION_ID.exec(id) ?? [];
  if (date === undefined) {
    throw new UsageError('id', 'must be a uid (0x and 64 hex characters), a prediction id such as 2026-11-14:7d, latest or all');
  }
  try {
    return { day: parseDay(date), horizonDays: Number(days), what };
  } catch {
    throw new UsageError('id', `${date} is not a day`);
  }
}

/**
 * Reads a forecast from the chain and checks everything that the chain shows about it. The row is null when no readable prediction of the
 * query is on chain. @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID
 */
export async function verifyForecast(
  search: collector.ForecastSearch,
  query: collector.ForecastQuery,
  { distributions, timestamps, readBlock }: ServedEvidence,
) {
  const findings = createFindings();
  const found = await collector.findForecast(search, query);
  if (found === null) {
    const because = `no readable ${query.what} of this attester is on chain`;
    findings.fail('found', NO_SUBJECT, { field: 'uid', expected: 'an attestation', actual: null, because });
    return { row: null, findings };
  }
  if (found.note !== undefined) findings.note(found.note);
  const evidence = await collector.collectForecastEvidence(search, found.uid);
  const served = await findServedDistributions(evidence, search, distributions);
  const stamped = await findServedTimestamp(evidence, search, { timestamps, readBlock });
  const row = checkForecastEvidence({ ...evidence, ...served, ...stamped }, search, findings);
  const rest = 'the rest of the record was not read: svc verify all, or svc audit';
  if (row !== null) findings.leave('sequence', toSubject(row.prediction), rest, false);
  return { row, findings };
}

/** Of a resolved forecast; a service that does not answer says nothing about it. */
async function findServedDistributions(
  { prediction, resolutions }: ForecastEvidence,
  context: CheckContext,
  distributions: DistributionClaims | null,
): Promise<Pick<ForecastEvidence, 'distributions'>> {
  const made = resolutions.length > 0 ? readPrediction(prediction, context) : null;
  if (made === null) return {};
  const read = readServedDistributions(distributions, made);
  return { distributions: await read.catch((error: unknown) => ({ problem: getErrorMessage(error) })) };
}

async function findServedTimestamp(
  { prediction }: ForecastEvidence,
  context: CheckContext,
  { timestamps, readBlock }: Pick<ServedEvidence, 'timestamps' | 'readBlock'>,
): Promise<Pick<ForecastEvidence, 'timestamp'>> {
  const made = readPrediction(prediction, context);
  if (made === null || (timestamps === null && readBlock === null)) return {};
  if (timestamps === null) return { timestamp: { problem: 'no service was named that serves timestamps' } };
  const timestamp = await readServedTimestamp(timestamps, made.data.day, readBlock);
  return timestamp === undefined ? {} : { timestamp };
}

function readPrediction(prediction: ForecastEvidence['prediction'], context: CheckContext): Prediction | null {
  return 'uid' in prediction ? checkAttestation(prediction, context, createFindings()) : null;
}
