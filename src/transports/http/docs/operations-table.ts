import { type AccessLevel, type Route, TAGS, type Tag } from '../server/route.ts';

const TIERS: Record<AccessLevel, string> = { public: 'Public', basic: 'Basic', premium: 'Premium', paid: 'Paid', admin: 'Operator' };

/** Marks operations under the limit of chain calls. */
const RPC_MARK = ' *';

/** Markdown table of all operations, in the order of the tags. */
export function renderOperationsTable(routes: readonly Route[]): string {
  const byTag = Map.groupBy(routes, ({ tag }) => tag);
  const rows = (Object.keys(TAGS) as Tag[]).flatMap((tag) => byTag.get(tag) ?? []).map(renderOperationRow);
  return ['| Method | Path | Tier | What it does |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function renderOperationRow({ method, path, access, cost, summary, deprecated }: Route): string {
  const tier = `${TIERS[access]}${cost === 'rpc' ? RPC_MARK : ''}`;
  const what = `${summary}${deprecated === true ? ' (deprecated)' : ''}`.replaceAll('|', '\\|');
  return `| ${method.toUpperCase()} | \`${path}\` | ${tier} | ${what} |`;
}
