import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFindings, NO_SUBJECT, toPlainLine } from '../../../src/verify/findings.ts';

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
    findings.compare('row', NO_SUBJECT, { field: HOSTILE, expected: 'WIN', actual: HOSTILE });
    findings.fail('row', NO_SUBJECT, { field: 'status', expected: HOSTILE, actual: null, because: HOSTILE });
    findings.note(HOSTILE);
    findings.leave('row', NO_SUBJECT, HOSTILE);
    const { list, notes } = findings;
    expect(list[0]).toMatchObject({ field: SHOWN, actual: SHOWN, because: expect.stringContaining(`found ${SHOWN}`) });
    expect(list[1]).toMatchObject({ outcome: 'fail', expected: SHOWN, actual: null, because: SHOWN });
    expect(list[2]).toMatchObject({ outcome: 'unknown', because: SHOWN, isDue: true });
    expect(notes).toEqual([SHOWN]);
  });

  it('is compared unsanitized', () => {
    const findings = createFindings();
    expect(findings.compare('row', NO_SUBJECT, { field: 'status', expected: '\uFFFD', actual: '\x1b' })).toBe(false);
  });
});
