import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFindings, NO_SUBJECT, toPlainLine } from '../../../../src/audit/checks/findings.ts';

const HOSTILE = '\x1b[2J\x1b[HAGREES\x07\x9b1m\u202Eesrever\r\nnext';
const SHOWN = '\uFFFD[2J\uFFFD[HAGREES\uFFFD\uFFFD1m\uFFFDesrever next';

describe('untrusted text', () => {
  it('contains no control characters', () => {
    expect(toPlainLine(HOSTILE)).toBe(SHOWN);
    expect(toPlainLine('BUY UP, 12 345.67 USD (0xab)')).toBe('BUY UP, 12 345.67 USD (0xab)');
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0x10ffff })), (points) => {
        expect(toPlainLine(String.fromCodePoint(...points))).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it('is sanitized in all findings', () => {
    const findings = createFindings();
    findings.compare('row', NO_SUBJECT, { field: HOSTILE, expected: 'WIN', found: HOSTILE });
    findings.addDifference('row', NO_SUBJECT, { field: 'status', expected: HOSTILE, found: null, because: HOSTILE });
    findings.addNote(HOSTILE);
    findings.addGap(HOSTILE);
    const { differences, notes, gaps } = findings;
    expect(differences[0]).toMatchObject({ field: SHOWN, found: SHOWN, message: expect.stringContaining(`found ${SHOWN}`) });
    expect(differences[1]).toMatchObject({ expected: SHOWN, found: null, message: `the record: ${SHOWN}` });
    expect([notes, gaps]).toEqual([[SHOWN], [SHOWN]]);
  });

  it('is compared unsanitized', () => {
    const findings = createFindings();
    expect(findings.compare('row', NO_SUBJECT, { field: 'status', expected: '\uFFFD', found: '\x1b' })).toBe(false);
  });
});
