import type { FirstScreenData } from './first-screen-data.ts';
import { formatClock, formatShortDate } from './format-figures.ts';

const WAITING_TEXTS = { starting: 'The service is starting', none: 'No forecast yet', loading: 'Loading…' } as const;
const OUTCOME_TEXTS = { WIN: 'Right', LOSS: 'Wrong', HOLD: 'HOLD, not scored' } as const;

/** State of the newest forecast in one line. */
export function formatStateLine({ call, waiting, range, horizonDays, access }: FirstScreenData): string {
  if (call === null) return WAITING_TEXTS[waiting];
  const { status, resolvesAt, attestationUid } = call;
  if (status === 'VOID') return 'Void: committed too late, never counts';
  if (status !== 'PENDING') return `Revealed ${formatShortDate(resolvesAt)}: ${OUTCOME_TEXTS[status]}`;
  const attestedAt = range?.horizons?.find(({ horizon }) => horizon === `${horizonDays}d`)?.attestedAt ?? null;
  const isSameDay = range !== null && call.predictionId.startsWith(range.date);
  // The range beside it is public at once.
  const [what, reveal] = access.tier === null ? ['Direction committed', 'revealed'] : ['Committed', 'public'];
  const committed = attestedAt !== null && isSameDay ? `${what} ${formatClock(attestedAt)}` : what;
  return `${attestationUid === null ? 'Not yet on chain' : committed}, ${reveal} ${formatShortDate(resolvesAt)}`;
}

/** What the reader has to know beside it: a missed day, lost access, a SELL. */
export function formatNote({ call, missedDate, access }: FirstScreenData): string {
  if (access.problem !== null && call === null) return access.problem;
  if (missedDate !== null) return `No forecast on ${formatShortDate(missedDate)}: the day is void.`;
  if (call?.signal === 'GATED' && access.tier !== null) return `The wallet no longer holds ${access.needed}.`;
  if (call?.signal === 'SELL' && access.sellNote !== null) return access.sellNote;
  return '';
}
