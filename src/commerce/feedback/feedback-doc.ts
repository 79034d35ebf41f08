import { toLowerCaseAddress } from '../../chain/addresses.ts';
import type { Chain } from '../../chain/client.ts';
import type { FeedbackEvent, GivenFeedback } from '../../chain/erc8004/feedback-events.ts';
import { sanitizeText } from '../../record/sanitize-text.ts';
import type { ClientFeedbackDoc, FeedbackPayment } from './client-feedback-store.ts';

const MAX_TAG_CHARS = 40;
const MAX_URI_CHARS = 300;
/** More than a block has. */
const LOGS_PER_BLOCK = 1_000_000;

/** Key of an agent in the database. */
export function buildAgentKey({ chainId, addresses }: Pick<Chain, 'chainId' | 'addresses'>, agentId: number): string {
  return `${chainId}:${toLowerCaseAddress(addresses.reputationRegistry)}:${agentId}`;
}

export function buildFeedbackId(agent: string, { client, index }: Pick<FeedbackEvent, 'client' | 'index'>): string {
  return `${agent}:${toLowerCaseAddress(client)}:${index}`;
}

export function getFeedbackPosition({ blockNumber, logIndex }: Pick<FeedbackEvent, 'blockNumber' | 'logIndex'>): number {
  return Number(blockNumber) * LOGS_PER_BLOCK + logIndex;
}

export function toFeedbackDoc(agent: string, event: GivenFeedback, { paid, at }: FeedbackPayment): ClientFeedbackDoc {
  return {
    _id: buildFeedbackId(agent, event),
    agent,
    client: toLowerCaseAddress(event.client),
    index: event.index.toString(),
    value: event.value.toString(),
    valueDecimals: event.valueDecimals,
    stars: parseStars(event),
    tag1: sanitizeText(event.tag1, MAX_TAG_CHARS),
    tag2: sanitizeText(event.tag2, MAX_TAG_CHARS),
    feedbackUri: parseFeedbackUri(event.feedbackUri),
    feedbackHash: event.feedbackHash,
    position: getFeedbackPosition(event),
    block: Number(event.blockNumber),
    paid,
    at,
    revoked: false,
  };
}

function parseStars({ tag1, value, valueDecimals }: GivenFeedback): number | null {
  if (tag1 !== 'starred') return null;
  const stars = Number(value) / 10 ** valueDecimals;
  return stars >= 0 && stars <= 100 ? stars : null;
}

function parseFeedbackUri(text: string): string | null {
  if (text.length > MAX_URI_CHARS || !URL.canParse(text)) return null;
  const { protocol, href } = new URL(text);
  return (protocol === 'https:' || protocol === 'ipfs:') && href.length <= MAX_URI_CHARS ? href : null;
}
