import { el, type Markup } from '../markup.ts';

export type OriginKind = 'live' | 'csv' | 'simulated';

const MARKS: Record<OriginKind, string> = {
  simulated: 'Simulated market',
  csv: 'Recorded history',
  live: 'Live market data',
};

const CAUTIONS: Record<OriginKind, string> = {
  simulated: ': no evidence of skill',
  csv: ': not the current market',
  live: '',
};

/** What the prices are, and what they are not evidence of. */
export function renderOriginMark(kind: OriginKind, { isStale }: { isStale: boolean }): Markup {
  return [el('strong', {}, MARKS[kind]), kind === 'live' && isStale ? ': the newest price is stale' : CAUTIONS[kind]];
}
