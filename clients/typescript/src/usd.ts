import { OracleError } from './errors.ts';

const DECIMALS = 6;

/** Millionths of a dollar, exactly. @throws OracleError INPUT_INVALID */
export function parseUsd(field: string, text: string): bigint {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(String(text)) ?? [];
  const micros = whole === undefined || typeof text !== 'string' ? 0n : BigInt(whole + fraction.padEnd(DECIMALS, '0'));
  if (micros > 0n) return micros;
  throw new OracleError('INPUT_INVALID', `${field} must be a positive amount of US dollars as text, such as '0.002'`, { field });
}

export function formatUsd(micros: bigint): string {
  const digits = micros.toString().padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`.replace(/\.?0+$/, '');
}
