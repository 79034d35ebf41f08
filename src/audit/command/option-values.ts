import type { Address } from 'viem';
import { UsageError } from '../../platform/usage-error.ts';

/** Checks the form only: the URL may contain an API key. @throws UsageError */
export function parseEndpointOption(name: string, text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(name, 'must be an http(s) URL');
}

/** @throws UsageError */
export function parseAddressOption(name: string, text: string): Address {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text as Address;
  throw new UsageError(name, 'must be an address: 0x and 40 hex characters');
}

/** Of a whole number up to `max`. */
export function parseNumberOption(max: number) {
  return (name: string, text: string): number => {
    if (/^\d{1,13}$/.test(text) && Number(text) <= max) return Number(text);
    throw new UsageError(name, `must be a whole number up to ${max}`);
  };
}
