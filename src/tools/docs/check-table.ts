import { CATALOGUE, OUT_OF_REACH } from '../../verify/catalogue.ts';

/** The catalogue of checks as a Markdown table. */
export function renderCheckTable(): string {
  const rows = CATALOGUE.map(({ id, appliesTo, rule }) => `| \`${id}\` | ${appliesTo} | ${rule} |`);
  return ['| Check | About | What holds |', '| --- | --- | --- |', ...rows].join('\n');
}

/** What no check notices, as a Markdown list. */
export function renderOutOfReach(): string {
  return OUT_OF_REACH.map((text) => `- ${text}`).join('\n');
}
