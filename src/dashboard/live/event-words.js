import { percent, usd } from '../lib/format.js';
import { bounded, dayAndMonth, horizonWords, regimeWords, signedPercent } from '../lib/words.js';

/** @typedef {{ kind: string, words: string, tone?: 'good' | 'bad' }} Told what kind of event, and what it says in a sentence */

/**
 * An event in words.
 * @param {string} type
 * @param {Record<string, any>} data
 * @returns {Told}
 */
export function eventWords(type, data) {
  return WORDS[type]?.(data) ?? { kind: bounded(type, 40), words: '' };
}

/** @type {Record<string, (data: Record<string, any>) => Told>} */
const WORDS = {
  'signal.new': (data) => ({ kind: 'New call', words: `${callName(data)}: ${callWords(data)}, with Bitcoin at ${usd(data.btcPrice)}.` }),
  'signal.resolved': (data) => ({
    kind: 'Outcome',
    tone: data.outcome === 'WIN' ? 'good' : 'bad',
    words: `${callName(data)}: ${data.outcome}. It said ${data.direction}, and the price moved ${signedPercent(data.returnBps / 100)}.`,
  }),
  'wager.placed': (data) => ({
    kind: 'Wager',
    words:
      data.placed === false
        ? `None on ${dayAndMonth(data.date)}: ${bounded(data.reason)}.`
        : `${stakeWords(data)} on “${bounded(data.market)}”.`,
  }),
  'wager.settled': (data) => ({
    kind: 'Wager settled',
    ...(data.outcome === null ? {} : { tone: data.outcome === 'WIN' ? 'good' : 'bad' }),
    words: `“${bounded(data.market)}” ended ${data.winner}${profitWords(data)}.`,
  }),
  'attestation.created': (data) => ({
    kind: data.type === 'resolution' ? 'Revealed' : 'Committed',
    words:
      data.type === 'resolution'
        ? `${callName(data)}: ${data.status}, revealed on chain in block ${data.blockNumber}.`
        : `${callName(data)}: committed on chain in block ${data.blockNumber}.`,
  }),
  'regime.changed': (data) => ({
    kind: 'Regime',
    words: `From ${regimeWords(data.from)} to ${regimeWords(data.to)}; the risk is ${String(data.riskLevel).toLowerCase()} now.`,
  }),
  'webhook.disabled': ({ reason }) => ({ kind: 'Webhook', tone: 'bad', words: `One of yours is called no more: ${bounded(reason)}.` }),
};

const LIST = new Intl.ListFormat('en-GB');

/**
 * The calls of one day, which are made and committed together, in one sentence.
 * @param {string} type
 * @param {readonly Record<string, any>[]} all at least one
 * @returns {Told}
 */
export function groupWords(type, all) {
  const [{ date, btcPrice, blockNumber }] = all;
  if (type === 'signal.new') {
    const calls = all.map((data) => `${horizonWords(data.horizon)} ${callWords(data)}`);
    return { kind: 'New calls', words: `Calls of ${dayAndMonth(date)}, with Bitcoin at ${usd(btcPrice)}: ${calls.join('; ')}.` };
  }
  const days = LIST.format(all.map(({ horizon }) => horizon.replace(/d$/, '')));
  return { kind: 'Committed', words: `Calls of ${dayAndMonth(date)} for ${days} days: committed on chain in block ${blockNumber}.` };
}

/** @param {Record<string, any>} data */
function callName({ horizon, date }) {
  return `${horizonWords(horizon)} call of ${dayAndMonth(date)}`;
}

/** @param {Record<string, any>} data */
function callWords({ signal, direction, confidence }) {
  if (signal === 'GATED') return 'sealed';
  const sure = `${direction} at ${percent(confidence)}`;
  return signal === 'HOLD' ? `HOLD, abstains (leans ${sure})` : `${signal}, ${sure}`;
}

/** @param {Record<string, any>} data */
function stakeWords({ side, amount, odds, asset }) {
  if (side === null) return 'Sealed,';
  return `${money(amount, asset)} on ${side} at odds of ${Number(odds).toFixed(2)},`;
}

/** @param {Record<string, any>} data */
function profitWords({ outcome, pnl, asset }) {
  if (outcome === null || pnl === null) return '';
  return `: ${outcome}, ${pnl < 0 ? 'a loss' : 'a gain'} of ${money(Math.abs(pnl), asset)}`;
}

/** @param {number} amount @param {string} asset */
function money(amount, asset) {
  return `${amount.toFixed(2)} ${asset}`;
}

/**
 * An attestation of the public record, in the same words.
 * @param {Record<string, any>} row of `GET /api/svc/onchain-oracle/history`
 * @returns {Told}
 */
export function attestationWords(row) {
  const scored = row.type === 'resolution' && (row.status === 'WIN' || row.status === 'LOSS');
  return eventWords(scored ? 'signal.resolved' : 'attestation.created', scored ? { ...row, outcome: row.status } : row);
}
