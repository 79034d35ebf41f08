import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseUsdOption } from '../../../../src/cli/svc/commands/pay.ts';
import { abbreviateHex, formatEventLine } from '../../../../src/cli/svc/commands/watch.ts';
import {
  type Cell,
  createTerminalWriter,
  formatErrorBar,
  formatFacts,
  formatMinute,
  formatPercentOrDash,
  formatRange,
  formatRecords,
  formatReturn,
  formatUsdAmount,
  type RecordColumn,
  wrapText,
} from '../../../../src/cli/svc/text.ts';
import { plain } from '../../../support/service/cli.ts';

const write = () => undefined;
const writerOf = (columns: number, environment: Record<string, string> = {}) =>
  createTerminalWriter({ isTTY: true, columns, write }, { environment });

const formatTerminalTable = (columns: readonly Omit<RecordColumn<Cell[]>, 'cell'>[], rows: Cell[][], writer: ReturnType<typeof writerOf>) =>
  formatRecords(
    columns.map((column, index) => ({ ...column, cell: (row: Cell[]) => row[index] })),
    rows,
    writer,
  );

describe('formatRecords', () => {
  it('explains the columns that are shown, and no other', () => {
    const columns = [
      { title: 'move', legend: 'its size' },
      { title: 'rate', spare: 1, legend: 'of hits' },
    ];
    const show = (width: number) => formatTerminalTable(columns, [['x'.repeat(36), '58.4 %']], writerOf(width)).map(plain);
    expect(show(80).slice(2)).toEqual(['', '  Move  its size', '  Rate  of hits']);
    expect(show(40).slice(2)).toEqual(['', '  Move  its size']);
  });

  const columns = [{ title: 'day' }, { title: 'price', right: true, spare: 1 }, { title: 'note' }];

  it('aligns columns, figures to the right', () => {
    expect(
      plain(
        formatTerminalTable(
          columns,
          [
            ['2026-01-01', '9.00', 'a'],
            ['2026-01-02', '10,000.00', 'bc'],
          ],
          writerOf(80),
        ).join('\n'),
      ),
    ).toBe(['day             price  note', '2026-01-01       9.00  a', '2026-01-02  10,000.00  bc'].join('\n'));
  });

  it('drops spare columns first, then truncates the widest', () => {
    const lines = formatTerminalTable(columns, [['2026-01-01', '9.00', 'x'.repeat(60)]], writerOf(40)).map(plain);
    expect(lines[0]).toBe('day         note');
    expect(lines[1]).toBe(`2026-01-01  ${'x'.repeat(27)}…`);
  });

  it('never exceeds the width of the terminal', () => {
    const cell = fc.string({ maxLength: 60 });
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, cell), { maxLength: 5 }), fc.integer({ min: 40, max: 120 }), (rows, width) => {
        for (const line of formatTerminalTable(columns, rows, writerOf(width))) expect(plain(line).length).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('replaces control characters', () => {
    const [, line] = formatTerminalTable([{ title: 'x' }], [['\u001b[2Jgone\u0007\n\u202egnp']], writerOf(80, { NO_COLOR: '1' }));
    expect(line).toBe('\uFFFD[2Jgone\uFFFD \uFFFDgnp');
  });
});

describe('createTerminalWriter', () => {
  it.each([
    ['paints on a terminal', { isTTY: true }, {}, '\x1b[32mWIN\x1b[39m'],
    ['does not paint into a pipe', {}, {}, 'WIN'],
    ['does not paint with NO_COLOR', { isTTY: true }, { NO_COLOR: '1' }, 'WIN'],
    ['paints with an empty NO_COLOR', { isTTY: true }, { NO_COLOR: '' }, '\x1b[32mWIN\x1b[39m'],
    ['does not paint on a dumb terminal', { isTTY: true }, { TERM: 'dumb' }, 'WIN'],
  ])('%s', (_, screen, environment, expected) => {
    expect(createTerminalWriter({ ...screen, write }, { environment }).paint('green', 'WIN')).toBe(expected);
  });

  it('assumes 80 columns when the width is unknown, and at least 40', () => {
    expect([writerOf(0).width, writerOf(20).width, writerOf(200).width]).toEqual([80, 40, 200]);
  });
});

describe('formatFacts and wrapText', () => {
  it('wraps long values below themselves and leaves out null values', () => {
    const words = 'one two three four five six seven eight nine ten';
    expect(
      formatFacts(
        [
          ['A', words],
          ['B', null],
          ['Long', 'x'],
        ],
        writerOf(40),
      ).map(plain),
    ).toEqual(['  A     one two three four five six', '        seven eight nine ten', '  Long  x']);
  });

  it('loses no word and breaks at the width', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom('a', 'b', '-') })),
        fc.integer({ min: 12, max: 60 }),
        (words, width) => {
          const lines = wrapText(words.join(' '), width);
          expect(lines.join(' ')).toBe(words.join(' '));
          for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});

describe('amounts', () => {
  it('formats dollars, percent, returns, ranges, times and hashes', () => {
    expect([
      formatUsdAmount(98_916.2),
      formatUsdAmount(-747_100_000, 1),
      formatUsdAmount(0),
      formatUsdAmount(999.999),
      formatUsdAmount(null),
    ]).toEqual(['98,916.20', '-747,100,000.0', '0.00', '1,000.00', '-']);
    expect([
      formatPercentOrDash(0.5844),
      formatPercentOrDash(null),
      formatReturn(237),
      formatReturn(-263),
      formatReturn(0),
      formatReturn(null),
    ]).toEqual(['58.4 %', '-', '+2.37 %', '-2.63 %', '+0.00 %', '-']);
    expect([formatRange({ low: 0.3057, high: 0.8631 }), formatRange(null), formatRange({ low: null, high: null })]).toEqual([
      '0.31 to 0.86',
      '-',
      '-',
    ]);
    expect([formatMinute('2026-11-21T21:35:00.000Z'), abbreviateHex(`0x${'ab'.repeat(32)}`)]).toEqual(['2026-11-21 21:35', '0xabab…abab']);
  });

  it('keeps the value of an amount', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), fc.boolean(), (cents, isDebt) => {
        const formatted = formatUsdAmount((isDebt ? -cents : cents) / 100);
        expect(formatted).toMatch(/^-?\d{1,3}(,\d{3})*\.\d\d$/);
        expect(Math.abs(Number(formatted.replaceAll(',', '')))).toBe(cents / 100);
        expect(formatted.startsWith('-')).toBe(isDebt && cents > 0);
      }),
    );
  });

  it('parses a limit in dollars exactly to the millionth and rejects anything else', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 999_999 }), (dollars, micros) => {
        expect(parseUsdOption('--max-usd', `${dollars}.${String(micros).padStart(6, '0')}`)).toBe(
          BigInt(dollars) * 1_000_000n + BigInt(micros),
        );
      }),
    );
    for (const text of ['', '.5', '1.', '-1', '1e3', '0x1', '1.0000001', ' 1', 'NaN'])
      expect(() => parseUsdOption('--max-usd', text)).toThrow('--max-usd');
  });
});

describe('formatEventLine', () => {
  it.each([
    [
      'signal.new',
      { date: '2026-11-21', horizon: '7d', signal: 'BUY', confidence: 0.591, btcPrice: 98_916.21, regime: 'CHOP' },
      '2026-11-21  7d  BUY  59.1 %  98,916.21 USD  CHOP',
    ],
    [
      'signal.new',
      { date: '2026-11-21', horizon: '7d', signal: 'GATED', confidence: null, btcPrice: 98_916.21, regime: 'CHOP' },
      '2026-11-21  7d  GATED  -  98,916.21 USD  CHOP',
    ],
    [
      'signal.resolved',
      { date: '2026-11-14', horizon: '7d', outcome: 'LOSS', direction: 'UP', returnBps: -263 },
      '2026-11-14  7d  LOSS  UP  -2.63 %',
    ],
    [
      'attestation.created',
      { date: '2026-11-14', horizon: '2d', type: 'prediction', uid: `0x${'ab'.repeat(32)}` },
      '2026-11-14  2d  prediction  0xabab…abab',
    ],
    [
      'wager.settled',
      { date: '2026-11-14', outcome: 'WIN', pnl: 3.5, market: 'BTC above 100000?' },
      '2026-11-14  WIN  3.50 USD  BTC above 100000?',
    ],
    ['wager.placed', { date: '2026-11-14', placed: false, reason: 'no edge', side: 'NONE', amount: 0 }, '2026-11-14  none  no edge'],
    ['regime.changed', { date: '2026-11-14', from: 'CHOP', to: 'CRISIS' }, '2026-11-14  CHOP to CRISIS'],
    ['something.else', { odd: 1 }, '{"odd":1}'],
  ])('formats %s as one line', (type, data, expected) => {
    const line = plain(formatEventLine({ id: 12, type, timestamp: '2026-11-21T21:35:00.000Z', data }, writerOf(120)));
    expect(line).toBe(`    12  2026-11-21 21:35  ${type.padEnd(19)}  ${expected}`);
    expect(plain(formatEventLine({ id: 12, type, timestamp: '2026-11-21T21:35:00.000Z', data }, writerOf(60))).length).toBeLessThanOrEqual(
      60,
    );
  });
});

describe('formatErrorBar', () => {
  const axis = { min: 0, max: 1 };

  it('draws an estimate with its interval on the axis, and cuts what is beyond', () => {
    expect(formatErrorBar(0.5, { low: 0.25, high: 1 }, axis)).toBe('     |----o---------|');
    expect(formatErrorBar(0.5, { low: -1, high: 2 }, axis)).toBe('|---------o---------|');
  });

  it('is empty without an interval, and on an axis without length', () => {
    expect(formatErrorBar(0.5, null, axis)).toBe('');
    expect(formatErrorBar(null, { low: 0, high: 1 }, axis)).toBe('');
    expect(formatErrorBar(1, { low: 1, high: 1 }, { min: 1, max: 1 })).toBe('');
  });
});
