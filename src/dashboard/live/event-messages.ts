import { formatPercent, formatUsd } from '../lib/format.ts';
import { formatDayAndMonth, formatHorizon, formatRegime, formatSignedPercent, truncate } from '../lib/format-text.ts';
import type { EventName, EventPayload } from '../state/responses.ts';

export interface EventMessage {
  kind: string;
  text: string;
  tone?: 'good' | 'bad';
}

export function formatEvent(type: string, data: object): EventMessage {
  const format: ((data: never) => EventMessage) | undefined = EVENT_FORMATTERS[type as EventName];
  return format?.(data as never) ?? { kind: truncate(type, 40), text: '' };
}

const EVENT_FORMATTERS: { [Name in EventName]: (data: EventPayload<Name>) => EventMessage } = {
  'signal.new': (data) => ({
    kind: 'New call',
    text: `${formatCallName(data)}: ${formatCallValue(data)}, with Bitcoin at ${formatUsd(data.btcPrice)}.`,
  }),
  'signal.resolved': (data) => ({
    kind: 'Outcome',
    tone: data.outcome === 'WIN' ? 'good' : 'bad',
    text: `${formatCallName(data)}: ${data.outcome}. Called ${data.direction}; the price moved ${formatSignedPercent(data.returnBps / 100)}.`,
  }),
  'wager.placed': (data) => ({
    kind: 'Wager',
    text:
      data.placed === false
        ? `None on ${formatDayAndMonth(data.date)}: ${truncate(data.reason)}.`
        : `${formatStake(data)} on “${truncate(data.market)}”.`,
  }),
  'wager.settled': (data) => ({
    kind: 'Wager settled',
    ...(data.outcome === null ? {} : { tone: data.outcome === 'WIN' ? 'good' : 'bad' }),
    text: `“${truncate(data.market)}” ended ${data.winner}${formatProfit(data)}.`,
  }),
  'attestation.created': (data) => ({
    kind: data.type === 'resolution' ? 'Revealed' : 'Committed',
    text:
      data.type === 'resolution'
        ? `${formatCallName(data)}: ${data.status}, revealed on chain in block ${data.blockNumber}.`
        : `${formatCallName(data)}: committed on chain in block ${data.blockNumber}.`,
  }),
  'regime.changed': (data) => ({
    kind: 'Regime',
    text: `From ${formatRegime(data.from)} to ${formatRegime(data.to)}; risk is now ${String(data.riskLevel).toLowerCase()}.`,
  }),
  'webhook.disabled': ({ reason }) => ({ kind: 'Webhook', tone: 'bad', text: `One of your webhooks was disabled: ${truncate(reason)}.` }),
};

const LIST = new Intl.ListFormat('en-GB');

/** One sentence for the calls of a day, which are made and committed together. @param all at least one */
export function formatEventGroup(type: string, all: readonly object[]): EventMessage {
  return type === 'signal.new'
    ? formatCalls(all as readonly EventPayload<'signal.new'>[])
    : formatCommitments(all as readonly EventPayload<'attestation.created'>[]);
}

function formatCalls(all: readonly EventPayload<'signal.new'>[]): EventMessage {
  const [{ date, btcPrice }] = all;
  const calls = all.map((data) => `${formatHorizon(data.horizon)} ${formatCallValue(data)}`);
  return { kind: 'New calls', text: `Calls of ${formatDayAndMonth(date)}, with Bitcoin at ${formatUsd(btcPrice)}: ${calls.join('; ')}.` };
}

function formatCommitments(all: readonly EventPayload<'attestation.created'>[]): EventMessage {
  const [{ date, blockNumber }] = all;
  const days = LIST.format(all.map(({ horizon }) => horizon.replace(/d$/, '')));
  return { kind: 'Committed', text: `Calls of ${formatDayAndMonth(date)} for ${days} days: committed on chain in block ${blockNumber}.` };
}

function formatCallName({ horizon, date }: { horizon: string; date: string }) {
  return `${formatHorizon(horizon)} call of ${formatDayAndMonth(date)}`;
}

function formatCallValue({ signal, direction, confidence }: EventPayload<'signal.new'>) {
  if (signal === 'GATED') return 'hidden';
  const sure = `${direction} at ${formatPercent(confidence)}`;
  return signal === 'HOLD' ? `HOLD, abstains (leans ${sure})` : `${signal}, ${sure}`;
}

function formatStake({ side, amount, odds, asset }: EventPayload<'wager.placed'>) {
  if (side === null) return 'Hidden,';
  return `${formatPlainAmount(amount ?? 0, asset)} on ${side} at odds of ${Number(odds).toFixed(2)},`;
}

function formatProfit({ outcome, pnl, asset }: EventPayload<'wager.settled'>) {
  if (outcome === null || pnl === null) return '';
  return `: ${outcome}, ${pnl < 0 ? 'a loss' : 'a gain'} of ${formatPlainAmount(Math.abs(pnl), asset)}`;
}

function formatPlainAmount(amount: number, asset: string) {
  return `${amount.toFixed(2)} ${asset}`;
}

/** An attestation of the public record as an event. @param row of `GET /api/svc/onchain-oracle/history` */
export function formatAttestation(row: { type?: string; status?: string }): EventMessage {
  const scored = row.type === 'resolution' && (row.status === 'WIN' || row.status === 'LOSS');
  return formatEvent(scored ? 'signal.resolved' : 'attestation.created', scored ? { ...row, outcome: row.status } : row);
}
