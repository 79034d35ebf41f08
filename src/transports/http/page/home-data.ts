import { PUBLIC_CALLER } from '../../../auth/caller.ts';
import { formatDay } from '../../../forecast/day.ts';
import { formatHorizonName } from '../../../forecast/model.ts';
import { btcPriceReport } from '../../../market/reports/bitcoin/btc-price.ts';
import { orElse } from '../../../platform/errors.ts';
import { getExpectedRanges } from '../../../record/distributions/expected-range.ts';
import { getPublicSignal } from '../../../record/oracle/public-signal.ts';
import { type InitialData, type RecordData, toRecordData } from '../../../views/first-screen/first-screen-data.ts';
import { DEFAULT_HORIZON_DAYS, SELECTABLE_HORIZONS } from '../../../views/first-screen/horizon-choice.ts';
import type { HttpDeps } from '../deps.ts';

export type HomeDeps = Pick<HttpDeps, 'demo' | 'market' | 'models' | 'now' | 'record' | 'statistics' | 'viewFor'>;

/** The answers that the first screen is drawn from, as a caller without access gets them. Reads a bounded number of documents. */
export async function readHomeData(deps: HomeDeps): Promise<InitialData> {
  const [signals, range, price, records, missedDate] = await Promise.all([
    readByHorizon((days) => getPublicSignal(deps, days, PUBLIC_CALLER).catch(orElse('STEP_WAITING', null))),
    getExpectedRanges(deps, DEFAULT_HORIZON_DAYS).catch(orElse('STEP_WAITING', null)),
    deps.market.report(btcPriceReport, deps.now().getTime()).catch(orElse('PRICE_UNAVAILABLE', null)),
    readByHorizon((days) => readRecord(deps, days)),
    findMissedDate(deps),
  ]);
  return { signals, range, price: price as InitialData['price'], records, missedDate };
}

async function readByHorizon<Value>(read: (horizonDays: number) => Promise<Value | null>): Promise<Record<string, Value>> {
  const entries = await Promise.all(SELECTABLE_HORIZONS.map(async (days) => [formatHorizonName(days), await read(days)] as const));
  return Object.fromEntries(entries.filter((entry): entry is [(typeof entry)[0], Awaited<Value>] => entry[1] !== null));
}

async function readRecord({ statistics }: HomeDeps, horizonDays: number): Promise<RecordData> {
  const { summary, statistics: figures } = await statistics.figures.getHorizon(horizonDays);
  return toRecordData(summary, figures.calls);
}

async function findMissedDate({ record }: HomeDeps): Promise<string | null> {
  const [newest] = await record.listNewest(DEFAULT_HORIZON_DAYS, { limit: 1, before: null });
  return newest?.missed ? formatDay(newest.day) : null;
}
