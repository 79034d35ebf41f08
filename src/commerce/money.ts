import { OracleError } from '../platform/errors.ts';

export interface Money {
  asset: string;
  /** In units of 10^-decimals. */
  amount: bigint;
  decimals: number;
}

/** Millionths of a dollar, the smallest unit of a stablecoin with six decimals. */
export const USD_DECIMALS = 6;

const MAX_AMOUNT_CHARS = 40;

export function usdFromMicros(amountMicros: bigint): Money {
  return { asset: 'USD', amount: amountMicros, decimals: USD_DECIMALS };
}

/** US dollars from decimal text, e.g. `0.001`. @throws OracleError INPUT_INVALID as `parseAmount` */
export function parseUsd(text: string): Money {
  return usdFromMicros(parseAmount(text, USD_DECIMALS));
}

/** Integer of the smallest unit. @throws OracleError INPUT_INVALID for anything but digits with at most one point and `decimals` decimals */
export function parseAmount(text: string, decimals: number): bigint {
  const [, whole, fraction = ''] = (text.length <= MAX_AMOUNT_CHARS && /^(\d+)(?:\.(\d+))?$/.exec(text)) || [];
  if (whole === undefined || fraction.length > decimals) {
    throw new OracleError('INPUT_INVALID', `An amount must be a decimal number of at most ${decimals} decimals`, { field: 'amount' });
  }
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Exact decimal text with at least `minDecimals` decimals and no further trailing zeros, e.g. `1.00`, `0.001`. */
export function formatAmount({ amount, decimals }: Money, minDecimals = Math.min(2, decimals)): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(minDecimals, '0');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** E.g. `1.00 USD`. */
export function formatMoney(money: Money): string {
  return `${formatAmount(money)} ${money.asset}`;
}
