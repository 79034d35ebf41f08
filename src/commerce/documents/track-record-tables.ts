import type { Hex } from 'viem';
import type { Attested } from '../../chain/attester.ts';
import { saltFor } from '../../chain/commitment.ts';
import { formatDay } from '../../forecast/day.ts';
import type { CommittedValues, ForecastDoc } from '../../record/forecast.ts';
import { mayRead, statusOf, type ViewOptions } from '../../record/views.ts';
import { type Cell, COLUMNS, DAY_COLUMNS, rowOf, TRANSACTION_COLUMNS } from './track-record-columns.ts';

/** Transactions of attestations, each told once: one carries several of them. */
export class TransactionTable {
  readonly rows: Cell[][] = [];
  readonly #indexes = new Map<Hex, number>();

  /** The row of an attestation's transaction; null without one. */
  indexOf(attested: Attested | null): number | null {
    if (attested === null) return null;
    const { txHash, blockNumber, at } = attested;
    const known = this.#indexes.get(txHash);
    if (known !== undefined) return known;
    this.#indexes.set(txHash, this.rows.length);
    return this.rows.push(rowOf(TRANSACTION_COLUMNS, { txHash, blockNumber, blockTime: at.toISOString() })) - 1;
  }
}

export interface RowOptions {
  /** How the values are to be cut. */
  view: ViewOptions;
  saltSecret: string;
  transactions: TransactionTable;
}

/** A forecast as a row: whole numbers as they are on chain. */
export function forecastRow(doc: ForecastDoc, { view, saltSecret, transactions }: RowOptions): Cell[] {
  const { _id, day, sequence, attestation, reveal } = doc;
  const values = mayRead(doc, view) ? doc.values : null;
  const resolution = reveal === null ? null : doc.resolution;
  return rowOf(COLUMNS, {
    sequence,
    date: formatDay(day),
    status: statusOf(doc),
    ...valueCells(values, () => saltFor(saltSecret, _id)),
    predictionUid: attestation?.uid ?? null,
    predictionTx: transactions.indexOf(attestation),
    resolutionUid: reveal?.uid ?? null,
    resolutionTx: transactions.indexOf(reveal),
    btcAtSignalCents: resolution?.btcAtSignalCents ?? doc.btcAtSignalCents,
    btcAtResolutionCents: resolution?.btcAtResolutionCents ?? null,
    returnBps: resolution?.returnBps ?? null,
  });
}

function valueCells(values: CommittedValues | null, salt: () => Hex) {
  return {
    signal: values?.signal ?? null,
    direction: values?.direction ?? null,
    confidenceBps: values?.confidenceBps ?? null,
    pUpBps: values?.pUpBps ?? null,
    btcPriceCents: values?.btcPriceCents ?? null,
    climatology: values?.climatology ?? null,
    salt: values === null ? null : salt(),
  };
}

/** What all forecasts of a day have in common. */
export function dayRow({ day, signalAt, modelVersion, regime, inputsDigest, cid, missed, late, replayed }: ForecastDoc): Cell[] {
  const flags = `${missed ? 'm' : ''}${late ? 'l' : ''}${replayed ? 'r' : ''}`;
  return rowOf(DAY_COLUMNS, { date: formatDay(day), signalAt: signalAt.toISOString(), modelVersion, regime, inputsDigest, cid, flags });
}
