import { formatDay } from '../../forecast/day.ts';
import { HORIZONS, horizonName } from '../../forecast/model.ts';
import { QUORUM_RULES } from '../../market/quorum.ts';
import { PUBLIC_CALLER } from '../../record/caller.ts';
import type { ForecastDoc } from '../../record/forecast.ts';
import { nothingYet } from '../../record/oracle/newest.ts';
import { byHand } from '../../record/prediction-verification.ts';
import { summaryOf } from '../../record/scorecard.ts';
import { fullStatistics } from '../../record/track-record.ts';
import type { DocumentBody } from './document.ts';
import type { DocumentParts } from './parts.ts';
import { COLUMNS, DAY_COLUMNS, headerOf, TRANSACTION_COLUMNS } from './track-record-columns.ts';
import { dayRow, forecastRow, TransactionTable } from './track-record-tables.ts';

interface HorizonDocs {
  horizonDays: number;
  docs: ForecastDoc[];
}

/**
 * Every forecast that was ever made, with what a stranger needs to compute its figures again. Unresolved ones are told as everybody is
 * told them: the record is sold, not the forecast. Rows, since years of it have to fit into one answer.
 * @throws OracleError STEP_WAITING before the first forecast
 */
export async function verifiedTrackRecord(parts: DocumentParts): Promise<DocumentBody> {
  const horizons = await Promise.all(
    HORIZONS.map(async (horizonDays) => ({ horizonDays, docs: await parts.record.ofHorizon(horizonDays) })),
  );
  if (horizons.every(({ docs }) => docs.length === 0)) throw nothingYet('forecast');
  const transactions = new TransactionTable();
  const options = { view: parts.viewFor(PUBLIC_CALLER), saltSecret: parts.saltSecret, transactions };
  const statistics = await Promise.all(horizons.map(({ horizonDays, docs }) => fullStatistics(parts.statistics, docs, horizonDays)));
  const told = horizons.map(({ horizonDays, docs }, index) => ({
    horizon: horizonName(horizonDays),
    statistics: statistics[index],
    rows: docs.map((doc) => forecastRow(doc, options)),
  }));
  return {
    ...{ forecastId: null, attestationUid: null },
    sentences: sentencesOf(horizons),
    audit: auditOf(parts, horizons),
    columns: headerOf(COLUMNS),
    horizons: told,
    days: { columns: headerOf(DAY_COLUMNS), rows: (horizons.at(-1) as HorizonDocs).docs.map(dayRow) },
    transactions: { columns: headerOf(TRANSACTION_COLUMNS), rows: transactions.rows },
  };
}

function sentencesOf(horizons: readonly HorizonDocs[]): string[] {
  return [
    ...horizons.map(({ horizonDays, docs }) => {
      const { totalPredictions, wins, losses, holds, voids, pending, verdict } = summaryOf(docs, horizonDays);
      return `${horizonName(horizonDays)}: ${totalPredictions} forecasts, ${wins} right, ${losses} wrong, ${holds} held, ${voids} void, ${pending} pending; ${verdict}.`;
    }),
    'Forecasts of following days share most of their outcome: intervals count as many calls as all are worth.',
    'Nothing is left out: the sequence of each horizon goes from 1 without a gap, and each attestation refers to that of the day before.',
  ];
}

function auditOf(parts: DocumentParts, horizons: readonly HorizonDocs[]) {
  const docs = horizons.flatMap((horizon) => horizon.docs);
  const blocks = docs.flatMap(({ attestation }) => (attestation === null ? [] : [attestation.blockNumber]));
  const venues = new Set(docs.flatMap(({ reveal, resolution }) => (reveal === null ? [] : (resolution?.venues ?? []))));
  const { minVenues, maxDeviationBps } = QUORUM_RULES[parts.market.kind];
  return {
    ...byHand(parts),
    schemaRegistry: parts.addresses.schemaRegistry,
    firstBlock: blocks.length === 0 ? null : blocks.reduce((least, block) => Math.min(least, block)),
    firstDate: formatDay(docs.reduce((least, { day }) => Math.min(least, day), Number.POSITIVE_INFINITY)),
    resolutionRule: RESOLUTION_RULE,
    priceRule: `Median of the daily closes (00:00 UTC) of at least ${minVenues} venues, none farther than ${maxDeviationBps} basis points from it; without them nothing is resolved.`,
    priceVenues: [...venues].toSorted(),
  };
}

const RESOLUTION_RULE =
  'A forecast of day D over H days is measured from the daily close at 00:00 UTC that ends day D to the one H days later. UP wins if the later close is strictly higher, DOWN otherwise; HOLD is resolved and never scored; what was missed, or attested after its window opened, is VOID and never counts.';
