import { randomBytes } from 'node:crypto';
import { isAddressEqual } from 'viem';
import { z } from 'zod';
import { readJson } from '../../../../platform/outbound/bounded-json.ts';
import { createOperatorFetch, type OutboundFetch } from '../../../../platform/outbound/operator-fetch.ts';
import { readCertificate } from '../../../../platform/outbound/probes/tls-certificate.ts';
import { isLoopbackAddress } from '../../../../platform/outbound/public-address.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import type { Check, DoctorDeps, RoleWallet } from '../../check.ts';
import { type Finding, fail, ok, orFinding, skipped, warn } from '../../finding.ts';
import { examineConnection, PROXY_SECTION } from './connection.ts';

const TIMEOUT_MS = 8_000;
const MAX_BYTES = 2 ** 20;
const MIN_CERTIFICATE_DAYS = 14;
const DAY_MS = 86_400_000;
const INFO = z.looseObject({ version: z.string(), chain: z.looseObject({ attester: z.string() }) });

/** The service as clients reach it: TLS, the right host behind the proxy, WebSockets, streams, and whose address counts. */
export const publicUrlCheck: Check = {
  id: 'public-url',
  title: 'Public address',
  needs: ['PUBLIC_URL', 'TRUST_PROXY'],
  needsTarget: true,
  async run({ config, roles }) {
    const { PUBLIC_URL: base } = config;
    if (base === undefined) return [skipped('PUBLIC_URL is not set')];
    const fetchService = createOperatorFetch({ base, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    const tls = checkCertificate(new URL(base));
    const answers = await checkService(fetchService, base, await roles());
    if (answers.some(({ level }) => level === 'fail')) return [...(await tls), ...answers];
    const rest = [
      orFinding(() => checkWebSocket(fetchService, base)),
      examineConnection(fetchService, base),
      checkProxyTrust(config, new URL(base)),
    ];
    return [...(await tls), ...answers, ...(await Promise.all(rest)).flat()];
  },
};

async function checkCertificate({ protocol, hostname, port }: URL): Promise<Finding[]> {
  if (protocol !== 'https:') return [];
  try {
    const { subject, validTo } = await readCertificate({ hostname, port: Number(port || 443) }, TIMEOUT_MS);
    const days = Math.floor((validTo.getTime() - Date.now()) / DAY_MS);
    const detail = `TLS: the certificate of ${subject} is valid for ${days} days`;
    return [days >= MIN_CERTIFICATE_DAYS ? ok(detail) : warn(detail, 'Look why the proxy has not renewed it.')];
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'no answer';
    return [fail(`TLS: no valid certificate for ${hostname} (${code})`, { action: PROXY_SECTION })];
  }
}

async function checkService(fetchService: OutboundFetch, base: string, roles: readonly RoleWallet[]): Promise<Finding[]> {
  const attester = roles.find(({ role }) => role === 'attester')?.address;
  try {
    const response = await fetchService(joinUrl(base, '/api/svc/info'));
    if (!response.ok) return [notYet(`${base} answers ${response.status}`)];
    const { version, chain } = INFO.parse(await readJson(response, MAX_BYTES));
    if (attester !== undefined && !isAddressEqual(chain.attester as `0x${string}`, attester))
      return [
        fail(`${base} is another service: its attester is ${chain.attester}`, { action: 'Point the name to this one, or set PUBLIC_URL.' }),
      ];
    return [ok(`${base} is this service, version ${version}`)];
  } catch {
    return [notYet(`${base} gives no valid answer`)];
  }
}

/** Before the first start nothing can answer. */
const notYet = (detail: string): Finding =>
  fail(detail, { action: `Start the service and the proxy, then run it again. ${PROXY_SECTION}` });

/** Without a token the handshake is answered 401; where a proxy drops `Upgrade`, the request is answered 426. */
async function checkWebSocket(fetchService: OutboundFetch, base: string): Promise<Finding> {
  const response = await fetchService(joinUrl(base, '/ws/signal'), {
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    },
  });
  if (response.status === 401) return ok('WebSocket handshakes reach the service');
  return fail(`a WebSocket handshake is answered ${response.status} instead of 401`, {
    action: `Let the proxy pass Upgrade. ${PROXY_SECTION}`,
  });
}

async function checkProxyTrust({ TRUST_PROXY }: DoctorDeps['config'], { protocol, hostname }: URL): Promise<Finding[]> {
  if (protocol !== 'https:' || TRUST_PROXY !== 0 || isLoopbackAddress(hostname)) return [];
  return [warn('https needs a proxy in front, and TRUST_PROXY trusts none: all clients share one limit', 'Set TRUST_PROXY to the proxy.')];
}
