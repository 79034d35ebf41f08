import { formatPercent, formatUsd } from '../lib/format.js';
import { formatDayAndMonth, formatHorizon, formatRegime, formatSignedPercent, truncate } from '../lib/format-text.js';

/** @typedef {{ kind: string, text: string, tone?: 'good' | 'bad' }} EventMessage */

/** @param {string} type @param {Record<string, any>} data @returns {EventMessage} */
export function formatEvent(type, data) {
  return EVENT_FORMATTERS[type]?.(data) ?? { kind: truncate(type, 40), text: '' };
}

/** @type {Record<string, (data: Record<string, any>) => EventMessage>} */
const EVENT_FORMATTERS = {
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

/**
 * One sentence for the calls of a day, which are made and committed together.
 * @param {string} type @param {readonly Record<string, any>[]} all at least one @returns {EventMessage}
 */
export function formatEventGroup(type, all) {
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

/** @param {Record<string, any>} data */
function formatCallName({ horizon, date }) {
  return `${formatHorizon(horizon)} call of ${formatDayAndMonth(date)}`;
}

/** @param {Record<string, any>} data */
function formatCallValue({ signal, direction, confidence }) {
  if (signal === 'GATED') return 'hidden';
  const sure = `${direction} at ${formatPercent(confidence)}`;
  return signal === 'HOLD' ? `HOLD, abstains (leans ${sure})` : `${signal}, ${sure}`;
}

/** @param {Record<string, any>} data */
function formatStake({ side, amount, odds, asset }) {
  if (side === null) return 'Hidden,';
  return `${formatPlainAmount(amount, asset)} on ${side} at odds of ${Number(odds).toFixed(2)},`;
}

/** @param {Record<string, any>} data */
function formatProfit({ outcome, pnl, asset }) {
  if (outcome === null || pnl === null) return '';
  return `: ${outcome}, ${pnl < 0 ? 'a loss' : 'a gain'} of ${formatPlainAmount(Math.abs(pnl), asset)}`;
}

/** @param {number} amount @param {string} asset */
function formatPlainAmount(amount, asset) {
  return `${amount.toFixed(2)} ${asset}`;
}

/**
 * An attestation of the public record as an event.
 * @param {Record<string, any>} row of `GET /api/svc/onchain-oracle/history` @returns {EventMessage}
 */
export function formatAttestation(row) {
  const scored = row.type === 'resolution' && (row.status === 'WIN' || row.status === 'LOSS');
  return formatEvent(scored ? 'signal.resolved' : 'attestation.created', scored ? { ...row, outcome: row.status } : row);
}
