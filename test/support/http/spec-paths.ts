import { SKILLS } from '../../../skills/index.ts';
import type { AccessLevel } from '../../../src/http/route.ts';

export interface SpecPath {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  /** `paid`: open to everybody who pays for the very answer. */
  tier: AccessLevel | 'paid';
}

type Tier = SpecPath['tier'];

const of =
  (method: SpecPath['method'], tier: Tier) =>
  (path: string): SpecPath => ({ method, path, tier });

/** Everything that section 4 of the interface lists, in its order. */
export const SPEC_PATHS: SpecPath[] = [
  // 4.1
  ...[
    '/api/svc/open/signal',
    '/api/svc/signal',
    '/api/svc/scorecard',
    '/api/svc/widget',
    '/api/svc/daily-brief',
    '/api/svc/onchain-oracle/latest',
    '/api/svc/onchain-oracle/history',
    '/api/svc/onchain-oracle/verify/{uid}',
    '/api/svc/onchain-oracle/stats',
    '/api/btc-price',
    '/api/fear-greed',
    '/api/etf-flows',
    '/api/macro-correlation',
    '/api/svc/agent/identity',
    '/api/svc/agent/reputation',
    '/.well-known/agent-card.json',
    '/api/svc/commerce/offerings',
    '/api/svc/copy-trade/status',
    '/api/svc/crowd-vs-oracle',
    '/api/svc/crowd-accuracy',
    '/api/svc/prediction-markets',
    '/.well-known/openapi.json',
    '/api/svc/verify/{wallet}',
    '/api/status',
    '/api/cache/stats',
    '/api/etf-analytics',
    '/api/derivatives-summary',
    '/api/economic-indicators',
    '/api/interest-rates',
    '/api/liquidation-heatmap',
    '/api/sth-pnl-ratio',
    '/api/svc/clawstake/status',
    '/api/svc/clawstake/markets',
    '/api/svc/prestake/leaderboard',
    '/api/refs/leaderboard',
    '/api/refs/stats',
    '/api/svc/partner-stats',
    '/api/svc/revenue',
    '/api/svc/info',
    '/api/claw/latest',
    '/api/claw/archive/{weekId}',
    '/api/claw/ecosystem',
  ].map(of('get', 'public')),
  of('post', 'public')('/api/svc/prestake/commit'),
  of('get', 'public')('/.well-known/x402.json'),
  ...[
    '/api/self-test/status',
    '/api/self-test/walk-forward',
    '/api/self-test/contamination',
    '/api/self-test/stability',
    '/api/self-test/polymarket-comparison',
  ].map(of('get', 'public')),
  // 4.2
  of('post', 'public')('/api/svc/oracle/verify'),
  // 4.3
  ...['/api/svc/oracle', '/api/svc/regime', '/api/svc/regime/history', '/api/svc/webhooks'].map(of('get', 'basic')),
  of('post', 'basic')('/api/svc/webhooks/register'),
  of('delete', 'basic')('/api/svc/webhooks/{id}'),
  of('get', 'basic')('/ws/signal'),
  // 4.4
  ...['/api/svc/oracle/premium', '/api/svc/copy-trade/next', '/api/svc/copy-trade/history'].map(of('get', 'premium')),
  // 4.5
  of('post', 'basic')('/api/svc/a2a/tasks/send'),
  of('get', 'basic')('/api/svc/a2a/tasks/{id}'),
  // Paid for before it is asked: no header of its own carries the payment.
  of('post', 'public')('/api/svc/commerce/purchase'),
  ...['/oracle', '/oracle/premium'].map(of('get', 'paid')),
];

/** What the service has beyond the interface. */
export const OWN_PATHS: SpecPath[] = [
  ...[
    '/',
    '/page/{file}',
    '/f',
    '/f.csv',
    '/f/{date}/{horizon}',
    '/preview.png',
    '/api/svc/wagers',
    '/api/svc/dataset',
    '/api/svc/dataset/{table}.csv',
    '/api/svc/dataset/{table}.parquet',
    '/api/svc/distributions',
    '/api/svc/challenge',
    '/api/svc/scorecard/series',
    '/api/svc/scorecard/series.csv',
    '/api/svc/open/feed.atom',
    '/api/svc/open/calendar.ics',
    '/health',
    '/ready',
    '/docs',
    '/docs/{file}',
    '/openapi.json',
    '/ipfs/{cid}',
    '/.well-known/asyncapi.json',
    '/.well-known/agent-registration.json',
    '/.well-known/agent-card-jwks.json',
    '/.well-known/mcp/server.json',
    '/.well-known/mcp/server-card.json',
    '/.well-known/mcp.json',
    '/.well-known/agent.json',
    '/.well-known/security.txt',
    '/robots.txt',
    '/favicon.ico',
    '/mcp/server-card',
    '/.well-known/ai-catalog.json',
    '/.well-known/api-catalog',
    '/llms.txt',
    '/SKILL.md',
    '/methodology.md',
    '/method',
    '/agents',
    '/verify',
    '/operate',
    '/documents/{file}',
    '/icon.svg',
    '/.well-known/jwks.json',
    '/.well-known/x402',
    '/api/svc/agent/feedback/{date}',
    '/api/svc/agent/reputation/feedback',
    '/api/svc/agent/feedback/payments/{txHash}/{payer}',
    '/api/svc/agent/feedback/payments/{txHash}/{payer}/transaction',
    '/api/svc/oracle/nonce',
    '/api/svc/oracle/access',
    '/access',
    '/api/claw/archive',
    '/api/svc/skills',
    '/api/connection',
    '/api/svc/open/range',
    '/api/svc/commerce/jobs/{jobId}',
  ].map(of('get', 'public')),
  ...['keys/message', 'keys', 'access/message', 'access'].map((what) => of('post', 'public')(`/api/svc/oracle/${what}`)),
  of('delete', 'public')('/api/svc/oracle/access/{id}'),
  ...SKILLS.map(({ id, tier }) => of('post', tier)(`/api/svc/skills/${id}`)),
  of('get', 'basic')('/api/svc/webhooks/{id}'),
  of('patch', 'basic')('/api/svc/webhooks/{id}'),
  ...['secret', 'enable', 'test', 'replay'].map((what) => of('post', 'basic')(`/api/svc/webhooks/{id}/${what}`)),
  of('get', 'basic')('/api/svc/webhooks/{id}/deliveries'),
  of('post', 'basic')('/api/svc/ws/ticket'),
  of('post', 'public')('/rpc'),
  of('post', 'public')('/'),
  of('post', 'public')('/api/svc/oracle/siwe'),
  ...['/api/demo/login', '/api/demo/signature', '/api/demo/payment'].map(of('post', 'public')),
  of('post', 'public')('/api/svc/commerce/answers'),
  of('post', 'public')('/api/svc/commerce/jobs/{jobId}/deliverable'),
  of('delete', 'public')('/api/svc/oracle/session'),
  ...['/admin/steps', '/admin/audit'].map(of('get', 'admin')),
  ...[
    '/admin/steps/{step}',
    '/admin/wagers/pause',
    '/admin/wagers/resume',
    '/admin/webhooks/{id}/disable',
    '/admin/keys/rotate',
    '/admin/card-keys/rotate',
    '/admin/wallets/{wallet}/revoke',
  ].map(of('post', 'admin')),
];

/** Paths of a Markdown text as section 4 writes them: in tables, and in backticks, where GET goes without saying. */
export function pathsIn(markdown: string): { method: string; path: string }[] {
  return markdown.split('\n').flatMap((line) => {
    const [, method, paths] = /^\| (GET|POST|DELETE|WSS) \| ([^|]+?) \|/.exec(line) ?? [];
    if (method !== undefined) return paths.split(', ').map((path) => ({ method: method === 'WSS' ? 'get' : method.toLowerCase(), path }));
    return [...line.matchAll(/`(?:(GET|POST|DELETE) )?(\/[^\s`]*)`/g)].map(([, verb = 'GET', path]) => ({
      method: verb.toLowerCase(),
      path,
    }));
  });
}
