import { el, type Markup, type MarkupElement } from '../markup.ts';
import type { AttestationFacts, ForecastFacts } from './forecast-facts.ts';
import { formatTime } from './format.ts';

interface Step {
  label: string;
  /** When it happened or is due; null: never, or not known. */
  at: string | null;
  isDone: boolean;
  link?: string | null;
}

type StepAttestation = Pick<AttestationFacts, 'at' | 'explorerUrl'> | null;

/** What of a forecast its steps show. */
export interface StepFacts extends Pick<ForecastFacts, 'state' | 'madeAt' | 'windowOpensAt' | 'endsAt' | 'now'> {
  committed: StepAttestation;
  revealed: StepAttestation;
}

/** Steps in the order of a forecast's life. A missed day was never made, a void one is never revealed. */
export function listSteps({ state, madeAt, committed, windowOpensAt, endsAt, revealed, now }: StepFacts): Step[] {
  const isReached = (at: string) => at <= now;
  const steps: Step[] = [
    { label: 'Made', at: state === 'missed' ? null : madeAt, isDone: state !== 'missed' },
    { label: 'Committed', at: committed?.at ?? null, isDone: committed !== null, link: committed?.explorerUrl },
    { label: 'Window opens', at: windowOpensAt, isDone: isReached(windowOpensAt) },
    { label: 'Window ends', at: endsAt, isDone: isReached(endsAt) },
    { label: 'Revealed', at: revealed?.at ?? null, isDone: revealed !== null, link: revealed?.explorerUrl },
  ];
  // A late commitment comes after the opening.
  return steps.toSorted((a, b) => (a.at === null || b.at === null ? 0 : a.at.localeCompare(b.at)));
}

export function renderSteps(steps: readonly Step[]): MarkupElement {
  return el('ol', { class: 'steps' }, steps.map(renderStep));
}

function renderStep({ label, at, isDone, link }: Step): Markup {
  const time = at === null ? '–' : el('time', { datetime: at }, formatTime(at));
  return el('li', { class: isDone ? 'is-done' : 'is-due' }, [
    el('span', { class: 'step-mark', 'aria-hidden': 'true' }, isDone ? '✓' : '○'),
    el('strong', {}, label),
    el('span', { class: 'visually-hidden' }, isDone ? ', done: ' : ', to come: '),
    el('span', { class: 'quiet' }, link == null ? time : el('a', { href: link }, time)),
  ]);
}
