import { parseUnits } from 'viem';
import { UsageError } from '../../../platform/usage-error.ts';

/** Millionths of a dollar, exactly. @throws UsageError */
export function parseUsdOption(name: string, text: string): bigint {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) throw new UsageError(name, 'must be an amount in US dollars, such as 0.05');
  return parseUnits(text, 6);
}
