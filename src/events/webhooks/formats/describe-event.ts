import { joinUrl } from '../../../platform/service-url.ts';
import type { PushedName } from '../../event-names.ts';
import type { EventPayload, PushedEvent } from '../../event-payloads.ts';
import type { PingMessage } from '../on-demand/ping-message.ts';
import type { ChatMessage } from './chat-message.ts';
import {
  describeExternal,
  describeHidden,
  describeName,
  describeReturn,
  describeShare,
  describeTime,
  describeUsd,
} from './describe-values.ts';

/** A message of a delivery, as its recipient may see it. */
export type DeliveredMessage = PushedEvent | PingMessage;

type Description = Omit<ChatMessage, 'link'> & { link?: Partial<ChatMessage['link']> };
type Descriptions = { [Name in PushedName]: (data: EventPayload<Name>) => Description };

const NO_SKILL = 'The record shows no skill of the direction that can be distinguished from luck. Not advice.';
const RECORD = 'Every forecast is committed on chain before its window opens, and scored in public.';
const REPLAYED = ' Replayed by a demonstration.';

/** A line of text for each kind of event: without an entry the type check fails. */
const DESCRIPTIONS: Descriptions = {
  'signal.new': describeSignal,
  'signal.resolved': describeResolution,
  'wager.placed': describePlacedWager,
  'wager.settled': describeSettledWager,
  'attestation.created': describeAttestation,
  'regime.changed': ({ from, to, riskLevel, date }) => ({
    title: `BTC/USD regime of ${date}: ${describeName(to)}`,
    fields: [
      ['From', describeName(from)],
      ['To', describeName(to)],
      ['Risk', describeName(riskLevel)],
    ],
    note: 'The regime describes past prices; it forecasts nothing.',
  }),
  'webhook.disabled': ({ webhookId, reason, failingSince, enableUrl }) => ({
    title: 'A webhook of yours was disabled',
    fields: [
      ['Webhook', webhookId],
      ['Reason', describeExternal(reason)],
      ...(failingSince === null ? [] : [['Failing since', describeTime(failingSince)] as const]),
    ],
    note: 'A POST with your token to the linked URL enables it again.',
    link: { label: 'Enable it', url: enableUrl },
  }),
};

/** The text of a message for chats. @param publicUrl of the service, for links */
export function describeMessage(message: DeliveredMessage, publicUrl: string): ChatMessage {
  const { link = {}, ...text } = message.type === 'ping' ? describePing(message) : describeEvent(message);
  const isReplayed = 'replayed' in message.data && message.data.replayed;
  const home = { label: 'The record', url: joinUrl(publicUrl, '/') };
  const { label, url } = { ...home, ...link };
  const absolute = url.startsWith('/') ? joinUrl(publicUrl, url) : url;
  return { ...text, note: `${text.note}${isReplayed ? REPLAYED : ''}`, link: { label, url: new URL(absolute).href } };
}

function describeEvent({ type, data }: PushedEvent): Description {
  return (DESCRIPTIONS[type] as (data: EventPayload) => Description)(data);
}

function describePing({ timestamp, data: { webhookId } }: PingMessage): Description {
  return {
    title: 'Test of a webhook: it works',
    fields: [
      ['Webhook', webhookId],
      ['Sent', describeTime(timestamp)],
    ],
    note: 'Events arrive like this message.',
  };
}

function describeSignal(data: EventPayload<'signal.new'>): Description {
  const { signal, direction, confidence, premium, btcPrice, windowOpensAt, resolvesAt, regime } = data;
  const leaning = direction === null || confidence === null ? '' : ` (${direction}, ${describeShare(confidence)})`;
  const quantiles = premium?.priceQuantiles;
  const range =
    quantiles === undefined ? [] : [['90 % range at the end', `${describeUsd(quantiles.p05!)} to ${describeUsd(quantiles.p95!)}`] as const];
  return {
    title: `BTC/USD, ${data.horizon} forecast of ${data.date}: ${signal}`,
    fields: [
      ['Signal', `${signal}${leaning}`],
      ...range,
      ['Price', describeUsd(btcPrice)],
      ['Window', `${describeTime(windowOpensAt)} to ${describeTime(resolvesAt)}`],
      ['Regime', describeName(regime)],
    ],
    note: NO_SKILL,
    link: linkForecast(data),
  };
}

function describeResolution(data: EventPayload<'signal.resolved'>): Description {
  const { signal, direction, confidence, outcome, actualDirection, returnBps, btcAtSignal, btcAtResolution, resolvedAt } = data;
  return {
    title: `BTC/USD, ${data.horizon} forecast of ${data.date}: ${outcome === 'WIN' ? 'right' : 'wrong'}`,
    fields: [
      ['Forecast', `${signal} (${direction}, ${describeShare(confidence)})`],
      ['Result', `${actualDirection}, ${describeReturn(returnBps)}`],
      ['Closes', `${describeUsd(btcAtSignal)} to ${describeUsd(btcAtResolution)}`],
      ['Resolved', describeTime(resolvedAt)],
    ],
    note: NO_SKILL,
    link: linkForecast(data),
  };
}

function describeAttestation(data: EventPayload<'attestation.created'>): Description {
  const { type, status, uid, txHash, attestedAt } = data;
  const isPrediction = type === 'prediction';
  return {
    title: `BTC/USD, ${data.horizon} forecast of ${data.date}: ${isPrediction ? 'committed' : 'resolution'} on chain`,
    fields: [
      ['Status', describeName(status)],
      ['Attestation', uid],
      ['Transaction', txHash],
      ['Block time', describeTime(attestedAt)],
    ],
    note: RECORD,
    link: linkForecast(data),
  };
}

function describePlacedWager(data: EventPayload<'wager.placed'>): Description {
  const { placed, reason, marketId } = data;
  if (placed !== false) return { title: `Wager of ${data.date}`, fields: describeStake(data), note: NO_SKILL };
  return {
    title: `No wager on ${data.date}`,
    fields: [
      ['Market', marketId === null ? 'none' : describeExternal(data.market)],
      ['Reason', describeExternal(reason ?? '')],
    ],
    note: RECORD,
  };
}

function describeSettledWager(data: EventPayload<'wager.settled'>): Description {
  const { outcome, winner, pnl, asset, settledAt } = data;
  return {
    title: `Wager of ${data.date} settled: ${winner} won the market`,
    fields: [
      ...describeStake(data),
      ['Outcome', describeHidden(outcome, describeName)],
      ['Profit', describeHidden(pnl, (amount) => `${amount.toFixed(2)} ${describeExternal(asset)}`)],
      ['Settled', describeTime(settledAt)],
    ],
    note: NO_SKILL,
  };
}

function describeStake({
  market,
  venue,
  asset,
  side,
  amount,
  odds,
}: Pick<EventPayload<'wager.placed'>, 'market' | 'venue' | 'asset' | 'side' | 'amount' | 'odds'>): ChatMessage['fields'] {
  return [
    ['Market', describeExternal(market)],
    ['Venue', describeExternal(venue)],
    ['Side', describeHidden(side, String)],
    ['Stake', describeHidden(amount, (stake) => `${stake.toFixed(2)} ${describeExternal(asset)}`)],
    ['Odds', describeHidden(odds, (decimal) => decimal.toFixed(2))],
  ];
}

function linkForecast({ date, horizon }: { date: string; horizon: string }): ChatMessage['link'] {
  return { label: 'The forecast', url: `/f/${date}/${horizon}` };
}
