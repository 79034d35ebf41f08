import { type Day, formatDay } from '../../forecast/day.ts';
import { type Finding, formatSubject } from '../../verify/findings.ts';

/** A failed check; `message` is the difference in one sentence. */
export type AuditDifference = ReturnType<typeof listDifferences>[number];

/** More gaps of one check are one line. */
const MAX_ALIKE = 5;

export function listDifferences(findings: readonly Finding[]) {
  return findings
    .filter(({ outcome }) => outcome === 'fail')
    .map(({ check, subject, field, expected, actual, because }) => {
      const { horizonDays, day, sequence, uid } = subject;
      const date = day === null ? null : formatDay(day);
      return { check, horizonDays, date, sequence, uid, field, expected, found: actual, message: `${formatSubject(subject)}: ${because}` };
    });
}

/** Reasons of checks that could not be made though their evidence is due; missing closes are one line. */
export function listGaps(findings: readonly Finding[], missingCloses: readonly Day[]): string[] {
  const gaps = findings.filter(({ check, outcome, isDue }) => outcome === 'unknown' && isDue && check !== 'price');
  const count = missingCloses.length;
  const prices = count === 0 ? [] : [`${count} days have no price to check outcomes (${formatEnds(missingCloses)})`];
  const kinds = [...Map.groupBy(gaps, ({ check }) => check).values()];
  return [
    ...prices,
    ...kinds.flatMap(([first, ...more]) =>
      more.length < MAX_ALIKE ? [first, ...more].map(formatGap) : [`${formatGap(first)}; and ${more.length} more of this kind`],
    ),
  ];
}

function formatEnds(days: readonly Day[]): string {
  return [...new Set([days[0], days.at(-1) as Day])].map(formatDay).join(' to ');
}

function formatGap({ subject, because }: Finding): string {
  const { horizonDays, uid } = subject;
  return horizonDays === null && uid === null ? because : `${formatSubject(subject)}: ${because}`;
}
