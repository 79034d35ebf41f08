import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROVIDER_IDS, VENUE_IDS } from '../../../../../src/market/live/provider.ts';
import { SERIES_IDS } from '../../../../../src/market/series.ts';
import { getProviderIds, providersMarkdown, STRIKE_SOURCES, VENUE_SOURCES } from '../../../../../src/market/sources/registry.ts';

/** The formatter pads the cells of tables. */
const plain = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');

describe('the registry of live sources', () => {
  it('is documented in DATA.md', () => {
    const text = readFileSync(resolve(import.meta.dirname, '../../../../../docs/DATA.md'), 'utf8');
    expect(plain(text), 'run npm run docs:tables').toContain(plain(providersMarkdown()));
  });

  it('has a source for each venue, in order', () => {
    expect(VENUE_SOURCES.map(({ provider }) => provider)).toEqual([...VENUE_IDS]);
  });

  it('has a provider for every series, each once, and no unused provider', () => {
    for (const series of SERIES_IDS) {
      const ids = getProviderIds(series);
      expect(ids.length, series).toBeGreaterThan(0);
      expect(new Set(ids).size, series).toBe(ids.length);
    }
    const asked = new Set([...SERIES_IDS.flatMap(getProviderIds), ...STRIKE_SOURCES.flatMap(({ providers }) => providers)]);
    expect([...asked].sort()).toEqual([...PROVIDER_IDS].sort());
  });
});
