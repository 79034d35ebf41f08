import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import type { DemoFile } from '../../dev/demo/demo-file.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { DemoCommands } from './demo-commands.ts';

export interface BannerContent {
  name: string;
  version: string;
  url: string;
  /** URL of the page; null for a process that serves none. */
  pageUrl: string | null;
  source: string;
  reason: string | null;
  /** First and last day and the number of replayed days; null while the record is empty. */
  record: { from: Day; to: Day; replayedDays: number } | null;
  demo: DemoFile | null;
  demoPath: string;
  /** Null without demo wallets. */
  demoCommands: DemoCommands | null;
  exampleUid: string | null;
}

/** One screen: the page, the data source, the wallets, and a command for each interface. */
export function renderBanner({ name, version, url, pageUrl, source, reason, record, demo, demoPath, ...examples }: BannerContent): string {
  return [
    '',
    ...(pageUrl === null ? [] : [`Open ${pageUrl}`, '']),
    `${name} ${version} is up: ${url}`,
    '',
    `Market data: ${source}`,
    ...(reason === null ? [] : [`             ${reason}`]),
    formatRecord(record),
    ...(demo === null ? [] : formatWallets(demo, demoPath)),
    '',
    'Try it:',
    ...formatExamples({ url, ...examples }).map((line) => `  ${line}`),
    '',
    'Ctrl-C stops it; the next start continues.',
    '',
  ].join('\n');
}

type Examples = Pick<BannerContent, 'url' | 'demoCommands' | 'exampleUid'>;

function formatExamples({ url, demoCommands: commands, exampleUid }: Examples): string[] {
  const asHolder = `curl -H "Authorization: Bearer $TOKEN"`;
  return [
    ...(commands === null ? [] : exampleUid === null ? [commands.look] : [commands.look, commands.check]),
    `curl ${url}/api/svc/open/signal`,
    ...(commands === null ? [] : [`TOKEN=$(${commands.token}) && ${asHolder} ${url}/api/svc/oracle`]),
    ...(exampleUid === null ? [] : [`curl ${url}/api/svc/onchain-oracle/verify/${exampleUid}`]),
    `curl -i ${url}/oracle`,
    ...(commands === null ? [] : [commands.watch, commands.agent]),
    `curl ${url}${ENDPOINTS.agentCard}`,
    `npx -y @modelcontextprotocol/inspector --cli ${url}${ENDPOINTS.mcp} --method tools/list`,
    `${url}/docs in a browser: every operation, to try out`,
  ];
}

function formatRecord(record: BannerContent['record']): string {
  if (record === null) return 'Record:      empty; it begins at 21:35 UTC';
  const { from, to, replayedDays } = record;
  const replayed = replayedDays === 0 ? '' : `; ${replayedDays} days replayed at their own dates, marked "replayed"`;
  return `Record:      ${formatDay(from)} to ${formatDay(to)}${replayed}`;
}

const WALLET_DESCRIPTIONS: Readonly<Record<string, string>> = {
  basic: 'gate tokens of the Basic tier',
  premium: 'gate tokens of the Premium tier',
  poor: 'nothing: refused everywhere',
  buyer: '1,000 USD of the stablecoin, to pay with',
};

function formatWallets({ rpcUrl, chainId, wallets }: DemoFile, demoPath: string): string[] {
  return [
    `Chain:       local, id ${chainId}, ${rpcUrl}`,
    '',
    `Throw-away wallets, of use on this local chain only (keys and contracts in ${demoPath}):`,
    ...Object.entries(wallets).map(([name, { address }]) => `  ${name.padEnd(8)} ${address}  ${WALLET_DESCRIPTIONS[name] ?? ''}`.trimEnd()),
  ];
}
