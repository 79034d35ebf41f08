import { type Access, type Route, TAGS, type Tag } from './route.ts';

const TIERS: Record<Access, string> = { public: 'Public', basic: 'Basic', premium: 'Premium', paid: 'Paid', admin: 'Operator' };

/** What marks an operation that counts against the limit of those that ask the chain. */
const ASKS_CHAIN = ' *';

/** The operations as a Markdown table, topic by topic in the order of the reference. */
export function operationsMarkdown(routes: readonly Route[]): string {
  const byTag = Map.groupBy(routes, ({ tag }) => tag);
  const rows = (Object.keys(TAGS) as Tag[]).flatMap((tag) => byTag.get(tag) ?? []).map(rowOf);
  return ['| Method | Path | Tier | What it does |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function rowOf({ method, path, access, cost, summary, deprecated }: Route): string {
  const tier = `${TIERS[access]}${cost === 'rpc' ? ASKS_CHAIN : ''}`;
  const what = `${summary}${deprecated === true ? ' (deprecated)' : ''}`.replaceAll('|', '\\|');
  return `| ${method.toUpperCase()} | \`${path}\` | ${tier} | ${what} |`;
}
