export const FORECAST_COLUMNS = {
  sequence: 'Position in the record of this horizon, from 1, one a day, without gaps',
  date: 'Day of the forecast, UTC; `days` has the common fields of its forecasts',
  status: 'PENDING, WIN, LOSS, HOLD (abstained, not scored) or VOID (missed or committed too late, never counts)',
  signal: 'BUY, SELL or HOLD; null while unresolved, or when nothing was forecast',
  direction: 'UP or DOWN; null as `signal`',
  confidenceBps: 'Probability of the direction as committed, basis points; null as `signal`',
  pUpBps: 'Probability of UP as committed, basis points; null as `signal`',
  btcPriceCents: 'BTC/USD at signal time, US cents; null as `signal`',
  climatology: 'Base rate of UP known at the time, 0 to 1: the benchmark of the probabilities; null as `signal`',
  salt: 'Opens the commitment together with the values; null as `signal`',
  predictionUid: 'Attestation of the commitment; null until it is on chain',
  predictionTx: 'Its transaction, as an index into `transactions`; null until it is on chain',
  resolutionUid: 'Attestation of the outcome; null until it is on chain',
  resolutionTx: 'Its transaction, as an index into `transactions`; null until it is on chain',
  btcAtSignalCents: 'Daily close at window open, US cents; null before',
  btcAtResolutionCents: 'Daily close at resolution, US cents; null until the outcome is on chain',
  returnBps: 'Return over the window, basis points; null until the outcome is on chain',
} as const;

export const DAY_COLUMNS = {
  date: 'The day, UTC',
  signalAt: 'When its forecasts were made, ISO 8601',
  modelVersion: 'Version of the model; null when nothing was forecast',
  regime: 'Market regime; null when nothing was forecast',
  inputsDigest: 'Digest of the inputs, as attested; zero when nothing was forecast',
  cid: 'CIDv1 of the public metadata, whose sha2-256 is attested',
  flags: '`m` missed, `l` late, `r` replayed by the demonstration; otherwise empty',
} as const;

export const TRANSACTION_COLUMNS = {
  txHash: 'Hash of the transaction',
  blockNumber: 'Its block',
  blockTime: 'Time of that block, ISO 8601',
} as const;

export type TrackRecordCell = string | number | null;

/** Cells in the order of the columns, all required. */
export function toRow<Columns extends Record<string, string>>(
  columns: Columns,
  cells: Record<keyof Columns, TrackRecordCell>,
): TrackRecordCell[] {
  return Object.keys(columns).map((name) => cells[name]);
}

export function toHeader(columns: Record<string, string>): { name: string; description: string }[] {
  return Object.entries(columns).map(([name, description]) => ({ name, description }));
}
