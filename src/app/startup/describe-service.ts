import { join } from 'node:path';
import { IDENTITY } from '../../../agent-card/identity.ts';
import { toDay } from '../../forecast/day.ts';
import type { Market } from '../../market/market.ts';
import { formatEndOfData } from '../../pipeline/status.ts';
import type { Config } from '../../platform/config/settings.ts';
import { joinUrl } from '../../platform/service-url.ts';
import { writeNotice } from '../../platform/startup/startup-notice.ts';
import { formatStageLine } from '../../platform/startup/startup-progress.ts';
import type { Service } from '../service.ts';
import { renderBanner } from './banner.ts';
import { buildDemoCommands } from './demo-commands.ts';

/** Prints the URL of the page, which fills while history is replayed, and the source of its data. */
export function printServedInterfaces({ config, http, feedReason, progress }: Service, url: string): void {
  if (config.ROLE !== 'worker') {
    const fillNote = progress.replayAhead ? ' (fills while history is replayed)' : '';
    writeNotice(formatStageLine('Page', `${getPageUrl(config, url)}${fillNote}`));
  }
  writeNotice(`Market data: ${http.market.source}${feedReason === null ? '' : ` (${feedReason})`}`);
}

const getPageUrl = ({ PUBLIC_URL }: Config, url: string) => joinUrl(PUBLIC_URL ?? url, '/');

export async function buildBanner({ config, http, infrastructure, feedReason }: Service, url: string): Promise<string> {
  const { record } = http;
  const [from, to, replayedDays] = await Promise.all([
    record.findGenesisDay(),
    record.findLastDay(),
    record.days.countDocuments({ replayed: true }),
  ]);
  return renderBanner({
    name: IDENTITY.name,
    version: http.version,
    url,
    pageUrl: config.ROLE === 'worker' ? null : getPageUrl(config, url),
    source: http.market.source,
    reason: feedReason ?? (await describeEndedFeed(http.market)),
    record: from === null || to === null ? null : { from, to, replayedDays },
    demo: infrastructure.demo,
    demoPath: join(config.DATA_DIR, 'demo.json'),
    demoCommands: infrastructure.demo === null ? null : buildDemoCommands(config, url),
    exampleUid: await record.findExampleUid(),
  });
}

async function describeEndedFeed(market: Market): Promise<string | null> {
  const { lastDay } = await market.coverage();
  return lastDay !== null && lastDay < toDay(Date.now()) ? formatEndOfData(lastDay) : null;
}
