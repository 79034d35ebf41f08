import { createHmac } from 'node:crypto';
import type { Hex } from 'viem';
import { OracleError } from '../../platform/errors.ts';

/** Salt of a forecast: HMAC-SHA256 of its id under the master secret, so it can be derived again without the database. */
export function deriveSalt(masterSecret: string, forecastId: string): Hex {
  if (masterSecret === '') throw new OracleError('INPUT_INVALID', 'The master secret of the salts is empty', { field: 'masterSecret' });
  return `0x${createHmac('sha256', masterSecret).update(forecastId).digest('hex')}`;
}
