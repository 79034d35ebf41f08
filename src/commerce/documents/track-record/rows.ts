import type { Hex } from 'viem';
import type { ConfirmedAttestation } from '../../../chain/eas/attester.ts';
import { deriveSalt } from '../../../chain/eas/salt.ts';
import { formatDay } from '../../../forecast/day.ts';
import type { CommittedValues, ForecastDoc } from '../../../record/forecast-doc.ts';
import { mayRead, toPublicStatus, type ViewOptions } from '../../../record/forecast-visibility.ts';
import { DAY_COLUMNS, FORECAST_COLUMNS, TRANSACTION_COLUMNS, type TrackRecordCell, toRow } from './columns.ts';

/** Deduplicated transactions: one carries several attestations. */
export class TransactionTable {
  readonly rows: TrackRecordCell[][] = [];
  readonly #indexes = new Map<Hex, number>();

  /** Row index of an attestation's transaction; null without an attestation. */
  indexOf(attested: ConfirmedAttestation | null): number | null {
    if (attested === null) return null;
    const { txHash, blockNumber, at } = attested;
    const known = this.#indexes.get(txHash);
    if (known !== undefined) return known;
    this.#indexes.set(txHash, this.rows.length);
    return this.rows.push(toRow(TRANSACTION_COLUMNS, { txHash, blockNumber, blockTime: at.toISOString() })) - 1;
  }
}

export interface ForecastRowOptions {
  view: ViewOptions;
  saltSecret: string;
  transactions: TransactionTable;
}

export function toForecastRow(doc: ForecastDoc, { view, saltSecret, transactions }: ForecastRowOptions): TrackRecordCell[] {
  const { _id, day, sequence, attestation, reveal } = doc;
  const values = mayRead(doc, view) ? doc.values : null;
  const resolution = reveal === null ? null : doc.resolution;
  return toRow(FORECAST_COLUMNS, {
    sequence,
    date: formatDay(day),
    status: toPublicStatus(doc),
    ...toValueCells(values, () => deriveSalt(saltSecret, _id)),
    predictionUid: attestation?.uid ?? null,
    predictionTx: transactions.indexOf(attestation),
    resolutionUid: reveal?.uid ?? null,
    resolutionTx: transactions.indexOf(reveal),
    btcAtSignalCents: resolution?.btcAtSignalCents ?? doc.btcAtSignalCents,
    btcAtResolutionCents: resolution?.btcAtResolutionCents ?? null,
    returnBps: resolution?.returnBps ?? null,
  });
}

function toValueCells(values: CommittedValues | null, salt: () => Hex) {
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

export function toDayRow(doc: ForecastDoc): TrackRecordCell[] {
  const { day, signalAt, modelVersion, regime, inputsDigest, cid, missed, late, replayed } = doc;
  const flags = `${missed ? 'm' : ''}${late ? 'l' : ''}${replayed ? 'r' : ''}`;
  return toRow(DAY_COLUMNS, { date: formatDay(day), signalAt: signalAt.toISOString(), modelVersion, regime, inputsDigest, cid, flags });
}
