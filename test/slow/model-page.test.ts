import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { modelPage, recordedMarkdown, recordedPart } from '../../src/local/model-document/document.ts';
import { recordedHistory, simulatedHistory } from '../../src/local/model-document/histories.ts';
import { ROOT, unpadded } from '../support/documents.ts';
import { describeWithShared, sharedPath } from '../support/shared.ts';

const page = readFileSync(resolve(ROOT, 'docs/MODEL.md'), 'utf8');

it('docs/MODEL.md is what the self-tests find on the simulated market', async () => {
  const made = await modelPage(await simulatedHistory(), recordedPart(page));
  expect(unpadded(page), 'run npm run docs:model').toBe(unpadded(made));
});

describeWithShared('the part of docs/MODEL.md on recorded history', () => {
  it('is what the self-tests find in the files', async () => {
    const made = await recordedMarkdown(await recordedHistory(sharedPath('data')));
    expect(unpadded(recordedPart(page)!), 'run npm run docs:model -- --data <folder>').toBe(unpadded(made));
  });
});
