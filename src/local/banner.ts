import { formatDay } from '../forecast/day.ts';
import type { DemoFile } from './demo-file.ts';
import type { ReplayRange } from './replay.ts';

export interface BannerSource {
  name: string;
  version: string;
  url: string;
  /** Where the market data comes from, and why if that was not a choice. */
  source: string;
  reason: string | null;
  replayed: ReplayRange | null;
  demo: DemoFile | null;
  demoPath: string;
  /** An attestation to try the verification with, once there is one. */
  latestUid: string | null;
}

/** What a person sees when the service is up: origin of the data, addresses, wallets, a line to paste for each door. */
export function bannerText({ name, version, url, source, reason, replayed, demo, demoPath, latestUid }: BannerSource): string {
  return [
    '',
    `${name} ${version} is up: ${url}`,
    '',
    `Market data: ${source}`,
    ...(reason === null ? [] : [`             ${reason}`]),
    ...(replayed === null
      ? []
      : [`Record:      ${formatDay(replayed.from)} to ${formatDay(replayed.to)} replayed at their own dates, marked "replayed"`]),
    ...(demo === null ? [] : walletLines(demo, demoPath)),
    '',
    'Try it:',
    `  curl ${url}/api/svc/open/signal`,
    `  curl "${url}/api/svc/scorecard?horizon=7"`,
    `  curl "${url}/api/svc/onchain-oracle/history?limit=5"`,
    ...(latestUid === null ? [] : [`  curl ${url}/api/svc/onchain-oracle/verify/${latestUid}`]),
    `  curl ${url}/api/svc/agent/reputation`,
    `  curl ${url}/api/status`,
    '',
    'Ctrl-C stops it; the next start continues.',
    '',
  ].join('\n');
}

function walletLines({ rpcUrl, chainId, wallets }: DemoFile, demoPath: string): string[] {
  return [
    `Chain:       local, id ${chainId}, ${rpcUrl}`,
    '',
    `Throw-away wallets, of use on this local chain only (keys and contracts in ${demoPath}):`,
    ...Object.entries(wallets).map(([name, { address }]) => `  ${name.padEnd(8)} ${address}`),
  ];
}
