import type { OutboundFetch } from '../../../../platform/outbound/operator-fetch.ts';
import { isLoopbackAddress, isPublicAddress } from '../../../../platform/outbound/public-address.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import { type Finding, fail, ok, orFinding, warn } from '../../finding.ts';

export const PROXY_SECTION = 'See "Reverse proxy" in docs/OPERATE.md.';
/** RFC 5737: the address of no client. */
const CLAIMED_ADDRESS = '198.51.100.1';
/** The service sends the events a second apart. */
const MIN_GAP_MS = 300;

/** Whose address limits are counted for, and whether streams arrive as they are sent: from `GET /api/connection`. */
export function examineConnection(fetchService: OutboundFetch, base: string): Promise<Finding[]> {
  return orFinding(async () => {
    const response = await fetchService(joinUrl(base, '/api/connection'), { headers: { 'X-Forwarded-For': CLAIMED_ADDRESS } });
    const { text, gapMs } = await readStream(response);
    return [judgeAddress(text, new URL(base)), judgeGap(gapMs)];
  });
}

/** @returns the text, and the time from its first part to its end */
async function readStream(response: Response): Promise<{ text: string; gapMs: number }> {
  const decoder = new TextDecoder();
  let text = '';
  let firstAtMs: number | null = null;
  for await (const part of response.body ?? []) {
    firstAtMs ??= performance.now();
    text += decoder.decode(part, { stream: true });
  }
  return { text, gapMs: performance.now() - (firstAtMs ?? performance.now()) };
}

function judgeAddress(text: string, { hostname }: URL): Finding {
  const address = /"address":"([^"]+)"/.exec(text)?.[1];
  if (address === undefined) return fail('GET /api/connection does not answer', { action: PROXY_SECTION });
  if (address === CLAIMED_ADDRESS)
    return warn(
      'X-Forwarded-For of a client is believed: it can choose the address that its limit is counted for',
      `Let the proxy replace the header, and set TRUST_PROXY to its address. ${PROXY_SECTION}`,
    );
  const isOwnMachine = hostname === 'localhost' || isLoopbackAddress(hostname.replaceAll(/[[\]]/g, ''));
  if (!isOwnMachine && !address.includes('/') && !isPublicAddress(address))
    return warn(
      `limits are counted for ${address}, which is no public address: if that is the proxy, all clients share its limits`,
      `Set TRUST_PROXY to the proxy, unless this command runs in the same network. ${PROXY_SECTION}`,
    );
  return ok(`limits are counted for ${address}, whatever X-Forwarded-For a client sends`);
}

function judgeGap(gapMs: number): Finding {
  if (gapMs >= MIN_GAP_MS) return ok('streams arrive as they are sent');
  return warn('a proxy buffers streams: events reach clients late or never', `Switch its buffering off. ${PROXY_SECTION}`);
}
