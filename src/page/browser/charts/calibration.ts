import { el } from '../../markup.ts';
import { buildDiamondPath, createChartSvg, createScale, measureTextWidth, renderVerticalGrid, type Scale } from './figure.ts';

/** A row of a forest plot; without a value it is text only. `figures`, `remark`: text at its end. */
export interface ForestRow {
  label: string;
  note?: string;
  value: number | null;
  low: number | null;
  high: number | null;
  /** A reference value of this row. */
  mark?: number | null;
  figures: string;
  remark?: string;
  /** No evidence of skill, drawn in grey. */
  quiet?: boolean;
}

const LINE_HEIGHT = 16;
const ROW_GAP = 14;
const WIDE_FROM_PX = 640;
const BOLD = { weight: 600 };

/** Estimates with intervals on one axis with a reference line. On narrow screens the labels stand above the bars. */
export function renderForestPlot(options: {
  width: number;
  rows: readonly ForestRow[];
  reference: number | null;
  sides?: readonly [below: string, above: string];
  tick: (value: number) => string;
  /** Range of the axis; intervals beyond it end in an arrow. */
  domain?: readonly [number, number];
}) {
  const { width, rows, reference, sides, tick, domain = computeDomain(rows, reference) } = options;
  const columns = computeColumns(width);
  const x = createScale(domain, [columns.left, columns.right], width >= WIDE_FROM_PX ? 6 : 4);
  const top = sides === undefined ? 6 : 24;
  let y = top;
  const lines = rows.map((row) => {
    const line = renderForestRow({ row, y, x, columns });
    y += line.height;
    return line;
  });
  // With labels above the bars, grid lines cover the bars only.
  const strips =
    columns.end === null
      ? lines.filter((_, index) => rows[index].value !== null).map(({ middle }) => ({ from: middle - 10, to: middle + 10 }))
      : [{ from: top, to: y }];
  return createChartSvg(
    { width, height: y + 26 },
    renderVerticalGrid({ ticks: x.ticks.map((value) => ({ at: x(value), label: tick(value) })), strips, foot: y + 18, width }),
    reference === null
      ? null
      : strips.map(({ from, to }) => el('line', { class: 'zero', x1: x(reference), x2: x(reference), y1: from, y2: to })),
    reference === null || sides === undefined ? null : renderSides({ x: x(reference), sides, columns }),
    lines.map(({ element }) => element),
  );
}

type Columns = ReturnType<typeof computeColumns>;

/** `end` is null when labels stand above the axis. */
function computeColumns(width: number) {
  if (width < WIDE_FROM_PX) return { label: width, left: 10, right: width - 10, end: null, text: width };
  const label = Math.min(230, width * 0.26);
  const text = Math.min(290, width * 0.29);
  return { label: label - 12, left: label + 10, right: width - text - 28, end: width - text, text };
}

function computeDomain(rows: readonly ForestRow[], reference: number | null): [number, number] {
  const values = rows.flatMap(({ value, low, high, mark }) => [value, low, high, mark]).concat(reference);
  const known = values.filter((value) => value !== null && value !== undefined);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = (high - low || 0.1) * 0.06;
  return [low - room, high + room];
}

interface Text {
  text: string;
  class: string;
  /** Right-aligned on the previous line. */
  end?: boolean;
}

function renderForestRow({ row, y, x, columns }: { row: ForestRow; y: number; x: Scale; columns: Columns }) {
  const wide = columns.end !== null;
  const left = wrapTexts({ strong: row.label, className: 'label', quiet: row.note, room: columns.label });
  const right = wrapTexts({ strong: row.figures, className: 'figures', quiet: row.remark, room: columns.text });
  const stacked = stackTexts(left, right, columns.text);
  const drawn = row.value !== null;
  const texts = wide ? Math.max(left.length, right.length) : stacked.filter(({ end }) => !end).length;
  const height = texts * LINE_HEIGHT + (wide ? ROW_GAP : (drawn ? 20 : 0) + ROW_GAP);
  const middle = wide ? y + (texts * LINE_HEIGHT) / 2 + 2 : y + texts * LINE_HEIGHT + 14;
  const element = el('g', { class: row.quiet ? 'estimate quiet-estimate' : 'estimate' }, [
    renderTexts({ texts: wide ? left : stacked, x: 0, right: columns.text, y }),
    wide ? renderTexts({ texts: right, x: columns.end ?? 0, right: 0, y }) : null,
    drawn ? renderMarks({ row, x, y: middle }) : null,
  ]);
  return { element, height, middle };
}

function wrapTexts({ strong, className, quiet = '', room }: { strong: string; className: string; quiet?: string; room: number }): Text[] {
  const font = className === 'label' ? BOLD : undefined;
  return [
    ...wrapText(strong, room, font).map((text) => ({ text, class: className })),
    ...wrapText(quiet, room).map((text) => ({ text, class: 'quiet-text' })),
  ];
}

function wrapText(text: string, width: number, font?: { weight?: number }): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((part) => part !== '')) {
    const longer = lines.length === 0 ? word : `${lines[lines.length - 1]} ${word}`;
    if (lines.length > 0 && measureTextWidth(longer, font) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Merges both columns; label and figures share a line where they fit. */
function stackTexts(left: readonly Text[], right: readonly Text[], room: number): readonly Text[] {
  const [label, ...notes] = left;
  const [figures, ...remarks] = right;
  const fits =
    notes.length === 0 &&
    label !== undefined &&
    figures !== undefined &&
    measureTextWidth(label.text, BOLD) + measureTextWidth(figures.text) + 16 <= room;
  return fits ? [label, { ...figures, end: true }, ...remarks] : [...left, ...right];
}

function renderTexts({ texts, x, right, y }: { texts: readonly Text[]; x: number; right: number; y: number }) {
  let line = -1;
  return texts.map(({ text, class: className, end }) => {
    if (!end) line += 1;
    return el('text', { x: end ? right : x, y: y + 14 + line * LINE_HEIGHT, class: className, 'text-anchor': end ? 'end' : null }, text);
  });
}

function renderMarks({ row, x, y }: { row: ForestRow; x: Scale; y: number }) {
  const [least, most] = x.domain;
  const { value, mark = null } = row;
  const low = row.low ?? value ?? 0;
  const high = row.high ?? value ?? 0;
  const from = x(Math.max(least, Math.min(most, low)));
  const to = x(Math.max(least, Math.min(most, high)));
  return [
    el('line', { class: 'interval', x1: from, x2: to, y1: y, y2: y }),
    low < least ? renderArrow(x(least), y, -1) : renderCap(from, y),
    high > most ? renderArrow(x(most), y, 1) : renderCap(to, y),
    value !== null && value >= least && value <= most
      ? el('rect', { class: 'square', x: x(value) - 3.5, y: y - 3.5, width: 7, height: 7 })
      : null,
    mark !== null && mark >= least && mark <= most ? el('path', { class: 'own-reference', d: buildDiamondPath(x(mark), y, 8) }) : null,
  ];
}

function renderCap(x: number, y: number) {
  return el('line', { class: 'interval', x1: x, x2: x, y1: y - 4, y2: y + 4 });
}

function renderArrow(x: number, y: number, direction: 1 | -1) {
  return el('path', { class: 'arrow', d: `M${x.toFixed(1)} ${y - 5}l${direction * 8} 5l${-direction * 8} 5z` });
}

function renderSides({ x, sides: [below, above], columns }: { x: number; sides: readonly [string, string]; columns: Columns }) {
  const [before, after] = [`← ${below}`, `${above} →`];
  return el('g', { class: 'sides', 'aria-hidden': 'true' }, [
    measureTextWidth(before) + 8 <= x - columns.left + 10 ? el('text', { x: x - 8, y: 12, 'text-anchor': 'end' }, before) : null,
    measureTextWidth(after) + 8 <= columns.right + 10 - x ? el('text', { x: x + 8, y: 12 }, after) : null,
  ]);
}
