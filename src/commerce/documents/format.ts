import type { OracleSignal } from '../../record/oracle/oracle-signal.ts';

export const NO_ADVICE_NOTE =
  'This is not trading advice, and a probability is not a promise: do not stake what you cannot afford to lose.';

/** E.g. `53.2 %`. */
export function probabilityToPercent(p: number): string {
  return `${(p * 100).toFixed(1)} %`;
}

/** E.g. `+1.25`. */
export function formatSignedNumber(value: number, digits = 2): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(digits)}`;
}

/** A forecast in prose: its values, outcome window and attestation. */
export function describeForecast({ signal, direction, confidence, pUp, horizon, date, btcPrice, regime, ...rest }: OracleSignal): string[] {
  const { windowOpensAt, resolvesAt, attestationUid, attestedAt, stale, missedSince } = rest;
  const call = signal === 'HOLD' ? 'HOLD: no call, since the odds are too even for the regime' : signal;
  return [
    `${call}. The ${horizon} forecast of ${date} leans ${direction} with ${probabilityToPercent(confidence)} confidence: P(up) is ${probabilityToPercent(pUp)}, from ${btcPrice} USD, in the regime ${regime}.`,
    `It is about the closes at ${windowOpensAt} and ${resolvesAt}.`,
    attestationUid === null
      ? 'It is not on chain yet: it has to be before its window opens.'
      : `Its commitment has been on chain since ${attestedAt} as ${attestationUid}.`,
    ...(stale ? [`A newer forecast is overdue${missedSince === null ? '' : `; days from ${missedSince} on were missed`}.`] : []),
  ];
}
