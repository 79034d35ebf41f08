import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../../../package.json' with { type: 'json' };
import { replaceVersion, VERSION_FILES } from '../../../../src/tools/release/version-files.ts';
import { ROOT } from '../../../support/docs/documents.ts';

const { version } = packageJson;

describe.each(VERSION_FILES)('$path', (file) => {
  const text = readFileSync(resolve(ROOT, file.path), 'utf8');

  it('states the version of package.json', () => {
    expect(new Set(file.read(text))).toEqual(new Set([version]));
  });

  it('changes in the lines of the version alone', () => {
    const changed = replaceVersion(file, text, { from: version, to: '7.8.9' }).split('\n');
    const differing = text.split('\n').flatMap((line, index) => (line === changed[index] ? [] : [[line, changed[index]]]));
    expect(changed).toHaveLength(text.split('\n').length);
    expect(differing).toHaveLength(file.read(text).length);
    for (const [line, other] of differing) expect(other).toBe(line.replace(version, '7.8.9'));
  });

  it('is rejected when it states another version', () => {
    const moved = file.write(text, '7.8.9');
    expect(() => replaceVersion(file, moved, { from: version, to: '8.0.0' })).toThrow(
      `${file.path}: states the version 7.8.9, package.json ${version}`,
    );
  });
});

it('names a file that states no version', () => {
  const [, , kustomization] = VERSION_FILES;
  expect(() => replaceVersion(kustomization, 'images: []\n', { from: '1.0.0', to: '1.0.1' })).toThrow('states the version nowhere');
});
