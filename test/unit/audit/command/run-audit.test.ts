import { describe, expect, it } from 'vitest';
import { type AuditReport, mayBeInProgress } from '../../../../src/audit/audit.ts';
import { AUDIT_OPTIONS, type AuditCommand } from '../../../../src/cli/svc/audit-options.ts';
import { parseCommandLine } from '../../../../src/cli/svc/command-line.ts';
import { printError } from '../../../../src/cli/svc/errors.ts';
import { OracleError } from '../../../../src/errors.ts';

const ATTESTER = `0x${'a1'.repeat(20)}`;

function parseAuditCommand(words: string[]) {
  const syntax = { name: 'audit', summary: 'Audits', options: AUDIT_OPTIONS };
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
