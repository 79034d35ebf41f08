import { roundOrNull } from '../../../market/numbers.ts';
import type { ReportEnvelope, ReportedInput } from '../../../market/reports/envelope-fields.ts';
import { OracleError } from '../../../platform/errors.ts';
import { sanitizeText } from '../../../record/sanitize-text.ts';
import type { DocumentDeps } from '../deps.ts';
import type { DocumentBody } from '../document-head.ts';
import { formatSignedNumber } from '../format.ts';
import { FIGURES, type FigureSource, REVIEW_SECTIONS, type ReviewSection } from './macro-figures.ts';

export interface ReviewFigure {
  id: string;
  title: string;
  value: number | null;
  unit: string;
  change: number | null;
  changeUnit: string | null;
  changeOver: string | null;
  /** Correlation of its changes with bitcoin's returns, -1 to 1. */
  correlation: number | null;
  pairs: number | null;
  windowDays: number | null;
  source: string;
  observedAt: string | null;
  ageSeconds: number | null;
  stale: boolean;
  provisional: boolean;
}

const NOTES = [
  'No forecast is in this document.',
  'A correlation describes the past, most of them are weak, and none says which of the two moves the other.',
];

/** @throws OracleError PRICE_UNAVAILABLE before the first price, FEED_UNAVAILABLE */
export async function composeMacroReview(deps: DocumentDeps): Promise<DocumentBody> {
  const now = deps.now();
  const reports = [...new Set(FIGURES.map(({ report }) => report))];
  const answers = new Map(
    await Promise.all(reports.map(async (report) => [report, await deps.market.report(report, now.getTime())] as const)),
  );
  const figures = FIGURES.map((source) => ({ section: source.section, figure: toReviewFigure(source, answers.get(source.report)!, now) }));
  const listSection = (section: ReviewSection) => figures.filter((one) => one.section === section).map(({ figure }) => figure);
  const sections = Object.fromEntries(REVIEW_SECTIONS.map((section) => [section, listSection(section)])) as Record<
    ReviewSection,
    ReviewFigure[]
  >;
  return {
    forecastId: null,
    attestationUid: null,
    sentences: [...figures.map(({ figure }) => formatFigure(figure)), ...NOTES],
    ...sections,
    notes: NOTES,
  };
}

function toReviewFigure(source: FigureSource, report: ReportEnvelope, now: Date): ReviewFigure {
  const input = report.inputs.find(({ series }) => series === source.series) as ReportedInput;
  const value = readNumberAt(report, source.value);
  const { change, correlation } = source;
  return {
    id: source.id,
    title: source.title,
    value,
    unit: source.unit,
    change: change === undefined ? null : computeChange(readNumberAt(report, change.path), change.isEarlierValue ? value : null),
    changeUnit: change?.unit ?? null,
    changeOver: change?.over ?? null,
    correlation: correlation === undefined ? null : readNumberAt(report, `${correlation.path}.correlation`),
    pairs: correlation === undefined ? null : readNumberAt(report, `${correlation.path}.pairs`),
    windowDays: correlation === undefined ? null : readNumberAt(report, correlation.windowDays),
    ...toFigureOrigin(input, now),
  };
}

function computeChange(found: number | null, valueNow: number | null): number | null {
  if (found === null || valueNow === null) return found;
  return roundOrNull(valueNow - found, 2);
}

/** A field of a report by its path. @throws OracleError INTERNAL for an unknown path */
function readNumberAt(report: ReportEnvelope, path: string): number | null {
  const found = path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], report);
  if (typeof found === 'number' || found === null) return found;
  throw new OracleError('INTERNAL', `A market report has no number at ${path}`);
}

function toFigureOrigin({ source, observedAt, stale, provisional }: ReportedInput, now: Date) {
  const ageSeconds = observedAt === null ? null : Math.max(0, Math.round((now.getTime() - Date.parse(observedAt)) / 1_000));
  return { source, observedAt, ageSeconds, stale, provisional };
}

function formatFigure(figure: ReviewFigure): string {
  const { title, value, unit, change, changeUnit, changeOver, correlation, source, observedAt, stale } = figure;
  if (value === null) return `${title}: nothing is known.`;
  const changeText = change === null ? '' : `, ${formatSignedNumber(change)} ${changeUnit} over ${changeOver}`;
  const correlationText = correlation === null ? '' : `; correlation with bitcoin ${formatSignedNumber(correlation)}`;
  return `${title}: ${value} ${unit}${changeText}${correlationText} (${sanitizeText(source, 80)}, ${observedAt}${stale ? ', STALE' : ''}).`;
}
