import type { Address } from 'viem';
import { UsageError } from '../../platform/usage-error.ts';

/** An endpoint: it may have a key in it, so nothing is asked of it but its form. @throws Misuse */
export function parseEndpointOption(name: string, text: string | undefined): string | undefined {
  if (text !== undefined && !(URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))) {
    throw new UsageError(name, 'must be an http(s) URL');
  }
  return text;
}

/** @throws Misuse */
export function parseAddressOption(name: string, text: string | undefined): Address | undefined {
  if (text !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(text)) throw new UsageError(name, 'must be an address: 0x and 40 hex characters');
  return text as Address | undefined;
}

/** @throws Misuse */
export function parseNumberOption(name: string, text: string | undefined, max: number): number | undefined {
  if (text !== undefined && (!/^\d{1,13}$/.test(text) || Number(text) > max)) {
    throw new UsageError(name, `must be a whole number up to ${max}`);
  }
  return text === undefined ? undefined : Number(text);
}
