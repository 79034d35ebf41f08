import { type Hex, isAddressEqual } from 'viem';
import { type RawAttestation, readAttestation, readBlockTime, readInBatches } from '../../../audit/chain/audit-chain.ts';
import type { Prediction } from '../../../audit/chain/chain-record.ts';
import { readNewestBlock } from '../../../audit/chain/find-attestations.ts';
import { decodePrediction, getSchemaUid } from '../../../chain/eas/attestation-schemas.ts';
import { DAY_MS } from '../../../forecast/day.ts';
import { isOracleError } from '../../../platform/errors.ts';
import { type ForecastSearch, findEventsBetween, readPredictionsBetween } from './locate.ts';

/** Range of the search before the newest block. */
const DAYS_BACK = 3;
const NO_PROGRESS = () => {};

/** The newest forecast with an outcome on chain; without one, the newest of all, with a note. @throws OracleError CHAIN_UNREACHABLE */
export async function findNewestForecast(search: ForecastSearch, horizonDays: number): Promise<Hex | null> {
  const { chain } = search;
  const head = (await readBlockTime(chain, await readNewestBlock(chain))).getTime();
  const lately = [head - DAYS_BACK * DAY_MS, head + 1_000] as const;
  const revealed = await findNewestRevealed(search, horizonDays, lately);
  if (revealed !== null) return revealed;
  const all = await readPredictionsBetween(search, ...lately);
  const newest = all.filter(({ data }) => data.horizonDays === horizonDays).at(-1) ?? null;
  if (newest !== null)
    search.findings.addNote(`no ${horizonDays}-day outcome came on chain in the last ${DAYS_BACK} days; this is the newest forecast`);
  return newest?.uid ?? null;
}

/** Only selects a uid; the caller checks the forecast. */
async function findNewestRevealed(search: ForecastSearch, horizonDays: number, lately: readonly [number, number]): Promise<Hex | null> {
  const { chain } = search;
  const readAll = (uids: readonly Hex[]) =>
    readInBatches(uids, { parallel: chain.parallel, read: (uid) => readAttestation(chain, uid), onRead: NO_PROGRESS });
  const resolutions = await readAll((await findEventsBetween(search, 'resolution', ...lately)).map(({ uid }) => uid));
  const predictions = (await readAll([...new Set(resolutions.map(({ refUID }) => refUID))])).flatMap((raw) =>
    decodeOwnPrediction(raw, search),
  );
  const fitting = predictions.filter(({ data }) => data.horizonDays === horizonDays);
  return fitting.sort((a, b) => b.data.day - a.data.day)[0]?.uid ?? null;
}

function decodeOwnPrediction(raw: RawAttestation, { attester }: ForecastSearch): Pick<Prediction, 'uid' | 'data'>[] {
  if (raw.schema !== getSchemaUid('prediction') || !isAddressEqual(raw.attester, attester)) return [];
  try {
    return [{ uid: raw.uid, data: decodePrediction(raw.data) }];
  } catch (error) {
    if (!isOracleError(error)) throw error;
    return [];
  }
}
