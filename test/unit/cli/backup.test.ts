import { describe, expect, it } from 'vitest';
import { ALL_INDEXES } from '../../../src/app/indexes.ts';
import {
  COPY_ORDER,
  computeNextRun,
  parseInterval,
  parseKeep,
  parseTimes,
  requireBackupUsage,
  requireOwnBackup,
} from '../../../src/cli/backup.ts';
import { UsageError } from '../../../src/errors.ts';

describe('describe backup', () => {
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
    for (const marked of ['purchases', 'agent_jobs', 'x402_payments'])
      expect(named.indexOf(marked)).toBeLessThan(named.indexOf('payments'));
  });

  it('orders collections that exist, each once', () => {
    const named = [...COPY_ORDER.stable, ...COPY_ORDER.early, ...COPY_ORDER.late];
    expect(new Set(named).size).toBe(named.length);
    const indexed = new Set(ALL_INDEXES.map(({ collection }) => collection));
    // These have no indexes, or make their own.
    expect(named.filter((name) => !indexed.has(name))).toEqual(['record_meta', 'agent_commerce', 'client_feedback_states', 'transactions']);
  });
});

describe('schedule', () => {
  const next = (schedule: Parameters<typeof computeNextRun>[0], now: string, lastMs: number | null = null) =>
    new Date(computeNextRun(schedule, { nowMs: Date.parse(now), lastMs })).toISOString();

  it('is due at the next of its times, tomorrow after the last of them', () => {
    const times = { times: parseTimes('--at', '21:50,00:30') };
    expect(next(times, '2026-08-20T00:29:59Z')).toBe('2026-08-20T00:30:00.000Z');
    expect(next(times, '2026-08-20T00:30:00Z')).toBe('2026-08-20T21:50:00.000Z');
    expect(next(times, '2026-08-31T22:00:00Z')).toBe('2026-09-01T00:30:00.000Z');
  });

  it('is due at once and then after each interval', () => {
    const every = { everyMs: parseInterval('--every', '24h') };
    expect(next(every, '2026-08-20T10:00:00Z')).toBe('2026-08-20T10:00:00.000Z');
    expect(next(every, '2026-08-20T10:05:00Z', Date.parse('2026-08-20T10:00:00Z'))).toBe('2026-08-21T10:00:00.000Z');
  });

  it('rejects times, intervals and counts that are none, and options that exclude each other', () => {
    for (const text of ['24:00', '9:00', '21:50,', '21:60', '']) expect(() => parseTimes('--at', text), text).toThrow(UsageError);
    for (const text of ['0m', '8d', '1', 'h', '1.5h', '']) expect(() => parseInterval('--every', text), text).toThrow(UsageError);
    for (const text of ['0', '-1', '1.5', '']) expect(() => parseKeep('--keep', text), text).toThrow(UsageError);
    expect(() => requireBackupUsage({ at: [1], every: 1 })).toThrow('--every');
    expect(() => requireBackupUsage({ out: 'a.backup', keep: 1 })).toThrow('--out');
    expect(() => requireBackupUsage({}, 'verify')).toThrow('path');
    expect(() => requireBackupUsage({}, 'delete', 'a')).toThrow('action');
    expect(() => requireBackupUsage({ out: 'folder', keep: 1, at: [1] })).not.toThrow();
  });
});
