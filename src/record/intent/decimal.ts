import { roundTo } from '../../platform/round.ts';

const MICROS_DECIMALS = 6;

/** Exact decimal of an amount in micros without trailing zeros: -1250000 is `-1.25`. */
export function formatMicros(micros: number): string {
  const digits = String(Math.abs(micros)).padStart(MICROS_DECIMALS + 1, '0');
  const fraction = digits.slice(-MICROS_DECIMALS).replace(/0+$/, '');
  return `${micros < 0 ? '-' : ''}${digits.slice(0, -MICROS_DECIMALS)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Ticks and fees are whole micros, so that rounding removes floating-point noise only. */
export function roundContractPrice(price: number): number {
  return roundTo(price, MICROS_DECIMALS);
}
