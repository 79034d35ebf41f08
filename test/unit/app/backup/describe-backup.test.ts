import { expect, it } from 'vitest';
import { ALL_INDEXES } from '../../../../src/app/indexes.ts';
import { COPY_ORDER, requireOwnBackup } from '../../../../src/cli/backup.ts';

const ATTESTER = '0xAbcdef0000000000000000000000000000000001';

it('accepts the backup of this record, and names the setting that belongs to another one', () => {
  const found = { chainId: 8453, attester: ATTESTER } as const;
  requireOwnBackup(found, { chainId: 8453, attester: '0xabcdef0000000000000000000000000000000001' });
  const refusal = (field: string) => expect.objectContaining({ code: 'CONFIG_INVALID', field });
  expect(() => requireOwnBackup(found, { chainId: 1, attester: ATTESTER })).toThrow(refusal('CHAIN_ID'));
  const other = '0xabcdef0000000000000000000000000000000002';
  expect(() => requireOwnBackup(found, { chainId: 8453, attester: other })).toThrow(refusal('ATTESTER_PRIVATE_KEY'));
});

it('reads the ledger after all that says of a payment that it is booked', () => {
  const named = [...COPY_ORDER.stable, ...COPY_ORDER.early, ...COPY_ORDER.late];
  for (const marked of ['purchases', 'agent_jobs', 'x402_payments']) expect(named.indexOf(marked)).toBeLessThan(named.indexOf('payments'));
});

it('orders collections that exist, each once', () => {
  const named = [...COPY_ORDER.stable, ...COPY_ORDER.early, ...COPY_ORDER.late];
  expect(new Set(named).size).toBe(named.length);
  const indexed = new Set(ALL_INDEXES.map(({ collection }) => collection));
  // These have no indexes, or make their own.
  expect(named.filter((name) => !indexed.has(name))).toEqual(['record_meta', 'agent_commerce', 'client_feedback_states', 'transactions']);
});
