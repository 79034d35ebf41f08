import { formatCatalogLink } from '../../../../agent-card/documents/api-catalog.ts';
import { EncodedText } from '../server/replies/encoded-text.ts';
import { buildStrongEtag } from '../server/replies/etag.ts';
import { createRevisionReply } from '../server/replies/revision-reply.ts';
import type { Reply } from '../server/route.ts';
import { renderDashboardPage } from './dashboard-page.ts';
import { type HomeDeps, readHomeData } from './home-data.ts';
import { PAGE_HEADERS } from './shell.ts';

const MINUTE_MS = 60_000;

/**
 * The dashboard with the public call, the same for every caller: rendered when the record or the minute has changed, a price being the
 * same within a minute. Without the database the last one stays.
 */
export function createHomeReply(deps: HomeDeps, publicUrl: string): () => Promise<Reply<never>> {
  return createRevisionReply({
    readKey: async () => `${await deps.record.revision.read()} ${Math.floor(deps.now().getTime() / MINUTE_MS)}`,
    render: () => renderHome(deps, publicUrl),
  });
}

async function renderHome(deps: HomeDeps, publicUrl: string): Promise<Reply<never>> {
  const { market, demo, now } = deps;
  const initial = await readHomeData(deps);
  const text = renderDashboardPage(publicUrl, { initial, nowMs: now().getTime(), market: market.kind, hasDemo: demo !== null });
  const headers = { ...PAGE_HEADERS, Link: formatCatalogLink({ publicUrl }), ETag: buildStrongEtag(text) };
  return { headers, encoded: new EncodedText(text) };
}
