import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Hex } from 'viem';
import type { ModelDoc } from '../model-store.ts';

/** sha2-256 of the RFC 8785 JSON of all fits: services with the same digest produce the same forecast from the same inputs. */
export function digestCoefficients({ horizons }: Pick<ModelDoc, 'horizons'>): Hex {
  return `0x${createHash('sha256')
    .update(canonicalize(horizons) as string)
    .digest('hex')}`;
}
