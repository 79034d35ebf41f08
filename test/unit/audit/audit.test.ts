import { describe, expect, it } from 'vitest';
import { type AuditReport, buildAuditReport, mayBeInProgress, reportText } from '../../../src/audit/audit.ts';
import type { AuditPrices } from '../../../src/audit/chain-record.ts';
import { AUDIT_OPTIONS, type AuditCommand } from '../../../src/cli/svc/audit-options.ts';
import { parseCommandLine } from '../../../src/cli/svc/command-line.ts';
import { printError } from '../../../src/cli/svc/errors.ts';
import { OracleError } from '../../../src/errors.ts';
import { createFindings } from '../../../src/verify/findings.ts';

const ATTESTER = `0x${'a1'.repeat(20)}`;

function parseAuditCommand(words: string[]) {
  const syntax = { name: 'audit', example: 'audit', summary: 'Audits', options: AUDIT_OPTIONS };
  return parseCommandLine<AuditCommand>(syntax, words, { write: () => {} })?.values;
}

describe('the options', () => {
  it('are parsed', () => {
    const words = [
      '--rpc',
      'https://rpc.example.org',
      '--attester',
      ATTESTER,
      '--from-block',
      '17',
      '--prices',
      'live',
      '--tolerance-bps',
      '50',
      '--json',
    ];
    expect(parseAuditCommand(words)).toMatchObject({
      ...{ rpc: 'https://rpc.example.org', attester: ATTESTER, fromBlock: 17, prices: 'live', toleranceBps: 50, json: true },
    });
    expect(parseAuditCommand([])).toEqual({});
  });

  it.each([
    [['--rpc', 'ftp://example.org'], /--rpc: must be an http\(s\) URL/],
    [['--attester', '0x12'], /--attester: must be an address/],
    [['--eas', ATTESTER.slice(2)], /--eas: must be an address/],
    [['--from-block', '-1'], /--from-block: /],
    [['--from-block', '1e5'], /--from-block: must be a whole number/],
    [['--tolerance-bps', '10001'], /--tolerance-bps: must be a whole number up to 10000/],
    [['--unknown'], /--unknown: is unknown/],
    [['word'], /arguments: there is one argument too many/],
  ])('rejects %j', (words, problem) => {
    expect(() => parseAuditCommand(words)).toThrow(problem);
  });
});

describe('an audit that cannot be run', () => {
  function print(error: unknown): string {
    let text = '';
    printError(error, { err: { write: (more: string) => (text += more) }, environment: {} });
    return text;
  }

  it('prints the suggested action without control characters', () => {
    const error = new OracleError('CHAIN_UNREACHABLE', 'refused: \u001b[2JAGREES', { suggestedAction: 'Try again later.' });
    expect(print(error)).toBe('CHAIN_UNREACHABLE: refused: \uFFFD[2JAGREES\nTry again later.\n');
  });

  it('prints a bug of the audit without endpoint URLs', () => {
    const text = print(new TypeError('no answer of https://rpc.example.org/a-secret-key'));
    expect(text).toMatch(/^Unexpected error: TypeError: no answer of <endpoint>\n.* at /);
    expect(text).not.toContain('a-secret-key');
    expect(print('a string')).toContain('a string');
  });
});

describe('mayBeInProgress', () => {
  const at = '2026-03-01T12:00:00.000Z';
  const report = (checks: string[], newestAttestationAt: string | null) =>
    ({
      differences: checks.map((check) => ({ check }) as AuditReport['differences'][number]),
      newestAttestationAt,
      auditedAt: at,
    }) as AuditReport;

  it('is true only for claims shortly after an attestation', () => {
    expect(mayBeInProgress(report(['row', 'figure'], '2026-03-01T11:56:00.000Z'))).toBe(true);
    expect(mayBeInProgress(report(['row', 'figure'], '2026-03-01T11:54:00.000Z'))).toBe(false);
    expect(mayBeInProgress(report(['row', 'opening'], '2026-03-01T11:59:00.000Z'))).toBe(false);
    expect(mayBeInProgress(report([], '2026-03-01T11:59:00.000Z'))).toBe(false);
    expect(mayBeInProgress(report(['shown'], null))).toBe(false);
  });
});
describe('report text', () => {
  const ADDRESS = `0x${'1'.repeat(40)}` as const;
  const PRICES: AuditPrices = { source: 'test', toleranceBps: 0, endsOn: null, closes: async () => new Map(), history: async () => null };

  function textWith(notes: readonly string[]): string {
    const findings = createFindings();
    notes.forEach(findings.note);
    const where = { chainId: 1, attester: ADDRESS, eas: ADDRESS, fromBlock: 0, throughBlock: 1, service: null };
    return reportText(
      buildAuditReport({
        ...{ where, prices: PRICES, now: new Date(0) },
        ...{ rows: [], recomputed: [], missingCloses: [], challenges: [], findings, record: { predictions: [], resolutions: [] } },
      }),
    );
  }

  it('shows the first and the last of many notes', () => {
    const notes = Array.from({ length: 500 }, (_, index) => `note ${index};`);
    const text = textWith(notes);
    for (const shown of [...notes.slice(0, 17), ...notes.slice(497)]) expect(text).toContain(shown);
    for (const hidden of notes.slice(17, 497)) expect(text).not.toContain(hidden);
    expect(text).toContain('... and 480 more (all of them with --json)');
  });
});
