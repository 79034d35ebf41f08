import { IMPORT_LAW } from './import-law.ts';

export function renderImportLaw(): string {
  const rows = Object.entries(IMPORT_LAW).map(([layer, allowed]) => `| \`${layer}\` | ${allowed.join(', ') || 'nothing'} |`);
  return ['| Code in | may import |', '| --- | --- |', ...rows].join('\n');
}
