import { PUBLIC_CALLER } from '../../../auth/caller.ts';
import { formatDay } from '../../../forecast/day.ts';
import { formatHorizonName, HORIZONS } from '../../../forecast/model.ts';
import { QUORUM_RULES } from '../../../market/prices/quorum.ts';
import type { HorizonFigures } from '../../../record/figures/horizon-figures.ts';
import type { ForecastDoc } from '../../../record/forecast-doc.ts';
import { notYetMadeError } from '../../../record/oracle/made-forecast.ts';
import { describeManualVerification } from '../../../record/oracle/manual-verification.ts';
import { toFullStatistics } from '../../../record/scorecard/track-record.ts';
import type { DocumentDeps } from '../deps.ts';
import type { DocumentBody } from '../document-head.ts';
import { DAY_COLUMNS, FORECAST_COLUMNS, TRANSACTION_COLUMNS, toHeader } from './columns.ts';
import { TransactionTable, toDayRow, toForecastRow } from './rows.ts';

interface HorizonDocs {
  horizonDays: number;
  docs: ForecastDoc[];
  figures: HorizonFigures;
}

/** Unresolved forecasts have public visibility only: the record is sold, not the forecast. @throws OracleError STEP_WAITING */
export async function composeTrackRecord(deps: DocumentDeps): Promise<DocumentBody> {
  const horizons = await Promise.all(
    HORIZONS.map(async (horizonDays) => ({
      horizonDays,
      docs: await deps.record.listByHorizon(horizonDays),
      figures: await deps.statistics.figures.getHorizon(horizonDays),
    })),
  );
  if (horizons.every(({ docs }) => docs.length === 0)) throw notYetMadeError('forecast');
  const transactions = new TransactionTable();
  const options = { view: deps.viewFor(PUBLIC_CALLER), saltSecret: deps.saltSecret, transactions };
  const horizonTables = horizons.map(({ horizonDays, docs, figures }) => ({
    horizon: formatHorizonName(horizonDays),
    statistics: toFullStatistics(figures),
    rows: docs.map((doc) => toForecastRow(doc, options)),
  }));
  return {
    forecastId: null,
    attestationUid: null,
    sentences: formatHorizonSummaries(horizons),
    audit: buildAudit(deps, horizons),
    columns: toHeader(FORECAST_COLUMNS),
    horizons: horizonTables,
    days: { columns: toHeader(DAY_COLUMNS), rows: (horizons.at(-1) as HorizonDocs).docs.map(toDayRow) },
    transactions: { columns: toHeader(TRANSACTION_COLUMNS), rows: transactions.rows },
  };
}

function formatHorizonSummaries(horizons: readonly HorizonDocs[]): string[] {
  return [
    ...horizons.map(({ horizonDays, figures }) => {
      const { totalPredictions, wins, losses, holds, voids, pending, verdict } = figures.summary;
      return `${formatHorizonName(horizonDays)}: ${totalPredictions} forecasts, ${wins} right, ${losses} wrong, ${holds} held, ${voids} void, ${pending} pending; ${verdict}.`;
    }),
    'Forecasts of following days share most of their outcome: intervals count as many calls as all are worth.',
    'Nothing is left out: the sequence of each horizon goes from 1 without a gap, and each attestation refers to that of the day before.',
  ];
}

function buildAudit(deps: DocumentDeps, horizons: readonly HorizonDocs[]) {
  const docs = horizons.flatMap((horizon) => horizon.docs);
  const blocks = docs.flatMap(({ attestation }) => (attestation === null ? [] : [attestation.blockNumber]));
  const venues = new Set(docs.flatMap(({ reveal, resolution }) => (reveal === null ? [] : (resolution?.venues ?? []))));
  const { minVenues, maxDeviationBps } = QUORUM_RULES[deps.market.kind];
  return {
    ...describeManualVerification(deps),
    schemaRegistry: deps.addresses.schemaRegistry,
    firstBlock: blocks.length === 0 ? null : blocks.reduce((least, block) => Math.min(least, block)),
    firstDate: formatDay(docs.reduce((least, { day }) => Math.min(least, day), Number.POSITIVE_INFINITY)),
    resolutionRule: RESOLUTION_RULE,
    priceRule: `Median of the daily closes (00:00 UTC) of at least ${minVenues} venues, none farther than ${maxDeviationBps} basis points from it; without them nothing is resolved.`,
    priceVenues: [...venues].toSorted(),
  };
}

const RESOLUTION_RULE =
  'A forecast of day D over H days is measured from the daily close at 00:00 UTC that ends day D to the one H days later. UP wins if the later close is strictly higher, DOWN otherwise; HOLD is resolved and never scored; what was missed, or attested after its window opened, is VOID and never counts.';
