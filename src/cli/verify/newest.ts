import { type Hex, isAddressEqual } from 'viem';
import { type RawAttestation, readAttestation, readBlockTime, readMany } from '../../audit/chain.ts';
import { newestBlock } from '../../audit/find.ts';
import type { Prediction } from '../../audit/read-record.ts';
import { decodePrediction, schemaUid } from '../../chain/schemas.ts';
import { isOracleError } from '../../errors.ts';
import { DAY_MS } from '../../forecast/day.ts';
import { eventsBetween, predictionsBetween, type Search } from './locate.ts';

/** How far behind the newest block the newest ones are looked for. */
const DAYS_BACK = 3;
const SILENT = () => {};

/** The newest forecast of a horizon whose outcome is on chain; the newest at all, with a note, where none is. @throws OracleError CHAIN_UNREACHABLE */
export async function newestForecast(search: Search, horizonDays: number): Promise<Hex | null> {
  const { chain } = search;
  const head = (await readBlockTime(chain, await newestBlock(chain))).getTime();
  const lately = [head - DAYS_BACK * DAY_MS, head + 1_000] as const;
  const revealed = await newestRevealed(search, horizonDays, lately);
  if (revealed !== null) return revealed;
  const all = await predictionsBetween(search, ...lately);
  const newest = all.filter(({ data }) => data.horizonDays === horizonDays).at(-1) ?? null;
  if (newest !== null)
    search.findings.note(`no outcome over ${horizonDays} days came on chain in its last days: this is the newest forecast`);
  return newest?.uid ?? null;
}

/** What newer resolutions refer to is only looked up here: whoever asks checks it. */
async function newestRevealed(search: Search, horizonDays: number, lately: readonly [number, number]): Promise<Hex | null> {
  const { chain } = search;
  const readAll = (uids: readonly Hex[]) =>
    readMany(uids, { parallel: chain.parallel, read: (uid) => readAttestation(chain, uid), onRead: SILENT });
  const resolutions = await readAll((await eventsBetween(search, 'resolution', ...lately)).map(({ uid }) => uid));
  const predictions = (await readAll([...new Set(resolutions.map(({ refUID }) => refUID))])).flatMap((raw) => looked(raw, search));
  const fitting = predictions.filter(({ data }) => data.horizonDays === horizonDays);
  return fitting.sort((a, b) => b.data.day - a.data.day)[0]?.uid ?? null;
}

function looked(raw: RawAttestation, { attester }: Search): Pick<Prediction, 'uid' | 'data'>[] {
  if (raw.schema !== schemaUid('prediction') || !isAddressEqual(raw.attester, attester)) return [];
  try {
    return [{ uid: raw.uid, data: decodePrediction(raw.data) }];
  } catch (error) {
    if (!isOracleError(error)) throw error;
    return [];
  }
}
