import { IDENTITY } from '../../../../../agent-card/identity.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import type { AttestationView } from '../../../../record/attestations/view.ts';
import { formatReturn, formatShare } from '../../../../views/forecast/format.ts';
import { formatUtc } from '../../../../views/time.ts';
import { FEED_MEDIA_TYPE, FEED_PATH } from './feed-paths.ts';
import { type Xml, xml, xmlText } from './xml.ts';

export interface FeedInput {
  publicUrl: string;
  /** EAS explorer; null where none is known. */
  explorerUrl: string | null;
  /** As an anonymous caller sees them, newest first. */
  attestations: readonly AttestationView[];
}

/** RFC 4287 requires a time also of a feed without entries. */
const NEVER = '1970-01-01T00:00:00.000Z';

/**
 * The feed of RFC 4287. Entries never change, so that their time is that of their block: one of a commitment holds no value of the
 * forecast, and one of a resolution is made when all values are public.
 */
export function renderAtomFeed(input: FeedInput): string {
  const { publicUrl, attestations } = input;
  const self = joinUrl(publicUrl, FEED_PATH);
  const feed = xml(
    'feed',
    { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': 'en' },
    xmlText('title', IDENTITY.name),
    xmlText('subtitle', IDENTITY.description),
    xmlText('id', self),
    xmlText('updated', attestations[0]?.attestedAt ?? NEVER),
    xml('link', { rel: 'self', type: FEED_MEDIA_TYPE, href: self }),
    xml('link', { rel: 'alternate', type: 'text/html', href: joinUrl(publicUrl, '/f') }),
    xmlText('icon', joinUrl(publicUrl, '/icon.svg')),
    xml('author', {}, xmlText('name', IDENTITY.name), xmlText('uri', joinUrl(publicUrl, '/'))),
    ...attestations.map((view) => renderEntry(view, input)),
  );
  return `<?xml version="1.0" encoding="utf-8"?>\n${feed}\n`;
}

function renderEntry(view: AttestationView, { publicUrl, explorerUrl }: FeedInput): Xml {
  const { date, horizon, uid, type, attestedAt, replayed } = view;
  const kind = type === 'prediction' ? 'committed' : 'resolved';
  const { title, summary } = type === 'prediction' ? describeCommitment(view) : describeResolution(view);
  return xml(
    'entry',
    {},
    xmlText('title', title),
    xmlText('id', `tag:${new URL(publicUrl).hostname},${date}:${horizon}/${kind}`),
    xmlText('published', attestedAt),
    xmlText('updated', attestedAt),
    xml('link', { rel: 'alternate', type: 'text/html', href: joinUrl(publicUrl, `/f/${date}/${horizon}`) }),
    xml('link', { rel: 'related', type: 'application/json', href: joinUrl(publicUrl, `/api/svc/onchain-oracle/verify/${uid}`) }),
    ...(explorerUrl === null ? [] : [xml('link', { rel: 'related', type: 'text/html', href: `${explorerUrl}/attestation/view/${uid}` })]),
    xml('category', { term: kind }),
    ...(replayed ? [xml('category', { term: 'replayed' })] : []),
    xmlText('summary', summary, { type: 'text' }),
  );
}

function describeCommitment({ date, horizon, status, missed, attestedAt, windowOpensAt, resolvesAt, commitment, uid }: AttestationView) {
  const at = `The ${horizon} forecast of ${date} was committed on chain at ${formatUtc(attestedAt)}`;
  const proof = `Commitment ${commitment}, attestation ${uid}.`;
  if (missed)
    return { title: `No forecast of ${date} (${horizon})`, summary: `Nothing was forecast; an empty entry keeps the sequence. ${proof}` };
  if (status === 'VOID') {
    return {
      title: `Forecast of ${date} (${horizon}) void`,
      summary: `${at}, after its window had opened. It counts for nothing. ${proof}`,
    };
  }
  const window = `before its window, ${formatUtc(windowOpensAt)} to ${formatUtc(resolvesAt)}`;
  return { title: `Forecast of ${date} (${horizon}) committed`, summary: `${at}, ${window}. ${proof}` };
}

const RESULTS = { WIN: 'right', LOSS: 'wrong' } as const;

function describeResolution({ date, horizon, signal, direction, pUp, outcome, returnBps, attestedAt, uid }: AttestationView) {
  const result = outcome === null ? 'resolved (HOLD)' : RESULTS[outcome];
  const call = direction === null ? '' : `It said ${signal}, ${direction} with P(up) ${formatShare(pUp)}. `;
  const scored = outcome === null ? 'A HOLD is not scored. ' : '';
  return {
    title: `Forecast of ${date} (${horizon}) ${result}: BTC moved ${formatReturn(returnBps)}`,
    summary: `${call}BTC moved ${formatReturn(returnBps)} within the window. ${scored}Revealed at ${formatUtc(attestedAt)}, attestation ${uid}.`,
  };
}
