import { formatPercent, formatUsd } from '../lib/format.ts';
import { formatDayAndMonth, formatHorizon, formatRegime, formatSignedPercent, truncate } from '../lib/format-text.ts';

export interface EventMessage {
  kind: string;
  text: string;
  tone?: 'good' | 'bad';
}

export function formatEvent(type: string, data: Record<string, any>): EventMessage {
  return EVENT_FORMATTERS[type]?.(data) ?? { kind: truncate(type, 40), text: '' };
}

const EVENT_FORMATTERS: Record<string, (data: Record<string, any>) => EventMessage> = {
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
export function formatEventGroup(type: string, all: readonly Record<string, any>[]): EventMessage {
  const [{ date, btcPrice, blockNumber }] = all;
  if (type === 'signal.new') {
    const calls = all.map((data) => `${formatHorizon(data.horizon)} ${formatCallValue(data)}`);
    return {
      kind: 'New calls',
      text: `Calls of ${formatDayAndMonth(date)}, with Bitcoin at ${formatUsd(btcPrice)}: ${calls.join('; ')}.`,
    };
  }
  const days = LIST.format(all.map(({ horizon }) => horizon.replace(/d$/, '')));
  return { kind: 'Committed', text: `Calls of ${formatDayAndMonth(date)} for ${days} days: committed on chain in block ${blockNumber}.` };
}

function formatCallName({ horizon, date }: Record<string, any>) {
  return `${formatHorizon(horizon)} call of ${formatDayAndMonth(date)}`;
}

function formatCallValue({ signal, direction, confidence }: Record<string, any>) {
  if (signal === 'GATED') return 'hidden';
  const sure = `${direction} at ${formatPercent(confidence)}`;
  return signal === 'HOLD' ? `HOLD, abstains (leans ${sure})` : `${signal}, ${sure}`;
}

function formatStake({ side, amount, odds, asset }: Record<string, any>) {
  if (side === null) return 'Hidden,';
  return `${formatPlainAmount(amount, asset)} on ${side} at odds of ${Number(odds).toFixed(2)},`;
}

function formatProfit({ outcome, pnl, asset }: Record<string, any>) {
  if (outcome === null || pnl === null) return '';
  return `: ${outcome}, ${pnl < 0 ? 'a loss' : 'a gain'} of ${formatPlainAmount(Math.abs(pnl), asset)}`;
}

function formatPlainAmount(amount: number, asset: string) {
  return `${amount.toFixed(2)} ${asset}`;
}

/** An attestation of the public record as an event. @param row of `GET /api/svc/onchain-oracle/history` */
export function formatAttestation(row: Record<string, any>): EventMessage {
  const scored = row.type === 'resolution' && (row.status === 'WIN' || row.status === 'LOSS');
  return formatEvent(scored ? 'signal.resolved' : 'attestation.created', scored ? { ...row, outcome: row.status } : row);
}
