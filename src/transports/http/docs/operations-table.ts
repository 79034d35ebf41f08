import { type AccessLevel, type Route, TAGS, type Tag } from '../server/route.ts';

const TIERS: Record<AccessLevel, string> = { public: 'Public', basic: 'Basic', premium: 'Premium', paid: 'Paid', admin: 'Operator' };

/** What marks an operation that counts against the limit of those that ask the chain. */
const ASKS_CHAIN = ' *';

/** The operations as a Markdown table, topic by topic in the order of the reference. */
export function renderOperationsTable(routes: readonly Route[]): string {
  const byTag = Map.groupBy(routes, ({ tag }) => tag);
  const rows = (Object.keys(TAGS) as Tag[]).flatMap((tag) => byTag.get(tag) ?? []).map(renderOperationRow);
  return ['| Method | Path | Tier | What it does |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function renderOperationRow({ method, path, access, cost, summary, deprecated }: Route): string {
  const tier = `${TIERS[access]}${cost === 'rpc' ? ASKS_CHAIN : ''}`;
  const what = `${summary}${deprecated === true ? ' (deprecated)' : ''}`.replaceAll('|', '\\|');
  return `| ${method.toUpperCase()} | \`${path}\` | ${tier} | ${what} |`;
}
