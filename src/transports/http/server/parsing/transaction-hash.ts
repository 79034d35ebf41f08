import type { Hash } from 'viem';
import { z } from 'zod';

/** In lower case. */
export const txHashInput = (description: string) =>
  z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters')
    .transform((text) => text.toLowerCase() as Hash)
    .meta({ description, override: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' } });
