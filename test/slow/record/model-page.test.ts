import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import {
  extractRecordedSection,
  loadRecordedHistory,
  loadSimulatedHistory,
  renderModelPage,
  renderRecordedSection,
} from '../../../src/tools/model-document.ts';
import { ROOT, unpadded } from '../../support/docs/documents.ts';
import { describeWithShared, sharedPath } from '../../support/record/shared.ts';

const page = readFileSync(resolve(ROOT, 'docs/MODEL.md'), 'utf8');

it('docs/MODEL.md is what the self-tests find on the simulated market', async () => {
  const made = await renderModelPage(await loadSimulatedHistory(), extractRecordedSection(page));
  expect(unpadded(page), 'run npm run docs:model').toBe(unpadded(made));
});

describeWithShared('the part of docs/MODEL.md on recorded history', () => {
  it('is what the self-tests find in the files', async () => {
    const made = await renderRecordedSection(await loadRecordedHistory(sharedPath('data')));
    expect(unpadded(extractRecordedSection(page)!), 'run npm run docs:model -- --data <folder>').toBe(unpadded(made));
  });
});
