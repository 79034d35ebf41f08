import type { AnyEventDraft } from '../../../src/events/log.ts';

const AT = new Date('2026-03-10T00:00:00Z');

/** An event that everybody may know. */
export function regimeDraft(key: string, at = AT): AnyEventDraft {
  const content = { date: '2026-03-09', from: 'CHOP', to: 'BULL_TREND', at, replayed: false } as const;
  return { type: 'regime.changed', key, at, horizonDays: null, wallet: null, content };
}

export const regimeDrafts = (from: number, count: number) => Array.from({ length: count }, (_, index) => regimeDraft(`e${from + index}`));

/** An event for one wallet only. @param wallet in lower case */
export function noticeDraft(key: string, wallet: string): AnyEventDraft {
  const content = { webhookId: '00000000-0000-4000-8000-000000000000', url: 'https://a.example/', reason: 'gone', failingSince: null };
  return { type: 'webhook.disabled', key, at: AT, horizonDays: null, wallet, content };
}
