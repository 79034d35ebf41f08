import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { z } from 'zod';
import { damagedPartError } from '../../platform/data-dir/entries.ts';

const privateKeySchema = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .transform((text) => text as Hex);

const LocalKeys = z.object({
  deployer: privateKeySchema,
  attester: privateKeySchema,
  reporter: privateKeySchema,
  facilitator: privateKeySchema,
  provider: privateKeySchema,
  basic: privateKeySchema,
  premium: privateKeySchema,
  poor: privateKeySchema,
  buyer: privateKeySchema,
  saltSecret: z.string().min(32),
});

/** Throw-away keys of one data folder, for its local chain only. */
export type LocalKeys = z.infer<typeof LocalKeys>;

export function generateLocalKeys(): LocalKeys {
  const names = Object.keys(LocalKeys.shape).filter((name) => name !== 'saltSecret');
  return LocalKeys.parse({
    ...Object.fromEntries(names.map((name) => [name, generatePrivateKey()])),
    saltSecret: randomBytes(32).toString('hex'),
  });
}

/** @throws OracleError DATA_DIR_DAMAGED for invalid keys */
export function parseLocalKeys(value: unknown): LocalKeys {
  const parsed = LocalKeys.safeParse(value);
  if (parsed.success) return parsed.data;
  // The parser's message may quote a key.
  throw damagedPartError('keys.json of the data folder does not hold the keys it should');
}
