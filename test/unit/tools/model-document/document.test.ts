import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { extractRecordedSection, renderModelCard } from '../../../../src/tools/model-document.ts';
import { ROOT, unpadded } from '../../../support/docs/documents.ts';

// The slow suites make the whole page again.
const page = unpadded(readFileSync(resolve(ROOT, 'docs/MODEL.md'), 'utf8'));

it('contains the card of the code', () => {
  expect(page.startsWith(unpadded(renderModelCard())), 'run npm run docs:model').toBe(true);
});

it('extracts the section from recorded history, null without one', () => {
  expect(extractRecordedSection(page)).toMatch(/^Daily history .*Walk-forward: 19 of 19 folds.*Stability: /s);
  expect(extractRecordedSection('# Model card\n')).toBeNull();
});

it('omits the calibration of real fits, which would reveal open forecasts', () => {
  expect(extractRecordedSection(page)).toMatch(
    /fit in force on the last day:\n\n\| Horizon \| Trained \| Days \| Base rate( \| [a-z]{3,}){5} \|\n/,
  );
});
