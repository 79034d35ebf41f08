import type { Address } from 'viem';
import { UsageError } from '../../platform/usage-error.ts';

/** Checks the form only: the URL may contain an API key. @throws UsageError */
export function parseEndpointOption(name: string, text: string | undefined): string | undefined {
  if (text !== undefined && !(URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))) {
    throw new UsageError(name, 'must be an http(s) URL');
  }
  return text;
}

/** @throws UsageError */
export function parseAddressOption(name: string, text: string | undefined): Address | undefined {
  if (text !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(text)) throw new UsageError(name, 'must be an address: 0x and 40 hex characters');
  return text as Address | undefined;
}

/** @throws UsageError */
export function parseNumberOption(name: string, text: string | undefined, max: number): number | undefined {
  if (text !== undefined && (!/^\d{1,13}$/.test(text) || Number(text) > max)) {
    throw new UsageError(name, `must be a whole number up to ${max}`);
  }
  return text === undefined ? undefined : Number(text);
}
