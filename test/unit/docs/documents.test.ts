import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { MAX_STREAMS } from '../../../src/a2a/server.ts';
import { LOGIN_WINDOW_MS } from '../../../src/auth/login-message.ts';
import { MCP_PATHS, RESOURCE_METADATA_PATH } from '../../../src/auth/oauth-clients.ts';
import { REQUEST_SCOPE_MULTIPLES } from '../../../src/auth/rate-limits.ts';
import { TIER_REQUIREMENTS } from '../../../src/auth/tiers.ts';
import { TOKEN_LIFETIME_SECONDS } from '../../../src/auth/tokens.ts';
import { loadConfig } from '../../../src/config.ts';
import { WEBSOCKET } from '../../../src/events/events.ts';
import { EVENT_RETENTION_DAYS } from '../../../src/events/log.ts';
import { MAX_SECRET_LENGTH, MIN_SECRET_BYTES, WEBHOOK_CALL_TIMEOUT_MS } from '../../../src/events/webhooks/call.ts';
import { MAX_REPLAYED_EVENTS_PER_DAY, MAX_WEBHOOKS_PER_WALLET, PREVIOUS_SECRET_HOURS } from '../../../src/events/webhooks/registry.ts';
import { MAX_FRAMES_PER_MINUTE, TICKET_SECONDS } from '../../../src/events/websocket/hub.ts';
import { BODY_LIMIT_BYTES, MAX_URL_CHARS } from '../../../src/http/guard.ts';
import { renderProblemsTable } from '../../../src/http/routes/docs.ts';
import { SERVER_METADATA_PATH } from '../../../src/http/routes/oauth.ts';
import { declaredRoutes } from '../../../src/http/routes.ts';
import { buildEventTables } from '../../../src/tools/docs-tables.ts';
import { MAX_STAKE_FRACTION } from '../../../src/wager/sizing.ts';
import { MIN_SETTLED_MARKETS } from '../../../src/wager/wagers.ts';
import { DOCUMENTS, documentText, ROOT, unpadded } from '../../support/docs/documents.ts';

const routes = declaredRoutes();
const api = documentText('docs/API.md');
const readme = documentText('README.md');
const events = documentText('docs/EVENTS.md');

describe('docs/API.md', () => {
  it('has the table of all errors', () => {
    expect(unpadded(api), 'run npm run docs:tables').toContain(`<!-- problems -->\n${unpadded(renderProblemsTable(routes))}\n`);
  });
});

describe('docs/EVENTS.md', () => {
  it.each(Object.entries(buildEventTables()))('has what the code says of %s', (marker, table) => {
    expect(unpadded(events), 'run npm run docs:tables').toContain(`<!-- ${marker} -->\n${unpadded(table)}\n<!-- /${marker} -->`);
  });
});

describe.each(DOCUMENTS)('%s', (name) => {
  const text = documentText(name);

  it('names no path that is not served', () => {
    // The page below the first is no operation, the protocol endpoints are none, and each skill is one of its own.
    const mcp = Object.values(MCP_PATHS).flatMap((path) => [path, `${RESOURCE_METADATA_PATH}${path}`]);
    const others = ['/admin', ENDPOINTS.a2a, ENDPOINTS.a2aRest, ...mcp, SERVER_METADATA_PATH, `${ENDPOINTS.skills}/{skill}`];
    const served = [...others, ...routes.map(({ path }) => path)].map(patternOf);
    for (const path of pathsIn(text))
      expect(
        served.some((pattern) => pattern.test(path)),
        path,
      ).toBe(true);
  });

  it('links to what is there', () => {
    for (const [, link] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [file, anchor] = link.split('#');
      const target = file === '' ? resolve(ROOT, name) : resolve(ROOT, dirname(name), file);
      expect(existsSync(target), link).toBe(true);
      if (anchor !== undefined) expect(anchorsIn(readFileSync(target, 'utf8')), link).toContain(anchor);
    }
  });
});

describe('numbers in the documents', () => {
  const { RATE_LIMIT_PUBLIC, RATE_LIMIT_WALLET, RATE_LIMIT_RPC, RATE_LIMIT_TASKS } = loadConfig({});
  const tokenMinutes = TOKEN_LIFETIME_SECONDS / 60;
  const windowMinutes = LOGIN_WINDOW_MS / 60_000;

  it.each([
    `| Gate tokens of the wallet, at least | none | ${inWords(TIER_REQUIREMENTS.basic)} | ${inWords(TIER_REQUIREMENTS.premium)} |`,
    `| Requests a minute | ${RATE_LIMIT_PUBLIC} an address | ${RATE_LIMIT_WALLET} a wallet | ${RATE_LIMIT_WALLET} a wallet |`,
  ])('README.md says: %s', (words) => expect(flowing(readme)).toContain(words));

  it.each([
    `| \`public\` | requests of one address (IPv6: one /64) without a valid token | ${RATE_LIMIT_PUBLIC} |`,
    `| \`wallet\` | requests of one wallet with a token, from wherever | ${RATE_LIMIT_WALLET} |`,
    `| \`rpc\` | requests of one address to operations that ask the chain, on top | ${RATE_LIMIT_RPC} |`,
    `without a token: ${RATE_LIMIT_TASKS} an hour`,
    `a /56 has ${REQUEST_SCOPE_MULTIPLES['/56']} times, a /48 ${REQUEST_SCOPE_MULTIPLES['/48']} times the limit of one address`,
    `${MAX_STREAMS.perClient} streams can be open for a caller`,
    `Webhooks: ${MAX_WEBHOOKS_PER_WALLET} a wallet. WebSockets: ${WEBSOCKET.connectionsPerWallet} a wallet at a time. Bodies: JSON, ${BODY_LIMIT_BYTES / 1024} KiB, not compressed. URLs: ${MAX_URL_CHARS} characters.`,
    `for ${tokenMinutes} minutes`,
    `one login within ${windowMinutes} minutes`,
    `at most ${MAX_STAKE_FRACTION * 100} %`,
    `on ${MIN_SETTLED_MARKETS} settled markets`,
  ])('docs/API.md says: %s', (words) => expect(flowing(api)).toContain(words));

  it.each([
    `kept for ${EVENT_RETENTION_DAYS} days`,
    `opens one connection within ${TICKET_SECONDS} seconds`,
    `beyond ${WEBSOCKET.connectionsPerWallet} connections per wallet`,
    `at most ${MAX_FRAMES_PER_MINUTE.all} messages per minute`,
    `sent every ${WEBSOCKET.pingSeconds} seconds`,
    `After a disconnect wait ${WEBSOCKET.reconnectSeconds} seconds`,
    `A 2xx within ${WEBHOOK_CALL_TIMEOUT_MS / 1_000} seconds`,
    `${MAX_REPLAYED_EVENTS_PER_DAY} replayed events per UTC day`,
    `For ${PREVIOUS_SECRET_HOURS} hours deliveries carry two signatures`,
    `at least ${MIN_SECRET_BYTES} bytes, at most ${MAX_SECRET_LENGTH} characters`,
    `A wallet can have ${MAX_WEBHOOKS_PER_WALLET} webhooks.`,
  ])('docs/EVENTS.md says: %s', (words) => expect(flowing(events)).toContain(words));

  it('of the README on recorded history are those of the model card', () => {
    const recorded = documentText('docs/MODEL.md').split('<!-- recorded -->')[1];
    const [days, , right, always, , , crps, recent] = unpadded(recorded)
      .match(/^\| 7d \| (\d+ \|.*)$/m)![1]
      .split(' | ');
    const figures = (cell: string) => cell.match(/-?[\d.]+/g)!;
    const [skill, low, high] = figures(crps);
    const [recentSkill, recentLow, recentHigh] = figures(recent);
    const said = flowing(readme);
    expect(said).toContain(`${inWords(BigInt(days))} days from 2017 to 2026`);
    expect(said).toContain(`the 7-day direction was right on ${right} of days, and always saying UP on ${always}`);
    expect(said).toContain(`${skill} % by CRPS, 95 % interval ${low} to ${high}`);
    expect(said).toContain(`${recentSkill} %, 95 % interval ${recentLow} to ${recentHigh}`);
    const guessed = recorded.match(/Agreement of shorter horizons with the 7d .* and its signal on ([\d.]+ %)/)![1];
    const [, sameSignal] = unpadded(recorded).match(/^\| 3d \| [\d.]+ % \| ([\d.]+ %) \|/m)!;
    expect(said).toContain(`the 3-day forecast had the signal of the 7-day one, which is still open then, on ${sameSignal} of days`);
    expect(said).toContain(`without it a guess is right on ${guessed}`);
  });
});

function inWords(tokens: bigint): string {
  return tokens.toLocaleString('en-US');
}

/** Without the line breaks of paragraphs and the padding of tables. */
function flowing(markdown: string): string {
  return unpadded(markdown.replaceAll('\n', ' '));
}

const HERE = /http:\/\/127\.0\.0\.1:3000|https:\/\/oracle\.example(?=\/)/g;

/** Paths of this service that a text names, without their queries. */
function pathsIn(text: string): string[] {
  const found =
    text.replaceAll(HERE, ' ').match(/(?<![\w./])\/(?:api|admin|docs|health|ready|ipfs|oracle|ws|\.well-known)\b(?:[\w/.{}-]|<\w+>)*/g) ??
    [];
  return found.map((path) => path.replace(/[./]+$/, ''));
}

/** What a declared path matches: values, placeholders and its own names. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

/** As GitHub makes them of headings. */
function anchorsIn(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}
